// Authentication of control clients: the shared secret, the two challenges that prove knowledge of it, and the throttling
// of wrong answers.
//
// The secret never leaves this module; answers are compared in constant time. The text CLI hashes challenge, secret,
// challenge (varnish-cli(7)); the console protocol takes an HMAC over the challenge and the address that the client
// connected to (protocol/proof.ts). After a few wrong answers from an address, its answers are checked one at a time with
// a pause between them, so that parallel attempts gain nothing. Other addresses and the Unix socket are unaffected.

import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { writeOwn } from '../../../protocol/files/own-file.ts';
import { readSecretFile } from '../../../protocol/files/secret-file.ts';
import { plainAddress, proofText } from '../../../protocol/proof.ts';
import { systemText } from '../../../protocol/system-text.ts';
import { WORKDIR_FILES } from '../../../protocol/workdir.ts';
import { OptionError } from '../options/option-error.ts';

export class Secret {
  private readonly bytes: Buffer | null;

  /** `null` disables authentication (-S none). */
  constructor(bytes: Buffer | null) {
    this.bytes = bytes;
  }

  get isNone(): boolean {
    return this.bytes === null;
  }

  /** Whether `mac` is the hexadecimal HMAC-SHA256 of the challenge and the address `to`. */
  checkMac(challenge: string, to: string, mac: string): boolean {
    if (this.bytes === null) return false;
    return same(createHmac('sha256', this.bytes).update(proofText(challenge, to)).digest('hex'), mac);
  }

  /** Whether `answer` is the correct response to the text CLI's challenge. */
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

/** 32 random bytes in hexadecimal, for the console protocol. */
export function newChallenge(): string {
  return randomBytes(32).toString('hex');
}

/** 32 random lowercase letters, for the text CLI. */
export function newCliChallenge(): string {
  return Array.from({ length: 32 }, () => String.fromCharCode(97 + randomInt(26))).join('');
}

/** The secret of -S (`none` disables it), or a new one in the working directory. Throws OptionError.
 * @param warn receives a warning about the file */
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

/** Wrong answers that are allowed before throttling. */
const FREE = 5;
/** Milliseconds between two answers once throttled, and the longest wait. */
const BETWEEN_MS = 1000;
const LONGEST_WAIT_MS = 5000;
/** Milliseconds that a wrong answer counts. */
const MEMORY_MS = 60_000;
/** Addresses remembered; beyond that the one with the oldest failure is dropped. */
const MAX_ADDRESSES = 1024;
/** Milliseconds before a wrong answer is rejected. */
export const WRONG_ANSWER_MS = 500;

interface Record {
  failures: number;
  last: number;
  /** When the next answer may be checked. */
  next: number;
}

export class Attempts {
  private readonly records = new Map<string, Record>();

  /** Milliseconds until an answer from this address may be checked; null if too many are queued before it. */
  wait(address: string, now = Date.now()): number | null {
    const record = this.records.get(network(address));
    if (record === undefined || record.failures < FREE || now - record.last > MEMORY_MS) return 0;
    const at = Math.max(now, record.next);
    if (at - now > LONGEST_WAIT_MS) return null;
    record.next = at + BETWEEN_MS;
    return at - now;
  }

  failed(address: string, now = Date.now()): void {
    const key = network(address);
    const old = this.records.get(key);
    this.records.delete(key);
    const counts = old !== undefined && now - old.last <= MEMORY_MS;
    this.records.set(key, { failures: counts ? old.failures + 1 : 1, last: now, next: old?.next ?? 0 });
    if (this.records.size <= MAX_ADDRESSES) return;
    const oldest = this.records.keys().next().value;
    if (oldest !== undefined) this.records.delete(oldest);
  }
}

/** The network that one party can choose addresses from: the first 64 bits of an IPv6 address. */
function network(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length);
  return [...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, 4).join(':');
}
