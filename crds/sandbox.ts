import { z } from 'zod';
import { conditionSchema, type ObjectMeta } from './meta.ts';
import { limitsStatusSchema, terminationSchema } from './limits-status.ts';
import { ACCEPTED } from './quantity.ts';
import { limitRules, setupNeedsInitRule, valueOrSourceRule, workspacePathRule } from './rules.ts';

const time = z.iso.datetime({ offset: true });
/** No program can be given a NUL: it ends a string in C. */
// oxlint-disable-next-line no-control-regex
const noNUL = /^[^\x00]*$/;
// oxlint-disable-next-line no-control-regex
const userAndGroup = /^[^\s\x00:]+(:[^\s\x00:]+)?$/;
// oxlint-disable-next-line no-control-regex
const absolutePath = /^\/[^\x00]+$/;
const envName = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[-._a-zA-Z][-._a-zA-Z0-9]*$/);

const secretKeyRefSchema = z
  .object({
    name: z.string().min(1).max(253).describe('The name of the Secret, in the namespace of the sandbox.'),
    key: z.string().min(1).max(253).describe('The key in it.'),
    optional: z.boolean().optional().describe('Whether the sandbox may run without it.'),
  })
  .describe('A key of a Secret.');

const envVarSchema = z
  .object({
    name: envName.describe('The name of the variable.'),
    value: z.string().max(131072).regex(noNUL).optional().describe('Its value; empty by default.'),
    valueFrom: z
      .object({ secretKeyRef: secretKeyRefSchema })
      .optional()
      .describe('Where its value comes from; instead of value. Not supported by this version.'),
  })
  .describe('An environment variable.')
  .meta({ 'x-kubernetes-validations': [valueOrSourceRule] });
export type EnvVar = z.infer<typeof envVarSchema>;

const byName = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
const argv = z.array(z.string().max(131072).regex(noNUL)).max(1024);
const allowList = z.array(z.string().min(1).max(261)).max(256);

/**
 * A map, not a typed object: a typed object would lose an unknown key in silence for clients that do not ask
 * for strict validation, and a typing error must never mean "unlimited" (L3). The rules on its keys and values
 * are CEL (see crds/rules.ts).
 */
const resourcesSchema = z
  .record(z.string(), z.union([z.int(), z.string()]))
  .describe(
    'The limits, each optional; they bind everything that runs in the sandbox. ' +
      `cpu: ${ACCEPTED.cpu}; a fraction must be quoted. memory: ${ACCEPTED.memory}. pids: ${ACCEPTED.pids}. ` +
      'An unknown key is refused.',
  )
  .meta({ maxProperties: 3, 'x-kubernetes-validations': limitRules });

const setupSchema = z
  .object({
    command: argv.min(1).describe('The command and its arguments; no shell is implied.'),
    env: z
      .array(envVarSchema)
      .max(512)
      .optional()
      .describe('Variables for setup alone, over those of the sandbox.')
      .meta(byName),
    workingDir: z
      .string()
      .min(1)
      .max(4096)
      .regex(noNUL)
      .optional()
      .describe('Where it runs; the working directory of the sandbox by default.'),
    timeoutSeconds: z
      .int()
      .min(1)
      .max(86400)
      .optional()
      .describe('After how long it is ended. Default: no limit.'),
  })
  .describe(
    'A command that runs once, before the main command, in the same container and under the same limits.',
  );

export const sandboxSpecSchema = z
  .object({
    runtime: z.enum(['docker', 'podman']).optional().describe('The container runtime; any by default.'),
    image: z
      .string()
      .min(1)
      .max(1024)
      .regex(/^[!-~]+$/)
      .describe('The image, as the runtime names it.'),
    imagePullPolicy: z
      .enum(['Always', 'IfNotPresent', 'Never'])
      .optional()
      .describe('When to pull. Default: Always for the tag latest or no tag, else IfNotPresent.'),
    imagePullSecrets: z
      .array(z.object({ name: z.string().min(1).max(253).describe('The name of the Secret.') }))
      .max(16)
      .optional()
      .describe(
        'Secrets of type kubernetes.io/dockerconfigjson for the registry. Not supported by this version.',
      )
      .meta(byName),
    command: argv
      .optional()
      .describe(
        'Instead of the entry point of the image. With neither command nor args the sandbox is retained: held open for processes.',
      ),
    args: argv.optional().describe('Instead of the arguments of the image.'),
    env: z
      .array(envVarSchema)
      .max(512)
      .optional()
      .describe('Environment variables, over those of the image.')
      .meta(byName),
    workingDir: z
      .string()
      .min(1)
      .max(4096)
      .regex(noNUL)
      .optional()
      .describe('The working directory; that of the image by default.'),
    user: z
      .string()
      .min(1)
      .max(256)
      .regex(userAndGroup)
      .optional()
      .describe('user, uid, user:group or uid:gid; that of the image by default.'),
    readOnlyRootFilesystem: z
      .boolean()
      .optional()
      .describe('Makes the root filesystem read-only; the workspace stays writable.'),
    resources: resourcesSchema.optional(),
    network: z
      .object({
        mode: z
          .enum(['proxy', 'none', 'bridge'])
          .optional()
          .describe('How hosts are reached. Only none is supported by this version.'),
        setup: z
          .object({ allow: allowList.optional().describe('Hosts.') })
          .optional()
          .describe('What setup may reach.'),
        runtime: z
          .object({ allow: allowList.optional().describe('Hosts.') })
          .optional()
          .describe('What everything else may reach.'),
      })
      .optional()
      .describe(
        'The hosts the sandbox may reach; none by default. A list that is not empty is not supported by this version: the sandbox stops with NetworkUnsupported.',
      ),
    workspace: z
      .object({
        path: z
          .string()
          .min(2)
          .max(4096)
          .regex(absolutePath)
          .default('/workspace')
          .describe('Where it is mounted.'),
      })
      .optional()
      .describe('A volume that is kept when the container is replaced and deleted with the sandbox.')
      .meta({ 'x-kubernetes-validations': [workspacePathRule] }),
    setup: setupSchema.optional(),
    init: z
      .boolean()
      .optional()
      .describe(
        'false: the image insists on being PID 1; weaker evidence, and no setup. Default true; false is not supported by this version.',
      ),
    activeDeadlineSeconds: z
      .int()
      .min(1)
      .max(2147483647)
      .optional()
      .describe('Stops the sandbox this long after user code began.'),
    terminationGracePeriodSeconds: z
      .int()
      .min(0)
      .max(3600)
      .default(10)
      .describe('Time between SIGTERM and SIGKILL when the sandbox is stopped.'),
    suspend: z
      .boolean()
      .optional()
      .describe(
        'true: a retained sandbox is stopped and its filesystem kept; one that runs to completion is held back, or ended if it has begun.',
      ),
    ttlSecondsAfterFinished: z
      .int()
      .min(0)
      .max(2147483647)
      .optional()
      .describe('Deletes the sandbox this long after it finished.'),
    nodeSelector: z
      .record(z.string(), z.string().max(63))
      .optional()
      .describe('Labels that the SandboxNode must have.')
      .meta({ maxProperties: 64 }),
    onNodeLoss: z
      .enum(['Keep', 'Replace'])
      .default('Keep')
      .describe(
        'What happens when the node is lost. Keep: nothing, until the node is back or its SandboxNode is deleted. Replace: the sandbox ends itself where it is, and is placed anew with an empty filesystem.',
      ),
    onDrift: z
      .enum(['Report', 'Restore', 'Stop'])
      .default('Report')
      .describe(
        'What happens when a limit is changed from outside. Only Report is supported by this version.',
      ),
  })
  .describe('What the sandbox should be.')
  .meta({ 'x-kubernetes-validations': [setupNeedsInitRule] });
export type SandboxSpec = z.infer<typeof sandboxSpecSchema>;

export const sandboxStatusSchema = z
  .object({
    observedGeneration: z
      .int()
      .min(0)
      .optional()
      .describe('The generation of the spec that the status is about.'),
    phase: z
      .enum([
        'Pending',
        'Launching',
        'Running',
        'Suspended',
        'Succeeded',
        'Failed',
        'Stalled',
        'Terminating',
        'Unknown',
      ])
      .optional()
      .describe('A summary for people; nothing decides on it.'),
    nodeName: z.string().max(253).optional().describe('The SandboxNode that has the sandbox.'),
    runtime: z.enum(['docker', 'podman']).optional().describe('The runtime that was chosen on it.'),
    containerName: z.string().max(253).optional().describe('The name of the container.'),
    containerID: z.string().max(128).optional().describe('Its ID.'),
    imageID: z.string().max(256).optional().describe('The ID of the image it was made from.'),
    specHash: z
      .string()
      .max(128)
      .optional()
      .describe('The identity of what runs: a change of it makes a new container.'),
    limits: limitsStatusSchema.optional(),
    fenceSeconds: z
      .int()
      .min(1)
      .max(86400)
      .optional()
      .describe(
        'The sandbox ends itself when its node has not renewed its lease for so long (onNodeLoss: Replace).',
      ),
    startedAt: time.optional().describe('When user code of the main launch began.'),
    finishedAt: time.optional().describe('When the main launch ended.'),
    setup: terminationSchema.optional().describe('How setup ended.'),
    lastTermination: terminationSchema.optional().describe('How the last launch ended.'),
    conditions: z
      .array(conditionSchema)
      .max(32)
      .optional()
      .describe('What is known, a condition a subject.')
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }),
  })
  .describe('What the sandbox is.');
export type SandboxStatus = z.infer<typeof sandboxStatusSchema>;

export interface Sandbox {
  apiVersion: 'holdfast.dev/v1alpha1';
  kind: 'Sandbox';
  metadata: ObjectMeta;
  spec: SandboxSpec;
  status?: SandboxStatus;
}
