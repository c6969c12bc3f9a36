// The selection of a log subscription: the query over complete groups, then the limits on rate and number, then
// sides, then records. Run by the manager for its subscribers, and by the log tool for files. If a query exceeds the
// effort allowed per group, the group is dropped and counted. As in varnishlog: a group counts against the limits
// even if sides and record filters then leave nothing of it; and with both sides selected a record would have to be
// on both, so only headers are printed.

import { countRecords, recordSide, recordTag } from '../protocol/log-record.ts';
import type { LogSubscription, LogTransaction } from '../protocol/messages.ts';
import { isSubtask } from '../protocol/subtask.ts';
import { Tag } from '../protocol/tables/tags.ts';
import { compileQuery, type Matcher } from './compile-query.ts';
import { allOf, formatQueryError, parsing } from './parse-query.ts';
import { compileRecordFilters, filterRecords, type RecordPredicate } from './record-filter.ts';
import { Effort } from './text-pattern.ts';

export interface SelectionError {
  code: 'bad-query' | 'bad-filter';
  message: string;
  /** For a query: message, query and marks on three lines. */
  detail: string;
}

export class LogSelection {
  /** Groups suppressed by the rate limit, since last read. */
  suppressed = 0;
  /** Records of groups that exceeded the effort, since last read. */
  undecided = 0;
  /** Groups passed. */
  passed = 0;
  private readonly sub: LogSubscription;
  private readonly match: Matcher | null;
  private readonly show: RecordPredicate | null;
  private readonly sides: boolean;
  /** Groups currently allowed by the rate: one at first, then refilled evenly up to the count. */
  private credit = 1;
  private creditAt = -1;

  private readonly effort: Effort;

  private constructor(
    sub: LogSubscription,
    match: Matcher | null,
    show: RecordPredicate | null,
    effort: Effort,
  ) {
    this.effort = effort;
    this.sub = sub;
    this.match = match;
    this.sides = sub.client === true || sub.backend === true;
    const kept = sub.recording === true && show !== null ? orFrame(show) : show;
    this.show = this.sides ? bySide(sub, kept) : kept;
  }

  static create(sub: LogSubscription, effort = Effort.alone()): LogSelection | SelectionError {
    return allOf(LogSelection.creating(sub, effort));
  }

  /** create() in steps, between which a thread that has other work may do it. */
  static *creating(sub: LogSubscription, effort: Effort): Generator<void, LogSelection | SelectionError> {
    const caseless = sub.caseless === true;
    let match: Matcher | null = null;
    if (sub.query !== undefined) {
      // Records are bytes, so a query has one character per byte as well: its positions count bytes.
      const query = Buffer.from(sub.query, 'utf8').toString('latin1');
      const parsed = yield* parsing(query, { caseless, effort });
      if (!parsed.ok) {
        return {
          code: 'bad-query',
          message: parsed.error.message,
          detail: Buffer.from(formatQueryError(query, parsed.error), 'latin1').toString('utf8'),
        };
      }
      match = compileQuery(parsed.query);
    }
    const filters = compileRecordFilters(sub.filters ?? [], caseless, effort);
    if ('error' in filters) return { code: 'bad-filter', message: filters.error, detail: filters.error };
    return new LogSelection(sub, match, filters.show, effort);
  }

  /** Has the requested number of groups been reached? */
  get done(): boolean {
    return this.sub.max !== undefined && this.passed >= this.sub.max;
  }

  /** The part of this group to show, null for nothing. `now` in seconds. */
  take(group: LogTransaction[], now: number): LogTransaction[] | null {
    if (this.done) return null;
    // A transaction of the other side that is alone in its group does not count.
    if (this.sides && this.sub.grouping === 'vxid' && !this.onSide(group[0] as LogTransaction)) return null;
    this.effort.renew();
    const matches = this.match === null || this.match(group);
    if (this.effort.spent) return this.leaveOut(group);
    if (!matches || !this.inRate(now)) return null;
    this.passed++;
    let shown: LogTransaction[] = [];
    for (const tx of group) {
      if (this.sides && this.sub.recording !== true && !this.onSide(tx)) continue;
      const records = this.show === null ? tx.records : filterRecords(tx.records, this.show);
      if (tx.level === 0 && records.length === 0) continue;
      shown.push(records === tx.records ? tx : { ...tx, records });
    }
    if (this.effort.spent) return this.leaveOut(group);
    if (shown.length === 0) return null;
    shown = shown.map((tx, i) => ({ ...tx, first: i === 0 }));
    return shown;
  }

  private leaveOut(group: readonly LogTransaction[]): null {
    for (const tx of group) this.undecided += countRecords(tx.records);
    return null;
  }

  private onSide(tx: LogTransaction): boolean {
    if (tx.type === 'raw') return true;
    if (tx.type === 'bereq') return this.sub.backend === true;
    if (tx.type !== 'request' || this.sub.client !== true) return false;
    return this.sub.esi === true || !isSubtask(tx);
  }

  private inRate(now: number): boolean {
    const { rate } = this.sub;
    if (rate === undefined) return true;
    if (this.creditAt >= 0) {
      const refill = ((now - this.creditAt) / rate.period) * rate.count;
      this.credit = Math.min(rate.count, this.credit + refill);
    }
    this.creditAt = now;
    if (this.credit < 1) {
      this.suppressed++;
      return false;
    }
    this.credit--;
    return true;
  }
}

/** Records needed to read a recording back are selected whatever their tag. */
function orFrame(show: RecordPredicate): RecordPredicate {
  return (records, at) => {
    const tag = recordTag(records, at);
    return tag === Tag.Begin || tag === Tag.Link || tag === Tag.End || show(records, at);
  };
}

function bySide(sub: LogSubscription, show: RecordPredicate | null): RecordPredicate {
  return (records, at) => {
    const side = recordSide(records, at);
    if (sub.client === true && side !== 'c') return false;
    if (sub.backend === true && side !== 'b') return false;
    return show === null || show(records, at);
  };
}
