// Certificates made by openssl for one test, with any dates and any fault. Nothing of it outlives the test's directory.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Issued {
  readonly name: string;
  /** PEM. */
  readonly cert: string;
  readonly key: string;
  readonly certFile: string;
  /** Mode 0600. */
  readonly keyFile: string;
}

export interface CertificateWish {
  /** Distinguished name; default /CN=<name>. */
  subject?: string;
  /** The issuer; default itself. */
  by?: Issued;
  /** As in subjectAltName: `DNS:a.example`, `IP:127.0.0.1`. */
  names?: readonly string[];
  /** Days from now. */
  from?: number;
  until?: number;
  /** Further lines of extensions. */
  extensions?: readonly string[];
  /** Arguments of openssl genpkey; default an EC key. */
  key?: readonly string[];
  digest?: string;
}

const EC = ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'];
const DAY = 86_400_000;

export class CertificateMaker {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
    mkdirSync(directory, { recursive: true, mode: 0o755 });
  }

  /** An authority. */
  authority(name: string, wish: CertificateWish = {}): Issued {
    const extensions = ['basicConstraints=critical,CA:TRUE', ...(wish.extensions ?? [])];
    return this.issue(name, { ...wish, extensions });
  }

  issue(name: string, wish: CertificateWish = {}): Issued {
    const { subject = `/CN=${name}`, by, names = [], from = -1, until = 2, digest = 'sha256' } = wish;
    const at = (file: string): string => join(this.directory, `${name}.${file}`);
    const keyFile = at('key');
    writeFileSync(keyFile, '', { mode: 0o600 });
    openssl('genpkey', ...(wish.key ?? EC), '-out', keyFile);
    openssl('req', '-new', '-key', keyFile, '-subj', subject, '-out', at('csr'), '-config', this.config());
    const lines = [...(wish.extensions ?? [])];
    if (names.length > 0) lines.push(`subjectAltName=${names.join(',')}`);
    writeFileSync(at('ext'), `${lines.join('\n')}\n`);
    const signer = by === undefined ? ['-selfsign'] : ['-cert', by.certFile];
    const dates = ['-startdate', asn1(from), '-enddate', asn1(until)];
    openssl(
      ...['ca', '-batch', '-notext', '-config', this.config(), '-md', digest, ...dates],
      ...['-in', at('csr'), '-out', at('crt'), '-extfile', at('ext')],
      ...[...signer, '-keyfile', by?.keyFile ?? keyFile],
    );
    return {
      name,
      cert: readFileSync(at('crt'), 'latin1'),
      key: readFileSync(keyFile, 'latin1'),
      certFile: at('crt'),
      keyFile,
    };
  }

  /** A file of this content. */
  file(name: string, text: string, mode = 0o644): string {
    const path = join(this.directory, name);
    writeFileSync(path, text, { mode });
    return path;
  }

  private config(): string {
    const path = join(this.directory, 'ca.cnf');
    const index = join(this.directory, 'index.txt');
    writeFileSync(index, '');
    writeFileSync(`${index}.attr`, 'unique_subject = no\n');
    writeFileSync(
      path,
      `[ca]\ndefault_ca=it\n[it]\ndatabase=${index}\nnew_certs_dir=${this.directory}\npolicy=any\nrand_serial=yes\nunique_subject=no\n` +
        '[any]\ncountryName=optional\norganizationName=optional\ncommonName=optional\n' +
        '[req]\ndistinguished_name=dn\n[dn]\n',
    );
    return path;
  }
}

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** GeneralizedTime, days from now. */
function asn1(days: number): string {
  return new Date(Date.now() + days * DAY).toISOString().replace(/[-:T]|\.\d+/g, '');
}
