// Certificates and keys for tests, made with openssl(1) and good for days.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface MadeCertificate {
  /** PEM files: the certificate, the key, and both in one. */
  readonly cert: string;
  readonly key: string;
  readonly pem: string;
}

export interface MakeOptions {
  /** DNS:name or IP:address; the name alone by default, nothing for ''. */
  san?: string;
  days?: number;
  /** A made certificate that signs this one. */
  ca?: MadeCertificate;
  /** As for openssl(1): subject without the leading /CN=. */
  subject?: string;
  rsaBits?: number;
}

export function openssl(...args: string[]): string {
  return execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });
}

/** Makes `dir`/`name`.crt, .key and .pem, the latter two readable by their owner only. */
export function makeCertificate(dir: string, name: string, options: MakeOptions = {}): MadeCertificate {
  mkdirSync(dir, { recursive: true });
  const { san = `DNS:${name}`, days = 30, ca, subject = `/CN=${name}`, rsaBits } = options;
  const files = {
    cert: join(dir, `${name}.crt`),
    key: join(dir, `${name}.key`),
    pem: join(dir, `${name}.pem`),
  };
  const kind = rsaBits === undefined ? ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'] : [`rsa:${rsaBits}`];
  openssl(
    ...['req', '-x509', '-newkey', ...kind, '-nodes', '-keyout', files.key, '-out', files.cert],
    ...['-subj', subject, '-days', String(days)],
    ...(san === '' ? [] : ['-addext', `subjectAltName=${san}`]),
    ...(ca === undefined ? [] : ['-CA', ca.cert, '-CAkey', ca.key]),
  );
  writeFileSync(files.pem, readFileSync(files.cert, 'utf8') + readFileSync(files.key, 'utf8'), {
    mode: 0o600,
  });
  chmodSync(files.key, 0o600);
  return files;
}
