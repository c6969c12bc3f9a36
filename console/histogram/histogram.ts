// The distribution of one number over the last transactions, on a logarithmic scale, hits apart from misses.

import { RecordCursor } from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { Profile } from './profile.ts';

/** Buckets per power of ten. */
export const RESOLUTION = 100;
/** Number of values in the histogram. */
const KEPT = 5000;

export class Histogram {
  readonly profile: Profile;
  readonly hits: number[];
  readonly misses: number[];
  /** The last values: bucket times two, plus one for a hit. */
  private readonly ring = new Int32Array(KEPT);
  private next = 0;
  private held = 0;

  constructor(profile: Profile) {
    this.profile = profile;
    const buckets = (profile.max - profile.min) * RESOLUTION;
    this.hits = new Array<number>(buckets).fill(0);
    this.misses = new Array<number>(buckets).fill(0);
  }

  /** Values held. */
  get size(): number {
    return this.held;
  }

  add(group: readonly LogTransaction[]): void {
    for (const tx of group) this.addTransaction(tx);
  }

  private addTransaction(tx: LogTransaction): void {
    const { tag, prefix, field } = this.profile;
    let value = Number.NaN;
    let hit = false;
    const cursor = new RecordCursor(tx.records);
    while (cursor.next()) {
      if (cursor.tag === Tag.Hit) hit = true;
      if (cursor.tag !== tag) continue;
      const { text } = cursor;
      if (prefix !== '' && !text.toLowerCase().startsWith(`${prefix.toLowerCase()}:`)) continue;
      // The prefix counts as a field.
      value = Number.parseFloat(text.trim().split(/\s+/)[field - 1] ?? '');
    }
    if (value >= 0) this.count(value, hit);
  }

  private count(value: number, hit: boolean): void {
    const { min } = this.profile;
    const last = this.hits.length - 1;
    const place = value === 0 ? 0 : Math.round(RESOLUTION * Math.log10(value)) - min * RESOLUTION;
    const bucket = Math.min(Math.max(place, 0), last);
    if (this.held === KEPT) {
      const old = this.ring[this.next] as number;
      const list = (old & 1) === 1 ? this.hits : this.misses;
      list[old >> 1] = (list[old >> 1] as number) - 1;
    } else this.held++;
    this.ring[this.next] = bucket * 2 + (hit ? 1 : 0);
    this.next = (this.next + 1) % KEPT;
    const list = hit ? this.hits : this.misses;
    list[bucket] = (list[bucket] as number) + 1;
  }
}
