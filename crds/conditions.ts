/**
 * Every condition type and every reason, each once, with the sentence that users read in the reference.
 * A writer may use nothing that is not listed here.
 */

export const conditionTypes = {
  Scheduled: 'A node has the sandbox.',
  LimitUnenforceable:
    'A requested limit cannot be enforced; the message names each limit, each node asked, and the fix.',
  LimitsEnforced: 'The limits in force were read back from the kernel before any user code ran.',
  StorageReserveLow: 'A node declined the handover because less than its storage reserve is free.',
  SetupComplete: 'The setup command ended with exit code 0.',
  Ready: 'Running (a retained sandbox), or running or succeeded (one that runs to completion).',
  OOMKilled: 'The memory limit killed a process of the sandbox.',
  Complete: 'A sandbox that runs to completion has ended.',
  Suspended: 'Stopped by spec.suspend; the filesystem is kept.',
  ContainerGone: 'The agent has removed the container; the finalizer waits for this.',
  MemoryOverlap:
    'The kubelet of the same node could promise memory to pods that sandboxes could be promised as well (on a SandboxNode, where there is a kubelet).',
  Reconciling: 'Work towards the spec is under way.',
  Stalled:
    'Nothing will be tried again until a person changes the spec or the cause goes away; the reason is the cause.',
} as const;
export type ConditionType = keyof typeof conditionTypes;

/** reason -> the sentence users read. One reason may serve several condition types. */
export const reasons = {
  // placement
  Bound: 'The controller chose this node.',
  Pending: 'No node has been chosen yet.',
  Unschedulable: 'No node can take the sandbox now; the message says why each one was passed over.',
  NoNodes: 'No node agent has registered.',
  Draining: 'The node is being drained: the sandbox is ended there and placed anew.',
  Declined: 'The node handed the sandbox back before anything was made for it.',
  NodeLost: 'The lease of the node has expired: what the sandbox does is unknown.',
  // limits
  CPUUnenforceable: 'A CPU limit was asked for and cannot be enforced.',
  MemoryUnenforceable: 'A memory limit was asked for and cannot be enforced.',
  PIDsUnenforceable: 'A limit on processes was asked for and cannot be enforced.',
  LimitsUnenforceable: 'Several of the requested limits cannot be enforced.',
  Enforceable: 'Every requested limit can be enforced on the node.',
  RuntimeUnreadable:
    'The runtime gave no readable answer about what it can enforce; the next launch asks again.',
  ReadBack: 'Each limit in force was read back from the kernel and equals what was requested.',
  NoLimits: 'The sandbox sets no limit; what is in force was read back all the same.',
  ReadBackMismatch: 'The kernel has another value than the one requested; user code was not run.',
  ReadBackFailed: 'The limits in force could not be read; user code was not run.',
  Drifted: 'A limit was changed from outside while the sandbox ran.',
  NoRoom: 'The node has no room for the limits that the spec asks for now; what runs keeps its old limits.',
  NotLaunched: 'Nothing has been launched yet.',
  // storage
  ReserveLow: 'Less than the storage reserve is available to unprivileged users.',
  Unmeasured: 'The free space of the writable layers could not be measured or attested.',
  // life cycle
  PullingImage: 'The image is being pulled.',
  ImagePullFailed: 'The image could not be pulled.',
  ImageNotPresent: 'The image is not on the node and imagePullPolicy is Never.',
  Creating: 'The container is being made.',
  Launching: 'The container waits at the gate; user code has not begun.',
  SettingUp: 'The setup command runs.',
  SetupSucceeded: 'The setup command ended with exit code 0.',
  SetupFailed: 'The setup command failed.',
  SetupTimedOut: 'The setup command ran into its time limit.',
  NoSetup: 'The spec has no setup command.',
  Running: 'The sandbox runs.',
  Succeeded: 'The command ended with exit code 0.',
  Failed: 'The command ended with another exit code than 0, or by a signal.',
  NotFinished: 'The command has not ended.',
  DeadlineExceeded: 'The sandbox was stopped at activeDeadlineSeconds.',
  SuspendedByUser: 'Stopped because spec.suspend is true.',
  Suspending: 'Being stopped because spec.suspend is true.',
  Resumed: 'spec.suspend is false.',
  Recreating: 'The spec changed: the container is being replaced.',
  Deleting: 'The sandbox is being deleted.',
  ContainerRemoved: 'The container is gone.',
  ContainerPresent: 'The container has not been removed.',
  Paused: 'The container was paused from outside.',
  // deaths
  Confirmed: 'The kernel or the runtime confirms that the memory limit killed a process.',
  Unconfirmed: 'Everything points to the memory limit, but nothing confirmed it.',
  OOMKilled: 'The memory limit of the sandbox killed it; the same limit would do so again.',
  SetupOOMKilled: 'The memory limit of the sandbox killed the setup command.',
  AncestorOOMKilled: 'A process was killed for memory, but not by the limit of the sandbox.',
  KilledFromOutside: 'Killed by a signal or an API call that was not ours.',
  RuntimeRestarted: 'The runtime or the machine restarted under the sandbox.',
  ContainerLost: 'The container was removed from outside.',
  StartFailed: 'The container or its command could not be started.',
  CommandNotFound: 'The command does not exist in the image.',
  CommandNotExecutable: 'The command exists but cannot be executed.',
  UnknownCause: 'The evidence does not show why the sandbox ended.',
  // refusals of what this version does not do, and faults of a node
  NetworkUnsupported: 'A network allow list is not supported by this version.',
  NotSupported: 'The field named in the message is not supported by this version.',
  InvalidSpec: 'The spec contradicts itself; the message names the field.',
  RuntimeUnavailable: 'The runtime does not answer.',
  RuntimeError: 'The runtime refused a request; the message is its own.',
  NodeNameTaken: 'Another agent holds this node name.',
  SharedWithKubelet:
    'Pods may be put on the node, and spec.reserved.memory does not cover what its kubelet gives them.',
  HeldBack: 'What the kubelet of the node gives pods is reserved from sandboxes.',
  DedicatedNode: 'Pods are kept off the node by a taint, or it is cordoned.',
  AsRequested: 'Nothing is wrong.',
} as const;
export type Reason = keyof typeof reasons;

/** Reasons of Events; the messages say the rest. */
export const eventReasons = {
  Scheduled: 'The controller placed the sandbox.',
  FailedScheduling: 'No node could take the sandbox.',
  Pulling: 'An image pull began.',
  Pulled: 'An image pull ended.',
  Failed: 'A step failed.',
  Created: 'The container was made.',
  LimitsEnforced: 'The limits were read back from the kernel.',
  LimitsDrifted: 'A limit was changed from outside.',
  LimitsChanged: 'The limits of a live sandbox were changed in place.',
  Started: 'User code began.',
  SetupCompleted: 'The setup command ended with exit code 0.',
  SetupFailed: 'The setup command failed.',
  OOMKilled: 'A process was killed by the memory limit.',
  Killing: 'The agent stops the sandbox; the message says why.',
  Ended: 'The sandbox ended; the message has the cause.',
  Suspended: 'The sandbox was suspended.',
  Resumed: 'The sandbox was resumed.',
  Removed: 'The container was removed.',
  NodeLost: 'The lease of the node expired.',
  Replaced: 'The node is lost and the sandbox has ended itself there: it is placed anew.',
} as const;
export type EventReason = keyof typeof eventReasons;
