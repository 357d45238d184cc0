import type { z } from 'zod';
import type { ContainerInfo, ContainerSummary, ImageInfo, VolumeInfo } from '../../driver.ts';
import type { imageAnswer, inspectAnswer, listAnswer, volumeAnswer } from './answers.ts';
import { limitsFromInspect } from './map-limits.ts';

export function containerInfo(answer: z.output<typeof inspectAnswer>): ContainerInfo {
  return {
    id: answer.Id,
    name: withoutSlash(answer.Name),
    labels: answer.Config.Labels,
    imageID: answer.Image,
    state: answer.State.Status,
    pid: answer.State.Pid,
    exitCode: answer.State.ExitCode,
    oomKilled: answer.State.OOMKilled ?? false,
    error: answer.State.Error,
    startedAt: time(answer.State.StartedAt),
    finishedAt: time(answer.State.FinishedAt),
    limits: limitsFromInspect(answer.HostConfig),
  };
}

export function containerSummary(answer: z.output<typeof listAnswer>[number]): ContainerSummary {
  return {
    id: answer.Id,
    name: withoutSlash(answer.Names[0] ?? ''),
    labels: answer.Labels,
    state: answer.State,
  };
}

export function imageInfo(answer: z.output<typeof imageAnswer>): ImageInfo {
  const config = answer.Config;
  return {
    id: answer.Id,
    entrypoint: config?.Entrypoint ?? [],
    command: config?.Cmd ?? [],
    env: config?.Env ?? [],
    workingDir: config?.WorkingDir ?? '',
    user: config?.User ?? '',
    architecture: answer.Architecture,
  };
}

export function volumeInfo(answer: z.output<typeof volumeAnswer>): VolumeInfo {
  return { name: answer.Name, labels: answer.Labels, mountpoint: answer.Mountpoint };
}

function withoutSlash(name: string): string {
  return name.replace(/^\//, '');
}

/** Go's zero time means never. */
function time(value: string): string | undefined {
  return value === '' || value.startsWith('0001-01-01T') ? undefined : value;
}
