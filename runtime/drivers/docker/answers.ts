import { z } from 'zod';

/** The fields we read of Docker's answers, with their latitude: null for an empty list or map, missing in old versions. */

const labels = z
  .record(z.string(), z.string())
  .nullish()
  .transform((value) => value ?? {});
const strings = z
  .array(z.string())
  .nullish()
  .transform((value) => value ?? []);
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const number = z.number().nullish();
const stateName = z.enum(['created', 'running', 'paused', 'restarting', 'removing', 'exited', 'dead']);

export const createAnswer = z.object({ Id: z.string().min(1), Warnings: strings });

export const inspectAnswer = z.object({
  Id: z.string().min(1),
  Name: text,
  Image: text,
  State: z.object({
    Status: stateName,
    OOMKilled: z.boolean().optional(),
    Pid: z.number().int().min(0),
    ExitCode: z.number().int(),
    Error: text,
    StartedAt: text,
    FinishedAt: text,
  }),
  Config: z.object({ Labels: labels }),
  HostConfig: z.object({
    Memory: number,
    MemorySwap: number,
    CpuPeriod: number,
    CpuQuota: number,
    NanoCpus: number,
    PidsLimit: number,
  }),
});

export const listAnswer = z.array(
  z.object({ Id: z.string().min(1), Names: strings, Labels: labels, State: stateName }),
);

export const waitAnswer = z.object({
  StatusCode: z.number().int(),
  Error: z.object({ Message: text }).nullish(),
});

export const imageAnswer = z.object({
  Id: z.string().min(1),
  Architecture: text,
  Config: z
    .object({
      Entrypoint: strings,
      Cmd: strings,
      Env: strings,
      WorkingDir: text,
      User: text,
    })
    .nullish(),
});

export const volumeAnswer = z.object({ Name: z.string().min(1), Labels: labels, Mountpoint: text });
export const volumesAnswer = z.object({
  Volumes: z
    .array(volumeAnswer)
    .nullish()
    .transform((value) => value ?? []),
});

export const eventAnswer = z.object({
  Type: z.string().optional(),
  Action: z.string(),
  Actor: z.object({ ID: z.string(), Attributes: labels }),
  time: z.number().optional(),
  timeNano: z.number().optional(),
});

/** One line of an image pull or import. */
export const progressAnswer = z.object({
  status: z.string().optional(),
  id: z.string().optional(),
  error: z.string().optional(),
  errorDetail: z.object({ message: z.string().optional() }).optional(),
  progressDetail: z
    .object({ current: z.number().optional(), total: z.number().optional() })
    .nullish()
    .transform((value) => value ?? {}),
});
