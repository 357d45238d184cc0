/** How long each kind of call may take. A loaded machine is given room; a hung daemon is not waited for. */
export const TIMEOUTS = {
  /** ping, info, inspect, list, and the headers of wait, events and attach. */
  readMs: 20_000,
  createMs: 60_000,
  /** Docker prepares the root filesystem and runs the OCI runtime within the call. */
  startMs: 120_000,
  signalMs: 30_000,
  updateMs: 30_000,
  /** Docker itself waits 10 s and more for a killed container to go. */
  removeMs: 120_000,
  volumeMs: 60_000,
  /** Until the first word, and between two: a registry may be slow, a layer large. */
  pullMs: 300_000,
  importMs: 300_000,
} as const;
