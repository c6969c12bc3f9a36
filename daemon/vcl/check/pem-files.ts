// Certificates and keys that a program names, read when it is compiled: by the manager, so that their files need not be
// readable for the worker. The program refers to them by digest. Errors name the file and never quote it.

import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { fileReader, type PathReader, type ReaderOptions } from '../include-path.ts';

/** Bytes (chosen): the authorities of a system are a few hundred kilobytes. */
const LARGEST = 4 << 20;
/** Where Debian keeps the authorities of the system. */
const SYSTEM_STORE = '/etc/ssl/certs/ca-certificates.crt';
const READABLE_BY_ALL = 0o004;
/** A name may be that of a pipe: opening it must not wait for a writer. */
const READ_WITHOUT_WAITING = constants.O_RDONLY | constants.O_NONBLOCK;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const KEY = /-----BEGIN ([A-Z ]*)PRIVATE KEY-----[\s\S]*?-----END \1PRIVATE KEY-----/;
const NO_CERTIFICATE = 'there is no certificate in it (PEM, BEGIN CERTIFICATE)';

/** A file that cannot be used: its name, and the reason for the operator. */
export interface PemProblem {
  readonly file: string;
  readonly why: string;
}

export interface ClientCertificate {
  /** Digests of the certificate with its chain, and of the key. */
  readonly cert: string;
  readonly key: string;
  /** The date at which it ended, if it has; else null. */
  readonly ended: string | null;
}

interface PemFile {
  readonly file: string;
  readonly text: string;
  readonly mode: number;
}

export class PemFiles {
  /** Texts by digest. */
  readonly texts = new Map<string, string>();
  private readonly reader: PathReader;
  private readonly modes = new Map<string, number>();

  /** @param options how other files of the program are found; these always come from the file system */
  constructor({ vclPath }: Pick<ReaderOptions, 'vclPath'>) {
    this.reader = fileReader({ vclPath, readFile: (path) => this.read(path), shipped: () => undefined });
  }

  /**
   * The authorities in a file.
   * @param from the file that names it, for names that begin with "./"
   * @returns their digest
   */
  authorities(name: string, from: string): string | PemProblem {
    const file = this.find(name, from);
    if ('why' in file) return file;
    const found = certificatesIn(file);
    return 'why' in found ? found : this.keep(found.pem);
  }

  /** The authorities of the system: the worker parses them, since all of them take as long as many requests. */
  systemAuthorities(): string | PemProblem {
    const file = this.find(process.env.SSL_CERT_FILE || SYSTEM_STORE, '/');
    if ('why' in file) return file;
    const pem = file.text.match(CERTIFICATE);
    return pem === null ? { file: file.file, why: NO_CERTIFICATE } : this.keep(pem);
  }

  /**
   * A certificate with its chain, the leaf first, and its key.
   * @param keyName null if the key is in the file of the certificate
   */
  client(name: string, keyName: string | null, from: string): ClientCertificate | PemProblem {
    const file = this.find(name, from);
    if ('why' in file) return file;
    const found = certificatesIn(file);
    if ('why' in found) return found;
    const keyFile = keyName === null ? file : this.find(keyName, from);
    if ('why' in keyFile) return keyFile;
    const key = keyIn(keyFile, found.leaf);
    if (typeof key !== 'string') return key;
    const { validTo } = found.leaf;
    const isOver = Date.parse(validTo) < Date.now();
    return { cert: this.keep(found.pem), key: this.keep([key]), ended: isOver ? validTo : null };
  }

  private find(name: string, from: string): PemFile | PemProblem {
    const found = this.reader.resolve(name, from);
    if (typeof found === 'string') return { file: name, why: found };
    return { file: found.name, text: found.text, mode: this.modes.get(found.name) as number };
  }

  private read(path: string): string {
    const fd = openSync(path, READ_WITHOUT_WAITING);
    try {
      const facts = fstatSync(fd);
      if (!facts.isFile()) throw Object.assign(new Error(), { code: 'not a regular file' });
      if (facts.size > LARGEST) throw Object.assign(new Error(), { code: `larger than ${LARGEST} bytes` });
      this.modes.set(path, facts.mode);
      return readFileSync(fd, 'latin1');
    } finally {
      closeSync(fd);
    }
  }

  private keep(pem: readonly string[]): string {
    const text = `${pem.join('\n')}\n`;
    const digest = createHash('sha256').update(text).digest('hex');
    this.texts.set(digest, text);
    return digest;
  }
}

/** The certificates of a text, each parsed; the first is the leaf. */
function certificatesIn({ file, text }: PemFile): { pem: string[]; leaf: X509Certificate } | PemProblem {
  const pem = text.match(CERTIFICATE);
  if (pem === null) return { file, why: NO_CERTIFICATE };
  let leaf: X509Certificate | null = null;
  for (const [i, each] of pem.entries()) {
    try {
      const parsed = new X509Certificate(each);
      leaf ??= parsed;
    } catch {
      return { file, why: `certificate ${i + 1} of ${pem.length} in it is damaged` };
    }
  }
  return { pem, leaf: leaf as X509Certificate };
}

/** The key in a text, as PEM, which must be that of the certificate. */
function keyIn({ file, text, mode }: PemFile, leaf: X509Certificate): string | PemProblem {
  const pem = KEY.exec(text)?.[0];
  if (pem === undefined) return { file, why: 'there is no key in it (PEM, BEGIN PRIVATE KEY)' };
  if ((mode & READABLE_BY_ALL) !== 0)
    return { file, why: 'every user of this machine can read the key in it; chmod 600 the file' };
  if (/^-----BEGIN ENCRYPTED|^Proc-Type:.*ENCRYPTED/m.test(pem))
    return {
      file,
      why: 'the key in it has a passphrase, which nobody can enter here; remove it with openssl pkey',
    };
  try {
    if (leaf.checkPrivateKey(createPrivateKey(pem))) return pem;
  } catch {
    // The text of the library's error is of no help, and might quote the file.
    return { file, why: 'the key in it is damaged or of an unsupported kind' };
  }
  return {
    file,
    why: `the key in it is not that of the certificate (${leaf.subject.replaceAll('\n', ', ')})`,
  };
}
