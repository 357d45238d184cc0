import { pino } from 'pino';
import { startLocalAPI } from './server.ts';
import { widgetDefinition } from './testing.ts';

/** A server in a process of its own, for tests that kill it: `node testing-server.ts FOLDER [PORT]`. */
const [dataDir = '', port = '0'] = process.argv.slice(2);
const api = await startLocalAPI({
  dataDir,
  port: Number(port),
  crds: [widgetDefinition()],
  log: pino({ level: 'error' }, pino.destination(2)),
});
process.stdout.write(`${JSON.stringify({ url: api.url, caData: api.caData, token: api.adminToken })}\n`);
process.once('SIGTERM', () => {
  void api.close();
});
