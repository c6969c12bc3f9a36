// The shared secret of TCP consoles and of the text CLI, and the two ways to prove that one knows it.
//
// The secret never leaves this module; answers are compared in constant time. Caution: the text CLI hashes
// challenge, secret, challenge (varnish-cli(7)); the console protocol takes an HMAC over the challenge
// and the address that the client has connected to (protocol/proof.ts).

import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { writeOwn } from '../../protocol/files/own-file.ts';
import { readSecretFile } from '../../protocol/files/secret-file.ts';
import { proofText } from '../../protocol/proof.ts';
import { systemText } from '../../protocol/system-text.ts';
import { WORKDIR_FILES } from '../../protocol/workdir.ts';
import { OptionError } from './option-error.ts';

export class Secret {
  private readonly bytes: Buffer | null;

  /** `null`: nobody has to prove anything (-S none). */
  constructor(bytes: Buffer | null) {
    this.bytes = bytes;
  }

  get isNone(): boolean {
    return this.bytes === null;
  }

  /** Whether `mac` is the HMAC-SHA256 that answers the challenge at the address `to`, in hex. */
  checkMac(challenge: string, to: string, mac: string): boolean {
    if (this.bytes === null) return false;
    return same(createHmac('sha256', this.bytes).update(proofText(challenge, to)).digest('hex'), mac);
  }

  /** Whether `answer` answers the text CLI's challenge. */
  checkCliAnswer(challenge: string, answer: string): boolean {
    if (this.bytes === null) return true;
    const hash = createHash('sha256')
      .update(`${challenge}\n`)
      .update(this.bytes)
      .update(`${challenge}\n`)
      .digest('hex');
    return same(hash, answer.toLowerCase());
  }
}

/** 32 random bytes in hex, for the console protocol. */
export function newChallenge(): string {
  return randomBytes(32).toString('hex');
}

/** 32 random small letters, for the text CLI. */
export function newCliChallenge(): string {
  return Array.from({ length: 32 }, () => String.fromCharCode(97 + randomInt(26))).join('');
}

/** The secret of -S (`none` asks for none), or a new one in the working directory. Throws OptionError.
 * @param warn gets what the operator should know about the file */
export function loadSecret(file: string | null, dir: string, warn: (text: string) => void): Secret {
  if (file === 'none') return new Secret(null);
  if (file !== null) {
    try {
      const { bytes, warning } = readSecretFile(file, true);
      if (warning !== '') warn(`-S file (${file}): ${warning}`);
      return new Secret(bytes);
    } catch (cause) {
      throw new OptionError(`Cannot open -S file (${file}): ${systemText(cause)}`);
    }
  }
  const bytes = Buffer.from(`${randomBytes(64).toString('hex')}\n`);
  const path = join(dir, WORKDIR_FILES.secret);
  try {
    writeOwn(path, bytes, 0o600);
  } catch (cause) {
    throw new OptionError(`Cannot write the secret ${path}: ${systemText(cause)}`, false);
  }
  return new Secret(bytes);
}

function same(expected: string, given: string): boolean {
  const a = Buffer.from(expected);
  const b = Buffer.from(given);
  return a.length === b.length && timingSafeEqual(a, b);
}
