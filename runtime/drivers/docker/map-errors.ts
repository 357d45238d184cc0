import { DriverError, type DriverErrorCode } from '../../driver.ts';

/** A failure of the connection. DriverErrors pass through. */
export function transportError(error: unknown, what: string): DriverError {
  if (error instanceof DriverError) return error;
  // An AbortError's code is a number.
  const { code: given } = Object(error) as { code?: unknown };
  const code = typeof given === 'string' ? given : '';
  const text = error instanceof Error ? error.message : String(error);
  // Node's HTTP parser: the other side does not speak HTTP.
  if (code.startsWith('HPE_'))
    return new DriverError('Unreadable', `${what}: the answer is not HTTP (${text})`, { cause: error });
  return new DriverError('Unavailable', `${what}: ${text === '' ? code : text}`, { cause: error });
}

const MAX_MESSAGE = 2048;

/** What an error answer says: its `message`, or the start of whatever it is. */
export function errorMessage(body: Buffer): string {
  const text = body.toString('utf8').trim();
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && 'message' in parsed)
      return String(parsed.message).slice(0, MAX_MESSAGE);
  } catch {
    // Not JSON: a proxy's page, perhaps.
  }
  return text === '' ? 'no message' : text.slice(0, MAX_MESSAGE);
}

/** The code of an error answer where the call has no meaning of its own for it. */
function codeOfStatus(status: number): DriverErrorCode {
  if (status === 404) return 'NotFound';
  if (status === 409) return 'Conflict';
  if (status >= 400 && status < 500) return 'Refused';
  if (status >= 500 && status < 600) return 'Failed';
  return 'Unreadable';
}

export function answerError(what: string, status: number, body: Buffer): DriverError {
  const code = codeOfStatus(status);
  const said = errorMessage(body);
  return new DriverError(
    code,
    code === 'Unreadable' ? `${what}: status ${status} is no answer (${said})` : `${what}: ${said}`,
  );
}

/** Docker's refusals at create that are about limits; with the daemon's own wording, as there is no code. */
const LIMIT_REFUSALS = [
  /NanoCPUs can not be set/i,
  /Range of CPUs is from/i,
  /CPU cfs (quota|period) (can not|cannot)/i,
  /Minimum memory limit (allowed|can not)/i,
  /Minimum memoryswap limit/i,
  /memory ?swap/i,
  /kernel does not support (memory|swap|PIDs|CPU)/i,
];
/** What OCI runtimes say when a limit's file is missing or refuses the value. */
const LIMIT_START_FAILURES = [
  /cgroup.*(memory\.max|memory\.swap\.max|memory\.limit_in_bytes|memory\.memsw|pids\.max|cpu\.max|cpu\.cfs)/is,
  /(memory\.max|memory\.swap\.max|memory\.limit_in_bytes|memory\.memsw\.\w+|pids\.max|cpu\.max|cpu\.cfs_\w+)\b.*(no such file|invalid argument|permission denied|device or resource busy)/is,
  /controller.*(not available|is not|missing)/is,
];

export function isLimitRefusal(message: string): boolean {
  return LIMIT_REFUSALS.some((pattern) => pattern.test(message));
}

/** A start that failed: on a limit, or for another reason. */
export function startFailureCode(status: number, message: string): DriverErrorCode {
  if (status === 404 && /no such container/i.test(message)) return 'NotFound';
  if (status === 409) return 'Conflict';
  return LIMIT_START_FAILURES.some((pattern) => pattern.test(message)) ? 'Unenforceable' : 'StartFailed';
}
