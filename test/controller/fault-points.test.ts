import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import apiPoints from '../../local/fault-points.generated.json' with { type: 'json' };
import controllerPoints from '../../controller/fault-points.generated.json' with { type: 'json' };
import { createKubeClient } from '../../kube/http-client.ts';
import type { Connection } from '../../kube/kubeconfig.ts';
import { countPassings, passingsFile, readPassings, selected, stepOf } from '../fault-point-names.ts';
import { type Faults, startMortalProcess } from '../mortal-process.ts';
import { patientClient } from './patient-client.ts';
import { story } from './story.ts';

type Part = 'controller' | 'API server';

/** `count`: an undisturbed run; `every`: each passing that it counted; otherwise each point once. */
const RUN = process.env['HOLDFAST_FAULT_RUN'];
const WANTED = process.env['HOLDFAST_FAULTS'] ?? '';
/** Of one step. The server commits often, and mostly for the test itself. */
const MOST_PASSINGS = 40;
/** How often a later passing is waited for: how many there are depends on how changes fall together. */
const ATTEMPTS = 3;
/** In the midst of the story. */
const AGAIN: Record<Part, string[]> = {
  controller: [],
  'API server': ['before:commit#25', 'after:commit#25'],
};

const POINTS: Record<Part, string[]> = { controller: controllerPoints, 'API server': apiPoints };
const all = (['controller', 'API server'] as const).flatMap((part) =>
  (RUN === 'every' ? everyPassing(part) : [...POINTS[part], ...AGAIN[part]]).map((point) => ({
    part,
    point,
  })),
);
const kills = selected(all, WANTED);

if (RUN === 'count') {
  it('counts what a story of controller and API server passes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hf-count-'));
    const traces = { controller: join(folder, 'controller'), 'API server': join(folder, 'api') };
    await live({
      controller: { trace: traces.controller },
      'API server': { trace: traces['API server'] },
    });
    const counted = Object.fromEntries(
      Object.entries(traces).map(([part, file]) => [part, countPassings(readFileSync(file, 'utf8'))]),
    );
    writeFileSync(passingsFile('story'), JSON.stringify(counted, null, 2));
    await rm(folder, { recursive: true });
  });
} else if (kills.length > 0) {
  console.log(`fault points of controller and API server: ${all.length} kills, ${kills.length} in this run`);
  describe('controller and API server, killed', { concurrent: true }, () => {
    it.for(kills)('[K3] [K5] the $part: the same end after $point', async ({ part, point }) => {
      for (let attempt = 1; ; attempt += 1) {
        const deaths = await live({ [part]: { point } });
        if (point.includes('#') && deaths[part] === 0 && attempt < ATTEMPTS) continue;
        expect(deaths, `how often the ${part} was killed ${point}`).toEqual({
          controller: part === 'controller' ? 1 : 0,
          'API server': part === 'API server' ? 1 : 0,
        });
        return;
      }
    });
  });
} else {
  it('has none of the wanted points', () => expect(all.length).toBeGreaterThan(0));
}

/** The story on a server and a controller of its own; how often each of them died. */
async function live(faults: Partial<Record<Part, Faults>>): Promise<Record<Part, number>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'hf-story-'));
  const script = (name: string): string => join(import.meta.dirname, name);
  const port = String(await freePort());
  const api = startMortalProcess(script('api-process.ts'), [dataDir, port], faults['API server']);
  const access = (await api.says) as Connection;
  const client = createKubeClient({ ...access, userAgent: 'holdfast-test' });
  const controller = startMortalProcess(
    script('mortal-controller.ts'),
    [JSON.stringify(access)],
    faults.controller,
  );
  try {
    await story(patientClient(client));
    return { controller: controller.deaths, 'API server': api.deaths };
  } finally {
    await controller.stop();
    client.close();
    await api.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

function everyPassing(part: Part): string[] {
  const counted = readPassings('story')[part] ?? {};
  return POINTS[part].flatMap((point) => {
    const later = Math.max(0, Math.min(counted[stepOf(point)] ?? 1, MOST_PASSINGS) - 1);
    return [point, ...Array.from({ length: later }, (_, index) => `${point}#${index + 2}`)];
  });
}

/** A server that is started again has to come back where it was. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(address !== null && typeof address === 'object' ? address.port : 0));
    });
  });
}
