import { existsSync, readFileSync } from 'node:fs';

/** One real daemon that a test used, as it described itself; the lab writes a line for each (HOLDFAST_DAEMONS_LOG). */
export interface Daemon {
  config: string;
  version: string;
  apiVersion?: string;
  cgroupVersion: string;
  cgroupDriver: string;
  kernel: string;
}

/** Without these two no run counts: the one is what most machines had, the other what they have now. */
export const ALWAYS = ['docker-v1', 'docker-v2'];

/** Each daemon once, in the order of first use. */
export function readDaemons(log: string): Daemon[] {
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const byConfig = new Map<string, Daemon>();
  for (const line of lines) {
    const daemon = JSON.parse(line) as Daemon;
    if (!byConfig.has(daemon.config)) byConfig.set(daemon.config, daemon);
  }
  return [...byConfig.values()];
}

export function describeDaemon({ config, version, cgroupVersion, cgroupDriver, kernel }: Daemon): string {
  return `${config.padEnd(18)} version ${version}, cgroup v${cgroupVersion} (${cgroupDriver}), kernel ${kernel}`;
}
