// What a log subscription lets through: query over whole groups, then sides, then records; with a limit on
// the rate and on the number of groups. The manager runs it for its subscribers, the log tool for files.

import { recordSide } from '../protocol/log-record.ts';
import type { LogSubscription, LogTransaction } from '../protocol/messages.ts';
import { compileQuery, type Matcher } from './compile.ts';
import { formatQueryError, parseQuery } from './parse.ts';
import { compileRecordFilters, filterRecords, type RecordPredicate } from './record-filter.ts';

export interface SelectionError {
  code: 'bad-query' | 'bad-filter';
  message: string;
  /** For a query: message, query and marks on three lines. */
  detail: string;
}

export class LogSelection {
  /** Groups suppressed by the rate limit since the last look. */
  suppressed = 0;
  /** Groups let through. */
  passed = 0;
  private readonly sub: LogSubscription;
  private readonly match: Matcher | null;
  private readonly show: RecordPredicate | null;
  private readonly sides: boolean;
  private windowStart = 0;
  private inWindow = 0;

  private constructor(sub: LogSubscription, match: Matcher | null, show: RecordPredicate | null) {
    this.sub = sub;
    this.match = match;
    this.sides = sub.client === true || sub.backend === true;
    this.show = sub.grouping === 'raw' && this.sides ? bySide(sub, show) : show;
  }

  static create(sub: LogSubscription): LogSelection | SelectionError {
    const caseless = sub.caseless === true;
    let match: Matcher | null = null;
    if (sub.query !== undefined) {
      const parsed = parseQuery(sub.query, { caseless });
      if (!parsed.ok) {
        return {
          code: 'bad-query',
          message: parsed.error.message,
          detail: formatQueryError(sub.query, parsed.error),
        };
      }
      match = compileQuery(parsed.query);
    }
    const filters = compileRecordFilters(sub.filters ?? [], caseless);
    if ('error' in filters) return { code: 'bad-filter', message: filters.error, detail: filters.error };
    return new LogSelection(sub, match, filters.show);
  }

  /** Whether the number of groups asked for has been reached. */
  get done(): boolean {
    return this.sub.max !== undefined && this.passed >= this.sub.max;
  }

  /** What is to be shown of this group, null for nothing. `now` in seconds. */
  take(group: LogTransaction[], now: number): LogTransaction[] | null {
    if (this.done || (this.match !== null && !this.match(group))) return null;
    let shown: LogTransaction[] = [];
    for (const tx of group) {
      if (this.sides && !this.onSide(tx)) continue;
      const records = this.show === null ? tx.records : filterRecords(tx.records, this.show);
      if (tx.level === 0 && records.length === 0) continue;
      shown.push(records === tx.records ? tx : { ...tx, records });
    }
    if (shown.length === 0) return null;
    if (!this.inRate(now)) return null;
    this.passed++;
    shown = shown.map((tx, i) => ({ ...tx, first: i === 0 }));
    return shown;
  }

  private onSide(tx: LogTransaction): boolean {
    if (tx.type === 'raw') return true;
    if (tx.type === 'bereq') return this.sub.backend === true;
    if (tx.type !== 'request' || this.sub.client !== true) return false;
    return tx.reason !== 'esi' || this.sub.esi === true;
  }

  private inRate(now: number): boolean {
    const { rate } = this.sub;
    if (rate === undefined) return true;
    if (now - this.windowStart >= rate.period) {
      this.windowStart = now;
      this.inWindow = 0;
    }
    if (this.inWindow >= rate.count) {
      this.suppressed++;
      return false;
    }
    this.inWindow++;
    return true;
  }
}

function bySide(sub: LogSubscription, show: RecordPredicate | null): RecordPredicate {
  return (records, at) => {
    const side = recordSide(records, at);
    if (!((side === 'c' && sub.client === true) || (side === 'b' && sub.backend === true))) return false;
    return show === null || show(records, at);
  };
}
