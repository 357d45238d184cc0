import { TransportError } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/client.ts';

const VERBS = ['get', 'list', 'create', 'update', 'patch', 'delete'] as const;

/** For tests: the connection of a process that is killed at its nth call, before or after that call took effect. */
export function mortalClient(
  client: KubeClient,
  death: { call: number; when: 'before' | 'after'; onDeath: () => void },
): { client: KubeClient; calls: () => number } {
  let calls = 0;
  let dead = false;
  const die = (): never => {
    if (!dead) death.onDeath();
    dead = true;
    throw new TransportError('Unreachable', 'the process is dead');
  };
  const mortal = Object.fromEntries(
    VERBS.map((verb) => {
      const call = client[verb].bind(client) as (...rest: unknown[]) => Promise<unknown>;
      return [
        verb,
        async (...rest: unknown[]) => {
          if (dead) die();
          calls += 1;
          const last = calls === death.call;
          if (last && death.when === 'before') die();
          const answer = await call(...rest);
          if (last || dead) die();
          return answer;
        },
      ];
    }),
  );
  return {
    client: { ...mortal, watch: client.watch.bind(client) } as unknown as KubeClient,
    calls: () => calls,
  };
}
