// The keys of session tickets (RFC 5077, RFC 8446): made here, so that sessions resume after a worker has died, and kept in
// a file of the working directory, so that they resume after the manager was killed. A new key makes tickets for an hour;
// it is accepted for two more, and then forgotten everywhere: a thief of a later one cannot read earlier sessions.

import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, readFileSync } from 'node:fs';
import { openRegular, stranger, writeOwn } from '../../../protocol/files/own-file.ts';
import { systemText } from '../../../protocol/system-text.ts';
import type { TicketKey } from '../../tls/tls-settings.ts';

/** Seconds that a key makes tickets (chosen), and keys that are accepted. */
const PERIOD = 3600;
const KEPT = 3;
const LARGEST = 4096;

interface AgedKey extends TicketKey {
  /** Epoch seconds. */
  readonly made: number;
}

export class TicketKeys {
  readonly #path: string;
  readonly #warn: (text: string) => void;
  readonly #now: () => number;
  #aged: readonly AgedKey[];
  #removeFile: () => void = () => {};

  /** Takes the keys of the file that are not too old. @param now returns epoch seconds */
  constructor(path: string, warn: (text: string) => void, now: () => number = () => Date.now() / 1000) {
    this.#path = path;
    this.#warn = warn;
    this.#now = now;
    this.#aged = readKeys(path).filter((key) => this.#isYoung(key, KEPT * PERIOD));
    this.rotate();
  }

  /** The newest first. */
  get keys(): readonly TicketKey[] {
    return this.#aged.map(({ name, aes, hmac }) => ({ name, aes, hmac }));
  }

  /** Makes a key if the newest has made tickets long enough; returns whether the keys have changed. */
  rotate(): boolean {
    const [newest] = this.#aged;
    if (newest !== undefined && this.#isYoung(newest, PERIOD)) return false;
    const random = (bytes: number): string => randomBytes(bytes).toString('base64');
    const made = { name: random(16), aes: random(16), hmac: random(32), made: Math.floor(this.#now()) };
    const young = this.#aged.filter((key) => this.#isYoung(key, KEPT * PERIOD));
    this.#aged = [made, ...young].slice(0, KEPT);
    this.#save();
    return true;
  }

  /** After an orderly end nothing is left. */
  removeFile(): void {
    this.#removeFile();
  }

  #isYoung({ made }: AgedKey, seconds: number): boolean {
    const age = this.#now() - made;
    // A key from the future is of a clock that was wrong.
    return age >= -PERIOD && age < seconds;
  }

  #save(): void {
    try {
      this.#removeFile = writeOwn(this.#path, JSON.stringify(this.#aged), 0o600);
    } catch (cause) {
      this.#warn(
        `Cannot write ${this.#path}: ${systemText(cause)}; TLS sessions will not resume if this process is killed`,
      );
    }
  }
}

/** The keys of a file that only this user can have written; none if it is incomplete. */
function readKeys(path: string): AgedKey[] {
  let fd: number;
  try {
    fd = openRegular(path);
  } catch {
    return [];
  }
  try {
    const stat = fstatSync(fd);
    if (stranger(stat) !== null || (stat.mode & 0o077) !== 0 || stat.size > LARGEST) return [];
    const read: unknown = JSON.parse(readFileSync(fd, 'utf8'));
    return Array.isArray(read) && read.every(isKey) ? read : [];
  } catch {
    return [];
  } finally {
    closeSync(fd);
  }
}

function isKey(value: unknown): value is AgedKey {
  if (typeof value !== 'object' || value === null) return false;
  const { name, aes, hmac, made } = value as Partial<Record<keyof AgedKey, unknown>>;
  const is = (text: unknown, bytes: number): boolean =>
    typeof text === 'string' && Buffer.from(text, 'base64').length === bytes;
  return is(name, 16) && is(aes, 16) && is(hmac, 32) && typeof made === 'number' && Number.isFinite(made);
}
