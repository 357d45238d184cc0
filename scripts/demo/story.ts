import type { Condition } from '../../crds/meta.ts';
import type { Sandbox } from '../../crds/sandbox.ts';
import { EXAMPLES, type Kubectl } from './kubectl.ts';
import { bold, dim, explain, green, point, red, say, title } from './terminal.ts';

/** The main job in five scenes; throws where one does not go as it must. */
export async function tell(kubectl: Kubectl): Promise<void> {
  await theNode(kubectl);
  await healthy(kubectl);
  await outOfMemory(kubectl);
  await tooLarge(kubectl);
  await overview(kubectl);
}

async function theNode(kubectl: Kubectl): Promise<void> {
  title(1, 'A node, and what its runtime can enforce');
  await kubectl.show('get', 'sandboxnodes');
}

async function healthy(kubectl: Kubectl): Promise<void> {
  title(2, 'A sandbox whose limits hold');
  explain('Half a CPU, 64 MiB of memory, 32 processes.');
  await kubectl.show('apply', '-f', `${EXAMPLES}/healthy.yaml`);
  await kubectl.show('wait', '--for=condition=Ready', 'sandbox/healthy', '--timeout=60s');
  const { status } = await kubectl.sandbox('healthy');
  verdict(
    green('running'),
    'before the first instruction of its command ran, its limits were read back from the kernel. The receipt:',
  );
  say();
  receipt('LIMIT', 'ASKED', 'IN FORCE', 'READ FROM', bold);
  for (const { limit, requested, applied, file } of status?.limits?.receipt ?? [])
    receipt(limit, inWords(limit, requested ?? '-'), inWords(limit, applied), short(file), dim);
}

function receipt(
  limit: string,
  asked: string,
  applied: string,
  file: string,
  paint: (text: string) => string,
): void {
  say(paint(`     ${limit.padEnd(8)}${asked.padEnd(12)}${applied.padEnd(12)}${file}`));
}

/** A receipt has what the kernel has: bytes, and microseconds a period. */
function inWords(limit: string, value: string): string {
  if ((limit === 'memory' || limit === 'swap') && /^\d+$/.test(value))
    return `${Number(value) / 1024 ** 2} MiB`;
  const [quota, period] = value.split(' ').map(Number);
  return limit === 'cpu' && quota !== undefined && period !== undefined ? `${quota / period} CPU` : value;
}

/** IDs of containers, cut as Docker cuts them. */
function short(text: string): string {
  return text.replaceAll(/\b([0-9a-f]{12})[0-9a-f]{52}\b/g, '$1...');
}

async function outOfMemory(kubectl: Kubectl): Promise<void> {
  title(3, 'A sandbox that its memory limit kills');
  explain('Its command wants 256 MB and may have 32 MiB.');
  await kubectl.show('apply', '-f', `${EXAMPLES}/out-of-memory.yaml`);
  await kubectl.show('wait', '--for=condition=OOMKilled', 'sandbox/out-of-memory', '--timeout=60s');
  const sandbox = await kubectl.sandbox('out-of-memory');
  const end = sandbox.status?.lastTermination;
  verdict(red(`killed, ${end?.verdict ?? '?'}`), `${end?.message ?? ''} The evidence:`);
  for (const evidence of end?.evidence ?? []) point(short(evidence));
  explain('It is not tried again, since the same limit would kill it the same way: it waits for a person.');
}

async function tooLarge(kubectl: Kubectl): Promise<void> {
  title(4, 'A sandbox that asks for what no node can give');
  explain(
    '64 TiB of memory. It is valid, so it is accepted; it is never started with less than it asks for.',
  );
  await kubectl.show('apply', '-f', `${EXAMPLES}/too-large.yaml`);
  await kubectl.show(
    'wait',
    '--for=jsonpath={.status.conditions[?(@.type=="Scheduled")].reason}=Unschedulable',
    'sandbox/too-large',
    '--timeout=60s',
  );
  const scheduled = condition(await kubectl.sandbox('too-large'), 'Scheduled');
  verdict(red(`not started, ${scheduled?.reason ?? '?'}`), scheduled?.message ?? '');
}

async function overview(kubectl: Kubectl): Promise<void> {
  title(5, 'All of them');
  await kubectl.show('get', 'sandboxes');
}

function verdict(word: string, text: string): void {
  say();
  explain(`${bold('=>')} ${word}: ${text}`);
}

function condition(sandbox: Sandbox, type: string): Condition | undefined {
  return sandbox.status?.conditions?.find((each) => each.type === type);
}
