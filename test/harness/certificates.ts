// Certificates for tests, made by openssl(1): authorities, servers and clients, valid for a few days.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Issued {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

export interface CertificateWish {
  /** Common name; the first of `names` without it. */
  readonly subject?: string;
  /** DNS names and IP addresses. */
  readonly names?: readonly string[];
  readonly kind?: 'ec' | 'rsa';
  /** Valid from and to, in days from now; may be negative. */
  readonly days?: readonly [number, number];
  /** Whether it may sign others. */
  readonly isAuthority?: boolean;
  /** More lines of extensions, as in openssl's configuration. */
  readonly extensions?: readonly string[];
}

const KEYS = {
  ec: ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
  rsa: ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048'],
};

/** A certificate signed by `by`, or by itself. */
export function issue(wish: CertificateWish, by: Issued | null = null): Issued {
  const dir = mkdtempSync(join(tmpdir(), 'certificates-'));
  const at = (name: string): string => join(dir, name);
  const run = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' });
  };
  try {
    const names = wish.names ?? [];
    const alternatives = names.map((name) => `${/^[\d.]+$|:/.test(name) ? 'IP' : 'DNS'}:${name}`);
    const extensions = [
      `basicConstraints=critical,CA:${wish.isAuthority === true ? 'TRUE' : 'FALSE'}`,
      ...(alternatives.length > 0 ? [`subjectAltName=${alternatives.join(',')}`] : []),
      ...(wish.extensions ?? []),
    ];
    writeFileSync(at('ext'), `${extensions.join('\n')}\n`);
    run('genpkey', ...KEYS[wish.kind ?? 'ec'], '-out', at('key'));
    const subject = wish.subject ?? names[0] ?? 'test';
    run('req', '-new', '-key', at('key'), '-subj', `/CN=${subject}`, '-out', at('csr'));
    const [from, to] = wish.days ?? [-1, 5];
    // openssl ca takes dates, which x509 of 3.0 does not.
    writeFileSync(at('index'), '');
    writeFileSync(
      at('serial'),
      `${Math.floor(Math.random() * 2 ** 40)
        .toString(16)
        .padStart(12, '1')}`,
    );
    writeFileSync(
      at('conf'),
      `[ca]\ndefault_ca=d\n[d]\nnew_certs_dir=.\ndatabase=index\nserial=serial\ndefault_md=sha256\npolicy=p\nunique_subject=no\n[p]\ncommonName=supplied\n`,
    );
    const signer =
      by === null ? ['-selfsign', '-keyfile', at('key')] : ['-cert', at('ca'), '-keyfile', at('cakey')];
    if (by !== null) {
      writeFileSync(at('ca'), by.cert);
      writeFileSync(at('cakey'), by.key);
    }
    const dates = ['-startdate', dateOf(from), '-enddate', dateOf(to)];
    run(
      'ca',
      '-batch',
      '-notext',
      '-config',
      at('conf'),
      ...signer,
      '-in',
      at('csr'),
      '-extfile',
      at('ext'),
      ...dates,
      '-out',
      at('cert'),
    );
    return { cert: readFileSync(at('cert'), 'utf8'), key: readFileSync(at('key'), 'utf8') };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** GeneralizedTime of a day from now. */
function dateOf(days: number): string {
  const at = new Date(Date.now() + days * 86_400_000);
  return `${at.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
}
