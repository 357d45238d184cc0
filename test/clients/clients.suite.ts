import { afterAll, beforeAll, describe, it } from 'vitest';
import { goClient } from './go.ts';
import { helmClient } from './helm.ts';
import { nodeClient } from './node.ts';
import { pythonClient } from './python.ts';
import { startTarget, type Target, TARGETS } from './target.ts';

/** Clients as others write them, against both servers: `make test-clients`. Each answers why it could not be tried. */
const CLIENTS: Record<string, (target: Target) => Promise<string | undefined>> = {
  'helm: install, upgrade, rollback and uninstall of a chart': helmClient,
  '@kubernetes/client-node: an informer, patches and a watch': nodeClient,
  'Go: client-go, and a controller of controller-runtime': goClient,
  'Python: the kubernetes package': pythonClient,
};

for (const name of TARGETS) {
  describe(`clients on ${name}`, () => {
    let target: Target | string;
    beforeAll(async () => {
      target = await startTarget(name);
    });
    afterAll(async () => {
      if (typeof target !== 'string') await target.stop();
    });

    for (const [title, client] of Object.entries(CLIENTS)) {
      it(`[K1] [K2] ${title}`, async ({ skip }) => {
        const reason = typeof target === 'string' ? target : await client(target);
        if (reason === undefined) return;
        console.log(`skipped on ${name}: ${title}: ${reason}`);
        skip(reason);
      });
    }
  });
}
