import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { LogConfig } from './config.ts';
import { makeLogger } from './log.ts';

async function logged(
  config: Partial<LogConfig>,
  isTTY: boolean,
  env: Record<string, string> = {},
): Promise<string> {
  const stderr: PassThrough & { isTTY?: boolean } = Object.assign(new PassThrough(), { isTTY });
  let text = '';
  stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const log = await makeLogger(
    { logLevel: 'info', logFormat: 'auto', ...config },
    { stdout: new PassThrough(), stderr, env, stop: new AbortController().signal },
  );
  const error = Object.assign(new Error('it broke', { cause: new Error('no disk') }), {
    code: 'Unreachable',
  });
  log.debug('hidden');
  log.warn({ err: error, key: 'a/b' }, 'reconcile failed');
  await new Promise((resolve) => setImmediate(resolve));
  return text;
}

describe('makeLogger', () => {
  it('writes JSON lines where nobody reads along, with the codes and no stack trace', async () => {
    const line = JSON.parse(await logged({}, false)) as Record<string, unknown>;
    expect(line).toMatchObject({
      level: 'warn',
      msg: 'reconcile failed',
      key: 'a/b',
      err: {
        type: 'Error',
        message: 'it broke',
        code: 'Unreachable',
        cause: { type: 'Error', message: 'no disk' },
      },
    });
    expect(line['time']).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(JSON.stringify(line)).not.toContain('    at ');
  });

  it('writes one line for people on a terminal', async () => {
    const text = await logged({}, true, { NO_COLOR: '1' });
    expect(text).toMatch(
      /^\[\d\d:\d\d:\d\d\.\d{3}\] WARN: reconcile failed \{"key":"a\/b","why":"it broke \(no disk\)"\}\n$/,
    );
  });

  it('colours unless told not to, and takes the format that was asked for', async () => {
    expect(await logged({}, true)).toContain('\u001b[');
    expect(await logged({ logFormat: 'json' }, true)).toMatch(/^\{/);
    expect(await logged({ logFormat: 'pretty' }, false)).toMatch(/^\[/);
  });

  it('has stack traces at debug', async () => {
    expect(await logged({ logLevel: 'debug' }, false)).toContain('    at ');
  });

  it('can be silent', async () => {
    expect(await logged({ logLevel: 'silent' }, false)).toBe('');
  });
});
