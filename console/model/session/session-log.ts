// The log of a session: the groups that are kept, those of them that the query shows, and the last errors, each with its
// subscription. Data stays when the daemon goes, and the gap is marked.

import type { Grouping } from '../../../protocol/messages.ts';
import type { EarlierRun, Source, Subscription } from '../../client/source.ts';
import { LogEntry } from '../log/log-entry.ts';
import { LogRange } from '../log/log-range.ts';
import { type LogBounds, LogStore } from '../log/log-store.ts';
import { type GroupMatcher, splitGroups } from '../log/request-group.ts';
import { ShownLog } from '../log/shown-log.ts';

export interface SessionLogOptions {
  source: Source;
  /** Epoch seconds. */
  now(): number;
  later(fn: () => void, ms: number): void;
  changed(): void;
  /** Failed requests arrived. */
  failed(): void;
  /** Records of a stream that did not arrive. */
  lost(stream: string, records: number, reason: string): void;
  bounds?: LogBounds | undefined;
  matcher: GroupMatcher;
}

export class SessionLog {
  private readonly options: SessionLogOptions;
  /** All groups that are kept. */
  readonly kept: LogStore;
  /** The kept groups that match the query. */
  readonly shown: ShownLog;
  /** The last groups that failed, whatever the query. */
  readonly errors = new LogStore({ maxBytes: 4 << 20, maxEntries: 200 });
  readonly range: LogRange;
  query = '';
  grouping: Grouping = 'request';
  /** Why the subscription does not run; '' when it does. */
  error = '';
  /** The daemon has not confirmed the subscription yet. */
  asking = false;
  private earlier = new EarlierRuns();
  private stream: Subscription | null = null;
  private errorStream: Subscription | null = null;
  private closed = false;

  constructor(options: SessionLogOptions) {
    this.options = options;
    const { source, later, changed, bounds } = options;
    this.kept = new LogStore(bounds ?? { maxBytes: 128 << 20, maxEntries: 100_000 });
    this.shown = new ShownLog(this.kept, { later, changed });
    this.range = new LogRange(source, changed);
  }

  /** Subscribes to the errors; follow() subscribes to the log. */
  start(): void {
    const { source, failed, lost } = this.options;
    this.errorStream = source.log(
      { grouping: 'request', query: 'RespStatus >= 500', from: 'tail' },
      {
        batch: (transactions) => {
          // A request that failed and was restarted is no error that a client saw.
          const seen = splitGroups(transactions).filter((g) => new LogEntry(0, g, '').failure !== null);
          this.errors.add(seen.flat());
          failed();
        },
        lost: (records, reason) => lost('errors', records, reason),
        failed: () => undefined,
        earlier: () => this.runBefore(this.errors),
      },
    );
  }

  /** (Re)opens the log with a query; '' matches all. `counted`: epoch seconds at which the oldest of the requests ended that
   * a row had counted and the query is to show; 0 where nothing was counted. */
  follow(query: string, grouping: Grouping, counted = 0): void {
    const { source, now, changed, lost, matcher } = this.options;
    this.stream?.close();
    this.query = query;
    this.grouping = grouping;
    this.error = '';
    // Replayed groups match the query; events that the source cannot replay are searched in the kept groups.
    const replays = source.canReplay === true;
    if (replays) this.kept.clear();
    this.shown.select(query === '' || replays ? null : matcher(query));
    this.asking = true;
    this.range.begin(counted, now());
    const earlier = new EarlierRuns();
    this.earlier = earlier;
    this.stream = source.log(
      { grouping, from: 'tail', ...(query === '' ? {} : { query }) },
      {
        ready: () => {
          this.asking = false;
          changed();
        },
        batch: (transactions) => {
          this.kept.add(transactions);
          changed();
        },
        lost: (records, reason) => {
          this.kept.addLoss(records, reason);
          lost('log', records, reason);
        },
        failed: (message) => {
          this.error = message;
          changed();
        },
        earlier: () => earlier.watch(this.runBefore(this.kept)),
      },
    );
    changed();
  }

  get following(): boolean {
    return this.stream !== null;
  }

  /** Whether the log from before the subscription is still being read. */
  get readingBack(): boolean {
    return this.earlier.active;
  }

  /** Drops the kept log. */
  clear(): void {
    this.kept.clear();
    this.range.end();
    this.options.changed();
  }

  /** Marks a gap in the kept log. */
  gap(text: string): void {
    if (this.stream !== null) this.kept.addGap(text);
  }

  /** The connection is lost, and with it the reading of earlier groups. */
  disconnected(): void {
    this.earlier = new EarlierRuns();
  }

  close(): void {
    this.closed = true;
    this.stream?.close();
    this.errorStream?.close();
    this.range.end();
  }

  /** Takes groups from before the oldest of a store. */
  private runBefore(store: LogStore): EarlierRun {
    const part = store.before();
    return {
      batch: (transactions) => part.add(transactions),
      done: () => {
        store.prepend(part);
        if (store === this.kept) this.shown.extended();
        this.options.changed();
        return !this.closed && store.hasRoom;
      },
    };
  }
}

/** Runs of an earlier log that are being read, or will be: between two runs nothing is in progress. Each of two merged
 * instances has its own runs. */
class EarlierRuns {
  private open = 0;
  private due = 0;

  get active(): boolean {
    return this.open + this.due > 0;
  }

  /** A run that begins now. */
  watch(run: EarlierRun): EarlierRun {
    if (this.due > 0) this.due--;
    this.open++;
    return {
      batch: (transactions) => run.batch(transactions),
      done: (more) => {
        this.open--;
        const wanted = run.done(more);
        if (wanted && more) this.due++;
        return wanted;
      },
    };
  }
}
