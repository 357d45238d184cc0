/** `make chaos`: the fault suite for as long as one likes. CHAOS_SECONDS (600), CHAOS_SEED (by the clock). */
import { runChaos } from './run.ts';

const seconds = wholeNumber('CHAOS_SECONDS', 600);
const seed = wholeNumber('CHAOS_SEED', Date.now() % 1_000_000);
const again = `CHAOS_SEED=${seed} CHAOS_SECONDS=${seconds} make chaos`;
console.log(`seed ${seed}; again: ${again}`);
const interrupted = new Promise<never>((_resolve, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => reject(new Error(signal)));
});
const { breaches, counts } = await runChaos({
  seed,
  seconds,
  settleSeconds: 240,
  calmSeconds: 20,
  leaseSeconds: 15,
  say: (line) => console.log(line),
  interrupted,
});
console.log('');
for (const [what, count] of Object.entries(counts)) console.log(`${String(count).padStart(8)}  ${what}`);
console.log('');
let failed = false;
for (const [invariant, found] of Object.entries(breaches)) {
  console.log(`${found.length === 0 ? 'holds ' : 'BROKEN'}  ${invariant}`);
  for (const one of found) console.log(`          ${one}`);
  failed ||= found.length > 0;
}
if (failed) console.log(`\nagain: ${again}`);
process.exitCode = failed ? 1 : 0;

function wholeNumber(name: string, otherwise: number): number {
  const text = process.env[name];
  if (text === undefined || text === '') return otherwise;
  if (!/^\d+$/.test(text)) throw new Error(`${name}: "${text}" is no whole number`);
  return Number(text);
}
