// A root of its own that signs certificates: for an authority under test, and for its server. Requests are read by openssl,
// so that they are not judged by the code that made them.
import { execFile } from 'node:child_process';
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import {
  bits,
  boolean,
  extension,
  integer,
  octets,
  oid,
  sequence,
  setOf,
  subjectAltName,
  tagged,
  time,
  utf8,
} from '../../daemon/tls/der-encoding.ts';

const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const DAY = 86_400_000;

export interface ReadRequest {
  readonly names: readonly string[];
  /** DER of its public key. */
  readonly publicKey: Buffer;
}

export class AcmeIssuer {
  readonly root: string;
  private readonly key: KeyObject;
  private readonly keyId: Buffer;
  private readonly name = nameOf('Test Root');

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.key = privateKey;
    const spki = publicKey.export({ type: 'spki', format: 'der' });
    this.keyId = createHash('sha1').update(spki).digest();
    const now = Date.now();
    this.root = this.signed(spki, this.name, now - DAY, now + 3650 * DAY, [
      extension('2.5.29.19', true, sequence(boolean(true))),
      extension('2.5.29.14', false, octets(this.keyId)),
    ]);
  }

  /** A certificate as PEM, followed by the root.
   * @param publicKey DER @param from epoch milliseconds */
  issue(publicKey: Buffer, names: readonly string[], from: number, until: number): string {
    return (
      this.signed(publicKey, nameOf(''), from, until, [
        subjectAltName(names, true),
        extension('2.5.29.35', false, sequence(Buffer.concat([Buffer.from([0x80, 20]), this.keyId]))),
      ]) + this.root
    );
  }

  /** A certificate for a server of this machine, with its key. */
  server(): { cert: string; key: string } {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const spki = publicKey.export({ type: 'spki', format: 'der' });
    const now = Date.now();
    return {
      cert: this.issue(spki, ['localhost', '127.0.0.1'], now - DAY, now + 30 * DAY),
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    };
  }

  private signed(
    publicKey: Buffer,
    subject: Buffer,
    from: number,
    until: number,
    extensions: readonly Buffer[],
  ): string {
    const serial = randomBytes(16);
    // The first bit is set, so that the number is written with a zero in front of it.
    serial[0] = (serial[0] ?? 0) | 0x80;
    const tbs = sequence(
      tagged(0, integer(Buffer.from([2]))),
      integer(serial),
      ECDSA_WITH_SHA256,
      this.name,
      sequence(time(new Date(from)), time(new Date(until))),
      subject,
      publicKey,
      tagged(3, sequence(...extensions)),
    );
    const der = sequence(tbs, ECDSA_WITH_SHA256, bits(sign('sha256', tbs, this.key)));
    const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
    return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
  }
}

function nameOf(common: string): Buffer {
  return common === '' ? sequence() : sequence(setOf(sequence(oid('2.5.4.3'), utf8(common))));
}

/** Reads and verifies a request with openssl. @param der of PKCS #10 */
export async function readRequest(der: Buffer): Promise<ReadRequest> {
  const text = await openssl(['req', '-inform', 'DER', '-noout', '-verify', '-text', '-pubkey'], der);
  if (!/verify OK/.test(text)) throw new Error(`the request is not signed by its key: ${text}`);
  const names = [...text.matchAll(/(?:DNS|IP Address):([^,\s]+)/g)].map(([, name = '']) => name);
  const pem = /-----BEGIN PUBLIC KEY-----([\s\S]+?)-----END/.exec(text)?.[1] ?? '';
  return { names, publicKey: Buffer.from(pem, 'base64') };
}

/** Standard output and error of an openssl command. */
export function openssl(args: readonly string[], input: Uint8Array | string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile('openssl', [...args], (error, stdout, stderr) =>
      error === null ? resolve(stderr + stdout) : reject(new Error(`openssl ${args[0]}: ${stderr}`)),
    );
    child.stdin?.end(input);
  });
}
