/** What the command's exit code means; the documentation and --help say the same. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  /** 128 + SIGINT: told a second time to stop, or by a signal before there was anything to stop. */
  interrupted: 130,
} as const;

export const EXIT_TEXT = `Exit codes:
  0    done, or stopped when told to
  1    it failed; the last line says why
  2    the command line or the environment is wrong
  130  told to stop a second time, and ended at once`;
