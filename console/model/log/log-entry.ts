// One group of the kept log, unpacked. Its summary is read from its records on first use and kept: of twenty thousand
// groups a second a screen shows thirty.

import { RecordCursor } from '../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import { isFragment, isRestart, livesOf } from './request-group.ts';
import { EMPTY_SUMMARY, type Summary, summarise } from './transaction.ts';

export class LogEntry {
  readonly seq: number;
  /** The transactions of one group, the outermost first; empty for a gap. */
  readonly transactions: readonly LogTransaction[];
  /** A mark instead of data: the daemon restarted, records were lost. */
  readonly gap: string;
  private read: Summary | null = null;
  private displayed: readonly number[] | null = null;
  private failing: Summary | null | undefined;
  private fetchFailed: string | undefined;

  constructor(seq: number, transactions: readonly LogTransaction[], gap: string) {
    this.seq = seq;
    this.transactions = transactions;
    this.gap = gap;
  }

  /** The group's main request, else its first transaction. */
  get main(): LogTransaction | undefined {
    const first = this.transactions[0];
    return first === undefined || first.type === 'request'
      ? first
      : (this.transactions.find((tx) => tx.type === 'request') ?? first);
  }

  /** The request as the client sent it, with the outcome of its last life. */
  get summary(): Summary {
    this.read ??= summariseLives(this.lives);
    return this.read;
  }

  /** Number of restarts of the main request. */
  get restarts(): number {
    return Math.max(0, this.lives.length - 1);
  }

  private get lives(): readonly LogTransaction[] {
    const { main } = this;
    return main === undefined ? [] : livesOf(this.transactions, main);
  }

  /** Indexes of the transactions in tree order: each before its children, which precede its next sibling. The log
   * has a page's fragments first and their fetches last. */
  get order(): readonly number[] {
    this.displayed ??= this.transactions.some((tx) => tx.reason === 'esi')
      ? depthFirst(this.transactions)
      : this.transactions.map((_tx, n) => n);
    return this.displayed;
  }

  /** Number of requests for fragments of the page. */
  get fragments(): number {
    let count = 0;
    for (const tx of this.transactions) if (isFragment(tx)) count++;
    return count;
  }

  /** The outcome with a status from 500 on: of the request, else of a fragment of its page; null when none failed. */
  get failure(): Summary | null {
    if (this.failing === undefined) this.failing = this.findFailure();
    return this.failing;
  }

  private findFailure(): Summary | null {
    if (this.summary.status >= 500) return this.summary;
    for (const tx of this.transactions) {
      if (tx === this.main || tx.type !== 'request' || isRestart(tx)) continue;
      const ended = summariseLives(livesOf(this.transactions, tx));
      if (ended.status >= 500) return ended;
    }
    return null;
  }

  /** The error of a failed fetch of the group, '' when none failed. */
  get fetchError(): string {
    this.fetchFailed ??= this.findFetchError();
    return this.fetchFailed;
  }

  private findFetchError(): string {
    if (this.failure === null) return '';
    for (const tx of this.transactions) {
      if (tx.type !== 'bereq') continue;
      const { error } = summarise(tx);
      if (error !== '') return error;
    }
    return '';
  }

  /** A status from 500 on, or an error in the main request. */
  get failed(): boolean {
    return this.summary.status >= 500 || this.summary.error !== '';
  }

  /** The bytes of the first URL of the main request; empty when it has none. */
  get url(): Uint8Array {
    const records = this.main?.records ?? new Uint8Array();
    const cursor = new RecordCursor(records);
    while (cursor.next())
      if (cursor.tag === Tag.ReqURL || cursor.tag === Tag.BereqURL)
        return records.subarray(cursor.from, cursor.to);
    return new Uint8Array();
  }
}

function summariseLives(lives: readonly LogTransaction[]): Summary {
  const [first, last] = [lives[0], lives.at(-1)];
  if (first === undefined || last === undefined) return EMPTY_SUMMARY;
  const asked = summarise(first);
  return first === last ? asked : { ...summarise(last), method: asked.method, url: asked.url, at: asked.at };
}

function depthFirst(transactions: readonly LogTransaction[]): number[] {
  const children = new Map<number, number[]>();
  const known = new Set(transactions.map((tx) => tx.vxid));
  const roots: number[] = [];
  transactions.forEach((tx, n) => {
    if (tx.parent === tx.vxid || !known.has(tx.parent)) roots.push(n);
    else {
      const list = children.get(tx.parent);
      if (list === undefined) children.set(tx.parent, [n]);
      else list.push(n);
    }
  });
  const out: number[] = [];
  const left = roots.reverse();
  for (let n = left.pop(); n !== undefined; n = left.pop()) {
    out.push(n);
    const below = children.get((transactions[n] as LogTransaction).vxid) ?? [];
    // Children are taken once: a duplicate id in a recording must not show them twice.
    children.delete((transactions[n] as LogTransaction).vxid);
    left.push(...below.reverse());
  }
  // A cycle of parents, which no writer makes, has no root.
  if (out.length < transactions.length) return transactions.map((_tx, n) => n);
  return out;
}
