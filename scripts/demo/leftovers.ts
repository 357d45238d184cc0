import type { DockerAPI } from '../docker-api.ts';

/** The name that the demo's agent registers under; what it makes carries it as a label. */
export const NODE = 'demo-node';

/** Removes what the agent keeps between runs (its probe, its volumes, its image) and says what was there. */
export async function removeLeftovers(api: DockerAPI): Promise<string> {
  const filters = encodeURIComponent(JSON.stringify({ label: [`holdfast.dev/node=${NODE}`] }));
  const containers = await api.json<{ Id: string; Labels: Record<string, string> }[]>(
    'GET',
    `/containers/json?all=1&filters=${filters}`,
  );
  for (const { Id } of containers) await api.call('DELETE', `/containers/${Id}?force=1&v=1`);
  const { Volumes } = await api.json<{ Volumes: { Name: string }[] | null }>(
    'GET',
    `/volumes?filters=${filters}`,
  );
  for (const { Name } of Volumes ?? []) await api.call('DELETE', `/volumes/${Name}?force=1`);
  const sandboxes = containers.filter(({ Labels }) => Labels['holdfast.dev/role'] === 'sandbox').length;
  return `${sandboxes} containers of sandboxes left; the probe and its volumes removed`;
}
