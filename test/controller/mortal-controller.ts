/** A controller that can be killed: node mortal-controller.ts CONNECTION-JSON */
import pino from 'pino';
import { startController } from '../../controller/start.ts';
import { systemClock } from '../../kube/clock.ts';
import { createKubeClient } from '../../kube/http-client.ts';
import type { Connection } from '../../kube/kubeconfig.ts';

const connection = JSON.parse(process.argv[2] ?? '{}') as Connection;
const running = startController({
  client: createKubeClient({ ...connection, userAgent: 'holdfast-controller' }),
  clock: systemClock,
  log: pino({ level: process.env['HOLDFAST_TEST_LOG'] ?? 'silent' }, pino.destination(2)),
  random: Math.random,
  identity: 'mortal',
  leaderElection: false,
});
process.once('disconnect', () => void running.stop().then(() => process.exit(0)));
process.once('SIGTERM', () => void running.stop().then(() => process.exit(0)));
