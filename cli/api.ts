import type { ServeConfig } from './config.ts';
import { type IO, write } from './io.ts';
import { makeLogger } from './log.ts';
import { Parts } from './parts.ts';
import { startAPI } from './start-api.ts';
import { quoted } from './up-summary.ts';

/** `holdfast api`: the API of one machine by itself. */
export async function api(config: ServeConfig, io: IO): Promise<void> {
  const log = await makeLogger(config, io);
  const parts = new Parts(log);
  try {
    const serving = await startAPI(config, log);
    parts.add({ name: 'API', stop: () => serving.close() });
    await write(io.stdout, `Serving ${serving.url}\nexport KUBECONFIG=${quoted(serving.kubeconfig)}\n`);
    await parts.untilStopped(io.stop);
  } finally {
    log.info('stopping');
    await parts.stop();
  }
}
