/**
 * `make demo`: the main job on real parts, from kubectl to the kernel and back, in a throw-away folder. Everything is
 * removed at the end, after a failure and after Ctrl-C too; KEEP=1 leaves it running, --clean ends what was left.
 */
import { endKept, readKept, writeKept } from './demo/kept.ts';
import { Stage } from './demo/stage.ts';
import { tell } from './demo/story.ts';
import { bold, dim, say } from './demo/terminal.ts';

if (process.argv.includes('--clean')) {
  say((await endKept()) ? 'The demo has ended; nothing of it is left.' : 'No demo is running.');
} else {
  process.exitCode = await demo();
}

async function demo(): Promise<number> {
  if (readKept() !== undefined) {
    say('A demo that was kept is still there. End it first: make demo-clean');
    return 1;
  }
  const startedMs = performance.now();
  const stage = new Stage();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stage.interrupt());
  try {
    say(bold('Holdfast: limits hold, or the sandbox does not start; every death has a stated cause.'));
    say();
    await stage.setUp((line) => say(`   ${dim(line)}`));
    await tell(stage.kubectl);
    if (process.env['KEEP'] === '1') {
      keep(stage);
      return 0;
    }
    say();
    await stage.tearDown((line) => say(`   ${dim(line)}`));
    say(
      `\n${bold('Done')} in ${Math.round((performance.now() - startedMs) / 1000)} s. Next: README.md, deploy/examples/, make demo KEEP=1`,
    );
    return 0;
  } catch (error) {
    say(
      stage.interrupted
        ? '\nInterrupted.'
        : `\nThe demo failed: ${error instanceof Error ? error.message : String(error)}`,
    );
    await stage.tearDown((line) => say(`   ${dim(line)}`));
    return stage.interrupted ? 130 : 1;
  }
}

function keep(stage: Stage): void {
  const kept = stage.keep();
  writeKept(kept);
  say(`\nEverything stays. To use it (kubectl is in .cache/bin, holdfast in bin):\n`);
  say(`   export KUBECONFIG='${kept.kubeconfig}' PATH="$PWD/.cache/bin:$PWD/bin:$PATH"`);
  say(`   kubectl get sandboxes\n\nTo end it: make demo-clean`);
}
