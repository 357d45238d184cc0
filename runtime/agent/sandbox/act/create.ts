import type { ContainerSpec, RuntimeInfo } from '../../../driver.ts';
import { DriverError } from '../../../driver.ts';
import type { LedgerRecord } from '../../ledger/record.ts';
import {
  BIN_PATH,
  cgroupParent,
  containerName,
  HOSTNAME,
  HOSTS_FILE,
  INIT_PATH,
  LABELS,
  ownLabels,
  RUN_PATH,
  workspaceVolume,
} from '../../names.ts';
import { kernelLimits, requestedLimits } from '../requested-limits.ts';
import type { SpecFacts } from '../types.ts';
import { unknownCapabilities } from '../../../capabilities/limit-capabilities.ts';
import { type ActContext, cgroupVersion, NotNow, probeOf, say } from './context.ts';
import { listen } from './listen.ts';
import { ensureImage } from './ensure-image.ts';
import { closeFiller, openWorkspace } from './open-workspace.ts';

/** What setup's package installs need; everything else is dropped. */
const CAPABILITIES = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'SETUID', 'SETGID', 'KILL'];

/** Makes the container, and everything that has to be there before it. Nothing of it runs. */
export async function create(context: ActContext): Promise<void> {
  const { services, run, runtime, seen } = context;
  const { sandbox, spec } = seen;
  if (sandbox === undefined || spec === undefined) throw new NotNow('the sandbox is gone');
  const probe = probeOf(context);
  const info = seen.runtime.state === 'Ok' ? seen.runtime.info : blindInfo(context);
  const { runFolder, initFolder } = runtime.probe;
  if (runFolder === undefined || initFolder === undefined)
    throw new NotNow('the folder of the sockets is not known yet');
  const call = { signal: services.signal };
  const labels = {
    ...ownLabels(services.nodeName),
    [LABELS.uid]: run.uid,
    [LABELS.namespace]: run.namespace,
    [LABELS.name]: run.name,
  };
  const [image] = await Promise.all([
    ensureImage(context),
    listen(context),
    services.step('create-workspace', () =>
      runtime.driver.createVolume(workspaceVolume(run.uid), { ...call, labels }),
    ),
  ]);
  if (image === undefined) return;
  run.image = image;
  const user = sandbox.spec.user ?? image.user;
  const open = !isRoot(user);
  if (open) await openWorkspace(context);
  const record = newRecord(context, spec, info, probe.hello.bootID);
  run.record = record;
  const container: ContainerSpec = {
    name: containerName(run.uid),
    image: image.id,
    labels: {
      ...labels,
      [LABELS.role]: 'sandbox',
      [LABELS.specHash]: spec.specHash,
      [LABELS.limitsHash]: spec.limitsHash,
    },
    entrypoint: [INIT_PATH, 'init'],
    command: [],
    env: [],
    workingDir: '/',
    user,
    hostname: HOSTNAME,
    limits: kernelLimits(record.limits),
    ...(record.cgroupParent === undefined ? {} : { cgroupParent: record.cgroupParent }),
    mounts: [
      { type: 'volume', source: runtime.probe.volume, target: BIN_PATH, readOnly: true },
      { type: 'bind', source: `${runFolder}/${run.uid}`, target: RUN_PATH, readOnly: true },
      { type: 'bind', source: `${initFolder}/${HOSTS_FILE}`, target: '/etc/hosts', readOnly: true },
      {
        type: 'volume',
        source: workspaceVolume(run.uid),
        target: sandbox.spec.workspace?.path ?? '/workspace',
        readOnly: false,
      },
    ],
    readOnlyRootFilesystem: sandbox.spec.readOnlyRootFilesystem ?? false,
    capabilities: CAPABILITIES,
    networkDisabled: true,
  };
  run.stale = true;
  const [written, made] = await Promise.allSettled([
    services.step('ledger-create', () => services.ledger.put(record)),
    services.step('create-container', () => runtime.driver.createContainer(container, call)),
    // Whatever becomes of it: it is looked for again when the volume is removed.
    open ? closeFiller(context) : undefined,
  ]);
  if (written.status === 'rejected') throw written.reason;
  if (made.status === 'rejected') {
    const error: unknown = made.reason;
    // One of ours is there already: the next look sees it. Anybody else's is in the way, and said so.
    if (error instanceof DriverError && error.code === 'Conflict' && (await isOurs(context))) return;
    if (error instanceof DriverError && error.code === 'Unenforceable') {
      run.unenforceable = error.message;
      return;
    }
    throw error;
  }
  record.containerID = made.value.id;
  say(context, 'Normal', 'Created', `Created container ${container.name}.`);
}

function isRoot(user: string): boolean {
  return user === '' || /^(root|0)(:|$)/.test(user);
}

/** For a sandbox without limits, where the runtime's answer about limits cannot be read (L7). */
function blindInfo(context: ActContext): RuntimeInfo {
  return {
    name: context.runtime.driver.name,
    limits: unknownCapabilities('The runtime gave no readable answer.'),
    cgroupVersion: cgroupVersion(context) === 2 ? '2' : '1',
  };
}

async function isOurs({ services, run, runtime }: ActContext): Promise<boolean> {
  const found = await runtime.driver.inspectContainer(containerName(run.uid), { signal: services.signal });
  return found === undefined || found.labels[LABELS.uid] === run.uid;
}

function newRecord(context: ActContext, spec: SpecFacts, info: RuntimeInfo, bootID: string): LedgerRecord {
  const { run, seen } = context;
  const parent = cgroupParent(run.uid, info);
  return {
    version: 1,
    uid: run.uid,
    namespace: run.namespace,
    name: run.name,
    runtime: info.name,
    specHash: spec.specHash,
    limitsHash: spec.limitsHash,
    generation: seen.sandbox?.metadata.generation ?? 0,
    retained: spec.retained,
    hasSetup: spec.hasSetup,
    bootID,
    limits: requestedLimits(spec.limits, info.limits),
    ...(parent === undefined ? {} : { cgroupParent: parent }),
    starts: 1,
  };
}
