import { z } from 'zod';
import { limitCapabilities } from '../../capabilities/limit-capabilities.ts';
import { DriverError, type RuntimeInfo } from '../../driver.ts';

/**
 * What /info must hold for us to say what the daemon can enforce. An answer without one of these is no answer (L7):
 * a missing boolean is not false, and certainly not true.
 */
const infoAnswer = z.object({
  ID: z.string(),
  ServerVersion: z.string().min(1),
  Driver: z.string(),
  CgroupDriver: z.string().min(1),
  CgroupVersion: z.enum(['1', '2']).optional().catch(undefined),
  MemoryLimit: z.boolean(),
  SwapLimit: z.boolean(),
  PidsLimit: z.boolean(),
  CpuCfsPeriod: z.boolean(),
  CpuCfsQuota: z.boolean(),
  SecurityOptions: z
    .array(z.string())
    .nullish()
    .transform((value) => value ?? []),
  NCPU: z.number().positive(),
  MemTotal: z.number().positive(),
  Architecture: z.string().optional(),
  KernelVersion: z.string().optional(),
});

/** `answer` is the parsed body of GET /info. Throws `Unreadable`. */
export function runtimeInfo(answer: unknown, apiVersion: string): RuntimeInfo {
  const parsed = infoAnswer.safeParse(answer);
  if (!parsed.success)
    throw new DriverError('Unreadable', `GET /info: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`);
  const info = parsed.data;
  const rootless = info.SecurityOptions.some((option) => option.split(',').includes('name=rootless'));
  return {
    name: 'docker',
    version: info.ServerVersion,
    apiVersion,
    daemonID: info.ID,
    ...(info.CgroupVersion === undefined ? {} : { cgroupVersion: info.CgroupVersion }),
    cgroupDriver: info.CgroupDriver,
    rootless,
    storageDriver: info.Driver,
    ...(info.Architecture === undefined ? {} : { architecture: info.Architecture }),
    ...(info.KernelVersion === undefined ? {} : { kernelVersion: info.KernelVersion }),
    cpus: info.NCPU,
    memoryBytes: info.MemTotal,
    limits: limitCapabilities({
      rootless,
      cgroupVersion: info.CgroupVersion,
      cgroupDriver: info.CgroupDriver,
      controllers: {
        memory: info.MemoryLimit,
        swap: info.SwapLimit,
        pids: info.PidsLimit,
        cpu: info.CpuCfsQuota && info.CpuCfsPeriod,
      },
    }),
  };
}
