import type { KubeClient } from '../../kube/client.ts';

export interface RequestCounts {
  reads: number;
  lists: number;
  watches: number;
  /** Writes by verb and resource, such as `patch sandboxes` or `update sandboxes/status`. */
  writes: Record<string, number>;
}

/** The same client, whose calls are counted as they are made. */
export function countRequests(client: KubeClient): { client: KubeClient; counts: RequestCounts } {
  const counts: RequestCounts = { reads: 0, lists: 0, watches: 0, writes: {} };
  const write = (what: string): void => {
    counts.writes[what] = (counts.writes[what] ?? 0) + 1;
  };
  const named = (plural: string, subresource?: string): string =>
    subresource === undefined ? plural : `${plural}/${subresource}`;
  return {
    counts,
    client: {
      get(resource, ref, options) {
        counts.reads += 1;
        return client.get(resource, ref, options);
      },
      list(resource, options) {
        counts.lists += 1;
        return client.list(resource, options);
      },
      create(resource, object, options) {
        write(`create ${resource.plural}`);
        return client.create(resource, object, options);
      },
      update(resource, object, options) {
        write(`update ${named(resource.plural, options?.subresource)}`);
        return client.update(resource, object, options);
      },
      patch(resource, ref, body, options) {
        write(`patch ${named(resource.plural, options.subresource)}`);
        return client.patch(resource, ref, body, options);
      },
      delete(resource, ref, options) {
        write(`delete ${resource.plural}`);
        return client.delete(resource, ref, options);
      },
      watch(resource, options) {
        counts.watches += 1;
        return client.watch(resource, options);
      },
    },
  };
}

/** All writes, or all but those of a resource. */
export function writesOf({ writes }: RequestCounts, without?: string): number {
  return Object.entries(writes)
    .filter(([what]) => without === undefined || !what.endsWith(` ${without}`))
    .reduce((sum, [, count]) => sum + count, 0);
}
