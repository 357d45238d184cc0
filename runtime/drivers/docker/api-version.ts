import { DriverError } from '../../driver.ts';

/**
 * The versions of Docker's API this driver was written for. The floor has CgroupnsMode and the cgroup fields of
 * /info (Docker 20.10); daemons are asked for the lower of their version and the ceiling, as Docker 29 refuses
 * whatever is below 1.44. What an engine can do is never told from its version.
 */
export const API_FLOOR = '1.41';
export const API_CEILING = '1.47';

/** `offered` is the Api-Version header of /_ping. Throws `Unreadable` without one, `Refused` below the floor. */
export function negotiate(offered: string | undefined): string {
  if (offered === undefined || !/^\d+\.\d+$/.test(offered))
    throw new DriverError(
      'Unreadable',
      `GET /_ping: no API version in the answer (${offered ?? 'no header'})`,
    );
  if (compareVersions(offered, API_FLOOR) < 0)
    throw new DriverError(
      'Refused',
      `the daemon speaks API ${offered}; the least that will do is ${API_FLOOR} (Docker 20.10)`,
    );
  return compareVersions(offered, API_CEILING) < 0 ? offered : API_CEILING;
}

export function compareVersions(a: string, b: string): number {
  const [aMajor = 0, aMinor = 0] = a.split('.').map(Number);
  const [bMajor = 0, bMinor = 0] = b.split('.').map(Number);
  return aMajor - bMajor || aMinor - bMinor;
}
