// Wrong answers to challenges, by address. After a few of them the answers from that address, right ones too, are looked
// at one after the other with a pause between them, so that trying more at a time gains nothing. No other address
// notices, and the Unix socket, which asks for no answer, does not either.

import { isIPv6 } from 'node:net';
import { plainAddress } from '../../protocol/proof.ts';

/** Wrong answers that an operator's mistakes may take. */
const FREE = 5;
/** Milliseconds between two answers after that, and how long one waits at the most. */
const BETWEEN_MS = 1000;
const LONGEST_WAIT_MS = 5000;
/** How long a wrong answer counts. */
const MEMORY_MS = 60_000;
/** Addresses remembered; the one whose last wrong answer is longest ago makes way. */
const MAX_ADDRESSES = 1024;
/** How long the one who gave a wrong answer waits for the word. */
export const WRONG_ANSWER_MS = 500;

interface Record {
  failures: number;
  last: number;
  /** When the next answer may be looked at. */
  next: number;
}

export class Attempts {
  private readonly records = new Map<string, Record>();

  /** Milliseconds until an answer from this address is looked at; null when too many wait before it. */
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

/** What one party can choose addresses from: of IPv6 the first 64 bits. */
function network(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length);
  return [...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, 4).join(':');
}
