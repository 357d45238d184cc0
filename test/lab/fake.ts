import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../kube/clock.ts';
import { FakeDriver } from '../../runtime/drivers/fake/fake-driver.ts';
import { FakeMachine } from '../../runtime/drivers/fake/machine/machine.ts';
import { labImageTar } from './daemon.ts';

/** Whether HOLDFAST_LAB leaves the fake driver in, which can be named there as a daemon is. */
const selected = process.env['HOLDFAST_LAB']?.split(',').some((name) => name.trim() === 'fake') ?? true;

/** Whether the fake driver with real processes is to be used, and can be here; why it cannot is printed. */
export async function fakeMachineWanted(): Promise<boolean> {
  if (!selected) return false;
  const missing = await FakeMachine.missing();
  if (missing !== undefined) console.log(`the fake driver with real processes is not used: ${missing}`);
  return missing === undefined;
}

/** A fake driver on a machine of its own, which has the lab's image under that name. */
export async function openFake(image: string): Promise<{ driver: FakeDriver; machine: FakeMachine }> {
  const machine = await FakeMachine.open();
  const driver = new FakeDriver({ clock: systemClock, machine });
  const folder = await mkdtemp(join(tmpdir(), 'hf-image-'));
  try {
    await labImageTar(join(folder, 'image.tar'));
    await driver.importImage(createReadStream(join(folder, 'image.tar')), { image });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return { driver, machine };
}
