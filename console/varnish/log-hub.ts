// Distributes one stream of log records to many subscribers: records are grouped once per kind of grouping, then
// filtered per subscriber. Records before a subscription are read from the stored ones in runs, newest first. Special
// case: a child request is logged before its parent, since Varnish logs at the end of a request. So the part before
// the stream, or before a run, may contain children of transactions in it: both start with a lead-in.

import type { Grouping, LogSubscription, LogTransaction } from '../../protocol/messages.ts';
import { Grouper, type GroupSink } from '../../queries/group.ts';
import { LogSelection } from '../../queries/log-selection.ts';
import type { LogHandlers, Subscription } from '../client/source.ts';
import { KeptRecords } from './kept-records.ts';

/** Bytes of the stream to keep: half a minute at 1,000 requests per second (chosen). */
const KEPT_BYTES = 48 << 20;
/** Maximum open transactions (chosen): each is a request in progress. */
const OPEN = 10_000;
/** Bytes of lead-in of a grouping or a run: transactions open at its start began there. */
const LED_BYTES = 2 << 20;
/** Bytes of the first run of the past and of the largest, as in the daemon's log. */
const FIRST_RUN = 256 << 10;
const LAST_RUN = 64 << 20;
/** Bytes after a run that are searched for the ends of its last groups. */
const RUN_ON = 4 << 20;
/** Milliseconds per slice of work (chosen): keys are handled in between. */
const SLICE_MS = 4;

interface Subscriber {
  readonly sub: LogSubscription;
  readonly handlers: LogHandlers;
  readonly selection: LogSelection;
  /** Offset in the stream at which it began. */
  readonly since: number;
  batch: LogTransaction[];
  /** It has requested the past, which has not been read yet. */
  asksPast: boolean;
  closed: boolean;
}

export class LogHub {
  private readonly kept = new KeptRecords(KEPT_BYTES);
  private readonly groupers = new Map<Grouping, Grouper>();
  private readonly subscribers = new Set<Subscriber>();
  private readonly now: () => number;
  /** Records before the stream are available, or never will be. */
  private hasPast = false;

  constructor(now: () => number) {
    this.now = now;
  }

  /** Appends records as they arrive. */
  push(records: Uint8Array): void {
    this.kept.push(records);
    for (const grouper of this.groupers.values()) grouper.push(records, this.now());
    this.deliver();
  }

  /** Prepends records logged before all others. */
  past(older: readonly Uint8Array[]): void {
    const from = this.kept.start;
    this.kept.prepend(older);
    this.hasPast = true;
    for (const grouping of [...this.groupers.keys()]) if (grouping !== 'raw') this.joinPast(grouping, from);
    this.deliver();
    for (const one of this.subscribers) if (one.asksPast) void this.deliverPast(one);
  }

  /** Ends transactions that have been open too long. */
  expire(): void {
    for (const grouper of this.groupers.values()) grouper.expire(this.now());
    this.deliver();
  }

  /** The stream was interrupted, or continues with another child: open transactions will not end. */
  breakOff(): void {
    for (const grouper of this.groupers.values()) grouper.flush();
    this.deliver();
  }

  lose(records: number): void {
    for (const { handlers } of this.subscribers) handlers.lost(records, 'overrun');
  }

  subscribe(sub: LogSubscription, handlers: LogHandlers): Subscription {
    const selection = LogSelection.create(sub);
    if (!(selection instanceof LogSelection)) {
      queueMicrotask(() => handlers.failed(selection.detail));
      return { close: () => undefined };
    }
    const asksPast = sub.once === true || sub.from === 'head' || handlers.earlier !== undefined;
    const since = this.kept.end;
    const one: Subscriber = { sub, handlers, selection, since, batch: [], asksPast, closed: false };
    if (sub.once !== true) this.lead(sub.grouping);
    queueMicrotask(() => {
      if (one.closed) return;
      handlers.ready?.();
      this.subscribers.add(one);
      if (asksPast && this.hasPast) void this.deliverPast(one);
    });
    return {
      close: () => {
        one.closed = true;
        this.subscribers.delete(one);
      },
    };
  }

  /** Starts grouping of this kind. */
  private lead(grouping: Grouping): void {
    if (this.groupers.has(grouping)) return;
    let take: GroupSink = () => undefined;
    const grouper = new Grouper({ grouping, limit: OPEN }, (group) => take(group));
    for (const records of this.before(this.kept.end, grouping)) grouper.push(records, this.now());
    take = (group) => this.offer(grouping, group);
    this.groupers.set(grouping, grouper);
  }

  /** Regroups the stream since `from`, now that the preceding parts of groups are available. */
  private joinPast(grouping: Grouping, from: number): void {
    let take: GroupSink = () => undefined;
    const grouper = new Grouper({ grouping, limit: OPEN }, (group) => take(group));
    const push = (pieces: readonly Uint8Array[]): void => {
      for (const records of pieces) grouper.push(records, this.now());
    };
    push(this.before(from, grouping));
    const held = grouper.ids();
    let place = from;
    // The others were complete without the past, and have been delivered.
    take = (group) => {
      if (group.some(({ vxid }) => held.has(vxid))) this.offer(grouping, group, place);
    };
    // Subscribers that joined in between have everything complete by then in their past.
    const places = [...this.subscribers].map(({ since }) => since).filter((since) => since > from);
    for (const to of [...places, this.kept.end].sort((a, b) => a - b)) {
      push(this.kept.between(place, to));
      place = to;
    }
    take = (group) => this.offer(grouping, group);
    this.groupers.set(grouping, grouper);
  }

  /** The lead-in to an offset. */
  private before(place: number, grouping: Grouping): readonly Uint8Array[] {
    return grouping === 'raw' ? [] : this.kept.between(this.kept.back(place, LED_BYTES), place);
  }

  /** @param place offset at which it is complete; later subscribers have it in their past */
  private offer(grouping: Grouping, group: LogTransaction[], place = Number.POSITIVE_INFINITY): void {
    for (const one of this.subscribers) {
      if (one.sub.grouping !== grouping || one.sub.once === true || one.since > place) continue;
      const shown = one.selection.take(group, this.now());
      if (shown !== null) one.batch.push(...shown);
    }
  }

  private deliver(): void {
    for (const one of this.subscribers) {
      const { selection, handlers } = one;
      if (selection.suppressed > 0) handlers.lost(selection.suppressed, 'rate');
      if (selection.undecided > 0) handlers.lost(selection.undecided, 'overrun');
      selection.suppressed = 0;
      selection.undecided = 0;
      if (one.batch.length === 0) continue;
      const { batch } = one;
      one.batch = [];
      handlers.batch(batch);
    }
  }

  /** Reads the past of a subscription: in runs if it supports them, otherwise at once. */
  private async deliverPast(one: Subscriber): Promise<void> {
    one.asksPast = false;
    const { sub, handlers, since } = one;
    const begin = sub.once === true ? undefined : handlers.earlier;
    // Rate limits apply to reading, not to the time of logging.
    const { rate: _, ...rest } = sub;
    const selection = LogSelection.create(rest);
    if (!(selection instanceof LogSelection)) return;
    let before = since;
    let bytes = begin === undefined ? Number.POSITIVE_INFINITY : FIRST_RUN;
    while (!one.closed) {
      const from = this.kept.back(before, bytes);
      const run = begin?.();
      const batch = (shown: LogTransaction[]): void => {
        if (run !== undefined) run.batch(shown);
        else handlers.batch(shown);
      };
      await this.read(one, selection, { from, to: before, until: Math.min(since, before + RUN_ON) }, batch);
      if (one.closed) return;
      const more = from > this.kept.start;
      if (run === undefined || !run.done(more) || !more) break;
      before = from;
      bytes = Math.min(bytes * 4, LAST_RUN);
    }
    if (sub.once !== true) return;
    this.subscribers.delete(one);
    handlers.ended?.();
  }

  /** Groups that begin between two offsets, as far as they are complete at a third. */
  private async read(
    one: Subscriber,
    selection: LogSelection,
    { from, to, until }: { from: number; to: number; until: number },
    batch: (shown: LogTransaction[]) => void,
  ): Promise<void> {
    const { grouping } = one.sub;
    let found: LogTransaction[] = [];
    let isStarted = false;
    const grouper = new Grouper({ grouping, limit: OPEN }, (group) => {
      const shown = isStarted ? selection.take(group, 0) : null;
      if (shown !== null) found.push(...shown);
    });
    const before = this.before(from, grouping);
    const own = [...before, ...this.kept.between(from, to)];
    let ends = performance.now() + SLICE_MS;
    for (const [i, records] of [...own, ...this.kept.between(to, until)].entries()) {
      if (i === before.length) {
        grouper.beginHere();
        isStarted = true;
      }
      if (i === own.length) grouper.beginNoMore();
      if (i >= own.length && grouper.size === 0) break;
      grouper.push(records, 0);
      if (selection.done) break;
      if (performance.now() < ends) continue;
      if (found.length > 0) batch(found);
      found = [];
      await new Promise((resolve) => setImmediate(resolve));
      if (one.closed) return;
      ends = performance.now() + SLICE_MS;
    }
    if (found.length > 0) batch(found);
  }
}
