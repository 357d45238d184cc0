import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { writeFileAtomic } from '../files.ts';
import { makeAuthority, makeServerCertificate } from './make.ts';

export interface Certificates {
  /** PEM of the authority that clients trust. */
  ca: string;
  cert: string;
  key: string;
}

const DAY_MS = 86_400_000;
/** A server certificate that ends within this is made anew. */
const RENEW_BEFORE_MS = 30 * DAY_MS;

/**
 * The server's certificate, signed by an authority of this data folder, both made when they are missing, run out,
 * or do not name `hosts`. The private keys are 0600.
 */
export function certificates(folder: string, hosts: readonly string[], now: Date): Certificates {
  const path = (name: string): string => join(folder, name);
  const stored = read(path('ca.crt'), path('server.crt'), path('server.key'));
  if (stored !== undefined && isUsable(stored, hosts, now)) return stored;
  const authority = readAuthority(path('ca.crt'), path('ca.key'), now) ?? makeAuthority(now);
  const server = makeServerCertificate(authority, hosts, now);
  writeFileAtomic(path('ca.key'), authority.key, 0o600);
  writeFileAtomic(path('ca.crt'), authority.cert, 0o644);
  writeFileAtomic(path('server.key'), server.key, 0o600);
  writeFileAtomic(path('server.crt'), server.cert, 0o644);
  return { ca: authority.cert, cert: server.cert, key: server.key };
}

function read(ca: string, cert: string, key: string): Certificates | undefined {
  if (![ca, cert, key].every((file) => existsSync(file))) return undefined;
  return { ca: readFileSync(ca, 'utf8'), cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}

function isUsable({ ca, cert }: Certificates, hosts: readonly string[], now: Date): boolean {
  try {
    const server = new X509Certificate(cert);
    const authority = new X509Certificate(ca);
    return (
      server.verify(authority.publicKey) &&
      lasts(server, now) &&
      lasts(authority, now) &&
      hosts.every((host) => (isAddress(host) ? server.checkIP(host) : server.checkHost(host)) !== undefined)
    );
  } catch {
    return false;
  }
}

function lasts(certificate: X509Certificate, now: Date): boolean {
  return (
    Date.parse(certificate.validTo) - now.getTime() > RENEW_BEFORE_MS &&
    Date.parse(certificate.validFrom) <= now.getTime()
  );
}

function isAddress(host: string): boolean {
  return isIP(host) !== 0;
}

/** The authority is kept as long as it lasts: clients have it in their kubeconfigs. */
function readAuthority(cert: string, key: string, now: Date): { cert: string; key: string } | undefined {
  if (!existsSync(cert) || !existsSync(key)) return undefined;
  const pair = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  try {
    return lasts(new X509Certificate(pair.cert), now) ? pair : undefined;
  } catch {
    return undefined;
  }
}
