/** Errors of the store that are not the client's fault. `code` says what an answer should be. */
export class StoreError extends Error {
  readonly code: 'Full' | 'IO' | 'Locked' | 'Closed' | 'Busy' | 'Version';
  constructor(code: StoreError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
  }
}

const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;

/** SQLite's primary result code, or undefined where the error is not SQLite's. */
function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined;
  return error.errcode & 0xff;
}

export function isLocked(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_BUSY;
}

/** What a failed statement or commit means; errors that are not SQLite's pass unchanged. */
export function toStoreError(error: unknown): unknown {
  const code = sqliteCode(error);
  if (code === undefined) return error;
  if (code === SQLITE_FULL) {
    return new StoreError('Full', 'the disk that holds the data folder is full: nothing was written', {
      cause: error,
    });
  }
  return new StoreError('IO', 'the data folder could not be written: nothing was changed', { cause: error });
}
