import { z } from 'zod';

const time = z.iso.datetime({ offset: true });

/** One line of a receipt: what was asked for, what the kernel has, and where that was read (L11). */
const receiptEntrySchema = z
  .object({
    limit: z.enum(['cpu', 'memory', 'swap', 'pids']).describe('Which limit.'),
    requested: z
      .string()
      .max(64)
      .optional()
      .describe(
        'What was asked for in kernel terms: bytes, "quota period" in microseconds, or a count. Absent: none.',
      ),
    applied: z
      .string()
      .max(64)
      .describe('What is in force, in the same terms; "max" where there is no limit.'),
    file: z.string().max(4096).describe("The kernel file it was read from, as the runtime's host sees it."),
    value: z.string().max(256).describe('The content of that file.'),
    time: time.describe('When it was read.'),
  })
  .describe('One limit, read back from the kernel.');
export type ReceiptEntry = z.infer<typeof receiptEntrySchema>;

export const limitsStatusSchema = z
  .object({
    memoryBytes: z.int().optional().describe('The memory limit in force, in bytes.'),
    swap: z
      .enum(['Held', 'Unbounded'])
      .optional()
      .describe(
        'Held: memory and swap together are held to the memory limit. Unbounded: the runtime cannot limit swap.',
      ),
    cpuQuotaMicros: z.int().optional().describe('CPU time per period, in microseconds.'),
    cpuPeriodMicros: z.int().optional().describe('The period, in microseconds.'),
    pids: z.int().optional().describe('The limit on processes in force.'),
    pidsDefaulted: z
      .boolean()
      .optional()
      .describe('The limit on processes is the default, not one of the spec.'),
    summary: z.string().max(256).optional().describe('The limits in a few words, for people.'),
    receipt: z
      .array(receiptEntrySchema)
      .max(8)
      .optional()
      .describe('Each limit as the kernel has it, read before user code ran.'),
  })
  .describe('The limits that were applied.');
export type LimitsStatus = z.infer<typeof limitsStatusSchema>;

/** How a launch ended and how that is known; it outlives the container (O12). */
export const terminationSchema = z
  .object({
    launch: z.enum(['Setup', 'Main']).describe('Which launch ended.'),
    cause: z
      .enum([
        'Exited',
        'OOMKilled',
        'AncestorOOMKilled',
        'Deadline',
        'Timeout',
        'Suspended',
        'Deleted',
        'Replaced',
        'Stopped',
        'NodeLost',
        'Drained',
        'KilledFromOutside',
        'RuntimeRestarted',
        'ContainerLost',
        'StartFailed',
        'CommandNotFound',
        'CommandNotExecutable',
        'LimitsUnproven',
        'Unknown',
      ])
      .describe('Why it ended.'),
    verdict: z
      .enum(['Confirmed', 'Unconfirmed'])
      .describe('Confirmed: the evidence proves the cause. Unconfirmed: it only suggests it.'),
    exitCode: z
      .int()
      .optional()
      .describe('The exit code as a shell gives it: 128 + signal for a death by signal.'),
    signal: z.string().max(16).optional().describe('The signal that ended it, such as SIGKILL.'),
    message: z.string().max(4096).describe('The cause in a sentence.'),
    evidence: z.array(z.string().max(512)).max(32).describe('What was read, where, and what it says.'),
    contradictions: z
      .array(z.string().max(512))
      .max(16)
      .optional()
      .describe('Evidence that speaks against the cause.'),
    memoryLimitBytes: z.int().optional().describe('The memory limit in force.'),
    peakMemoryBytes: z.int().optional().describe('The most memory that was used at once.'),
    oomKills: z.int().optional().describe('Kills for memory that the kernel counted in this launch.'),
    containerID: z.string().max(128).optional().describe('The container it happened in.'),
    startedAt: time.optional().describe('When user code began.'),
    finishedAt: time.describe('When it ended.'),
    observedGeneration: z.int().optional().describe('The generation of the spec that was running.'),
  })
  .describe('How a launch ended, and how that is known.');
export type Termination = z.infer<typeof terminationSchema>;
