// Encrypts values that the nodes of a fleet share over a bus that others can read: AES-256-GCM with a key derived from the
// fleet's secret (HKDF, RFC 5869). A value is bound to its name, so that it cannot stand in for another.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const FORMAT = 1;
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class Sealing {
  private readonly key: Buffer;

  /** @param secret any bytes shared by all nodes only @param fleet its name */
  constructor(secret: Uint8Array, fleet: string) {
    this.key = Buffer.from(hkdfSync('sha256', secret, fleet, 'proxyd certificates', 32));
  }

  seal(name: string, text: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.key, nonce);
    cipher.setAAD(Buffer.from(name));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.from([FORMAT]), nonce, cipher.getAuthTag(), sealed]);
  }

  /** Null if the value was sealed with another secret, under another name, or not at all. */
  open(name: string, data: Uint8Array): string | null {
    const bytes = Buffer.from(data);
    const head = 1 + NONCE_BYTES + TAG_BYTES;
    if (bytes.length < head || bytes[0] !== FORMAT) return null;
    const cipher = createDecipheriv(CIPHER, this.key, bytes.subarray(1, 1 + NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    cipher.setAAD(Buffer.from(name));
    cipher.setAuthTag(bytes.subarray(1 + NONCE_BYTES, head));
    try {
      return Buffer.concat([cipher.update(bytes.subarray(head)), cipher.final()]).toString();
    } catch {
      return null;
    }
  }
}
