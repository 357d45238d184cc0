import { z } from 'zod';
import { conditionSchema, type ObjectMeta } from './meta.ts';
import { reservedRules } from './rules.ts';

const time = z.iso.datetime({ offset: true });

/** What one runtime can enforce of one limit, and how that is known (L6). */
const limitCapabilitySchema = z
  .object({
    enforced: z
      .enum(['Yes', 'No', 'Unknown'])
      .describe('Whether the runtime can enforce it. Unknown: it gave no readable answer.'),
    reason: z.string().max(1024).describe('How that is known.'),
    fix: z.string().max(1024).optional().describe('What to do to have it.'),
  })
  .describe('What the runtime can enforce.');
export type LimitCapability = z.infer<typeof limitCapabilitySchema>;

const nodeRuntimeSchema = z
  .object({
    name: z.enum(['docker', 'podman']).describe('Which runtime.'),
    ready: z.boolean().describe('Whether it answers and the probe runs.'),
    message: z.string().max(1024).optional().describe('Why not.'),
    version: z.string().max(128).optional().describe('The version of the engine.'),
    apiVersion: z.string().max(32).optional().describe('The API version in use.'),
    daemonID: z.string().max(256).optional().describe('The identity of the daemon.'),
    cgroupVersion: z.enum(['1', '2']).optional().describe('The cgroup version of its host.'),
    cgroupDriver: z.string().max(32).optional().describe('cgroupfs, systemd or none.'),
    rootless: z.boolean().optional().describe('Whether it runs without root.'),
    storageDriver: z.string().max(64).optional().describe('The driver of the writable layers.'),
    architecture: z.string().max(32).optional().describe('The architecture of its host.'),
    kernelVersion: z.string().max(128).optional().describe('The kernel of its host.'),
    cpus: z.number().optional().describe('CPUs of its host.'),
    memoryBytes: z.int().optional().describe('Memory of its host, in bytes.'),
    limits: z
      .object({
        cpu: limitCapabilitySchema,
        memory: limitCapabilitySchema,
        swap: limitCapabilitySchema,
        pids: limitCapabilitySchema,
      })
      .describe('What it can enforce.'),
    askedAt: time.optional().describe('When it was asked.'),
  })
  .describe('A container runtime of the node.');
export type NodeRuntime = z.infer<typeof nodeRuntimeSchema>;

export const sandboxNodeSpecSchema = z
  .object({
    unschedulable: z
      .boolean()
      .optional()
      .describe('true: no new sandboxes are placed here; what is here stays.'),
    drain: z
      .boolean()
      .optional()
      .describe(
        'true: what may run elsewhere is ended and given back, to be placed anew: sandboxes that have not begun, and those with onNodeLoss: Replace. Nothing new is placed here. What else runs stays until it ends or is deleted.',
      ),
    maxSandboxes: z
      .int()
      .min(0)
      .max(100000)
      .default(100)
      .describe('The most sandboxes that may be placed here.'),
    reserved: z
      .object({
        cpu: z.union([z.int(), z.string()]).optional().describe('CPUs held back, as in resources.cpu.'),
        memory: z
          .union([z.int(), z.string()])
          .optional()
          .describe('Memory held back, as in resources.memory.'),
      })
      .optional()
      .describe('Held back from the total of the runtime for everything else on the machine.')
      .meta({ 'x-kubernetes-validations': reservedRules }),
    storageReserveMiB: z
      .int()
      .min(0)
      .max(1073741824)
      .optional()
      .describe('The storage reserve of this node in MiB, over the global one.'),
    attestation: z
      .enum(['Enabled', 'Disabled'])
      .default('Enabled')
      .describe('Whether free space is measured and attested.'),
  })
  .describe('What the operator wants of the node.');
export type SandboxNodeSpec = z.infer<typeof sandboxNodeSpecSchema>;

export const sandboxNodeStatusSchema = z
  .object({
    agent: z
      .object({
        version: z.string().max(64).describe('The version of the agent.'),
        instance: z.string().max(64).describe('Which agent process holds the node name.'),
        startedAt: time.describe('When it started.'),
      })
      .optional()
      .describe('The agent.'),
    runtimes: z
      .array(nodeRuntimeSchema)
      .max(8)
      .optional()
      .describe('The runtimes of the node.')
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
    conditions: z
      .array(conditionSchema)
      .max(16)
      .optional()
      .describe('What is known about the node.')
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }),
  })
  .describe('What the node is.');
export type SandboxNodeStatus = z.infer<typeof sandboxNodeStatusSchema>;

export interface SandboxNode {
  apiVersion: 'holdfast.dev/v1alpha1';
  kind: 'SandboxNode';
  metadata: ObjectMeta;
  spec?: SandboxNodeSpec;
  status?: SandboxNodeStatus;
}
