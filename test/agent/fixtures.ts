import type { ContainerSummary } from '../../runtime/driver.ts';
import { LABELS } from '../../runtime/agent/names.ts';
import { until } from '../until.ts';
import type { World } from './world.ts';

/** Asks for 128 MiB at once, and stops. By its path: busybox' shell runs a plain `dd` itself, and the fake has its own. */
export const HOG = ['/bin/dd', 'if=/dev/zero', 'of=/dev/null', 'bs=128M', 'count=1'];

/** The containers of a sandbox; with `gone`, once there are none. */
export function labelled(
  world: World,
  sandbox: { metadata: { uid?: string } },
  wait?: 'gone',
): Promise<ContainerSummary[]> {
  const list = (): Promise<ContainerSummary[]> =>
    world.driver.listContainers({ labels: { [LABELS.uid]: sandbox.metadata.uid ?? '' } });
  if (wait === undefined) return list();
  return until('removal of the container', async () => {
    const found = await list();
    return found.length === 0 ? found : undefined;
  });
}
