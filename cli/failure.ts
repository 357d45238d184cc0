/** Something the user can do something about: the message is shown as it is, without a stack trace. */
export class Failure extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'Failure';
  }
}

/** One line for the user, whatever was thrown: what happened, and what to do where that is known. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, syscall, address, port, path } = error as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  switch (code) {
    case 'EADDRINUSE':
      return `${address}:${port} is taken by another program: choose another with --port`;
    case 'EADDRNOTAVAIL':
      return `${address} is no address of this machine: choose another with --host`;
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `${path ?? `${address}:${port}`}: no permission (${syscall ?? code})`;
    case 'ENOSPC':
      return `${path ?? 'the data folder'}: the disk is full`;
    case 'ENOTDIR':
    case 'EEXIST':
      return `${path}: is in the way (not a folder)`;
    default:
      return error.message === '' ? error.name : error.message;
  }
}
