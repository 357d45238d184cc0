import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chosenVersion, clusterBinaries, NEWEST, NoCluster, VERSIONS } from './versions.ts';

describe('[K2] versions of Kubernetes', () => {
  it('the newest is the default, another is named', () => {
    expect(chosenVersion({})).toBe(NEWEST);
    expect(chosenVersion({ HOLDFAST_KUBE_VERSION: VERSIONS[1] })).toBe(VERSIONS[1]);
  });

  it('an unknown one is refused by name', () => {
    expect(() => chosenVersion({ HOLDFAST_KUBE_VERSION: 'v1.2' })).toThrow(
      'HOLDFAST_KUBE_VERSION: "v1.2" is none of v1.37, v1.34',
    );
  });

  it.each(VERSIONS)('%s: where Go is missing it says so', async (version) => {
    const tools = mkdtempSync(join(tmpdir(), 'no-go-'));
    try {
      for (const tool of ['sh', 'dirname', 'sha256sum', 'cut'])
        symlinkSync(
          execFileSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim(),
          join(tools, tool),
        );
      const found = clusterBinaries(version, { PATH: tools, CLUSTER_BIN: join(tools, 'none') });
      await expect(found).rejects.toThrow(NoCluster);
      await expect(found).rejects.toThrow('Go is missing');
    } finally {
      rmSync(tools, { recursive: true, force: true });
    }
  });
});
