/** The embedded API as a process that can be killed: node api-process.ts DATADIR PORT; sends its access when it serves. */
import pino from 'pino';
import { crdManifests } from '../../crds/crd-manifests.ts';
import { startLocalAPI } from '../../local/server.ts';

const [dataDir = '', port = '0'] = process.argv.slice(2);
const api = await startLocalAPI({
  dataDir,
  port: Number(port),
  crds: crdManifests(),
  log: pino({ level: 'silent' }),
});
process.send?.({ server: api.url, caData: api.caData, token: api.adminToken });
process.once('disconnect', () => process.exit(0));
