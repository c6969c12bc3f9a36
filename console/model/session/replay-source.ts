// A source that plays a recording on an external clock: advance() delivers the recorded events, in order. For
// screenshots, tests, and recordings opened without a daemon.

import type { CommandReply, Grouping, LogSubscription, LogTransaction } from '../../../protocol/messages.ts';
import type { LogHandlers, Source, SourceEvents, Subscription } from '../../client/source.ts';
import { type GroupMatcher, splitGroups } from '../log/request-group.ts';
import { EVENTS_ASKED, eventsUntil } from './event-log.ts';
import { decodeTransaction, type Recording } from './recording.ts';

export interface ReplayOptions {
  recording: Recording;
  matcher: GroupMatcher;
  label?: string;
  /** Subscriptions begin with the log played before them. */
  canReplay?: boolean;
  /** Shown as a recording? */
  recorded?: boolean;
}

export class ReplaySource implements Source {
  readonly label: string;
  readonly canReplay: boolean;
  readonly recorded: boolean;
  readonly eventLimits?: string;
  private readonly recording: Recording;
  private readonly matcher: GroupMatcher;
  private events: SourceEvents | null = null;
  private readonly streams = new Set<{
    handlers: LogHandlers;
    grouping: Grouping;
    match: (group: readonly LogTransaction[]) => boolean;
  }>();
  private values: bigint[] = [];
  /** By command line, once it is no longer the first answer. */
  private readonly answers = new Map<string, CommandReply>();
  private next = 0;
  /** Epoch seconds of the position. */
  private at: number;
  /** Commands received, in order. */
  readonly sent: string[] = [];

  constructor(options: ReplayOptions) {
    this.recording = options.recording;
    this.at = options.recording.start;
    this.matcher = options.matcher;
    this.label = options.label ?? 'recording';
    this.canReplay = options.canReplay === true;
    this.recorded = options.recorded === true;
    const { commands, steps } = options.recording;
    // A log that was never a session has no events.
    if (commands[EVENTS_ASKED] === undefined && !steps.some((step) => step.kind === 'event'))
      this.eventLimits = 'events are not part of this recording';
  }

  start(events: SourceEvents): void {
    this.events = events;
  }

  /** Delivers all steps up to `seconds` after the beginning; true if more are left. */
  advance(seconds: number): boolean {
    const { steps, start } = this.recording;
    this.at = start + seconds;
    for (; this.next < steps.length; this.next++) {
      const step = steps[this.next] as (typeof steps)[number];
      if (step.after > seconds) return true;
      this.deliver(step);
    }
    return false;
  }

  async command(line: string): Promise<CommandReply> {
    this.sent.push(line);
    // After the seek: it plays all steps up to the position synchronously, and commands are sent at its beginning.
    await Promise.resolve();
    const recorded = this.answers.get(line) ?? this.recording.commands[line];
    if (recorded === undefined) return { status: 101, body: 'Not part of this recording.\nUnknown request.' };
    // The list may have been requested late in the recording: later events are left out.
    const body = line === EVENTS_ASKED ? eventsUntil(recorded.body, this.at) : recorded.body;
    return { ...recorded, body };
  }

  log(sub: LogSubscription, handlers: LogHandlers): Subscription {
    const match = sub.query === undefined ? () => true : this.matcher(sub.query);
    // The log played so far is the content of the ring.
    handlers.ready?.();
    if (sub.once === true || this.canReplay) this.replay(sub, match, handlers);
    if (sub.once === true) {
      queueMicrotask(() => handlers.ended?.());
      return { close: () => undefined };
    }
    const stream = { handlers, grouping: sub.grouping, match };
    this.streams.add(stream);
    return { close: () => this.streams.delete(stream) };
  }

  setInterval(): void {}

  sampleNow(): void {}

  close(): void {
    this.streams.clear();
    this.events = null;
  }

  private replay(
    { grouping, max = Number.POSITIVE_INFINITY }: LogSubscription,
    match: (group: readonly LogTransaction[]) => boolean,
    handlers: LogHandlers,
  ): void {
    let left = max;
    for (const step of this.recording.steps.slice(0, this.next)) {
      if (step.kind !== 'log') continue;
      if (left <= 0) return;
      const groups = groupsOf(step.transactions.map(decodeTransaction), grouping).filter(match);
      const matched = groups.slice(0, left).flat();
      left -= groups.length;
      if (matched.length > 0) handlers.batch(matched);
    }
  }

  private deliver(step: Recording['steps'][number]) {
    const { events } = this;
    const at = this.recording.start + step.after;
    switch (step.kind) {
      case 'up':
        return events?.connection({ state: 'up', identity: step.identity, version: step.version });
      case 'down':
        return events?.connection({ state: 'waiting', attempt: 0, retryAt: at + 1, reason: step.reason });
      case 'counters':
        this.values = step.info.map(() => 0n);
        return events?.counters(step.info);
      case 'values':
        for (const [index, value] of step.changed) this.values[index] = BigInt(value);
        return events?.values(step.at ?? at, [...this.values]);
      case 'answer':
        this.answers.set(step.line, { status: step.status, body: step.body });
        return undefined;
      case 'event':
        return events?.event(step.event, step.text, step.noted);
      case 'log': {
        const transactions = step.transactions.map(decodeTransaction);
        for (const { handlers, grouping, match } of this.streams) {
          const matched = groupsOf(transactions, grouping).filter(match).flat();
          if (matched.length > 0) handlers.batch(matched);
        }
        return undefined;
      }
    }
  }
}

/** The groups of a recorded step, by request or by transaction. */
function groupsOf(transactions: readonly LogTransaction[], grouping: Grouping): LogTransaction[][] {
  return grouping === 'vxid'
    ? transactions.map((tx) => [{ ...tx, level: 1, first: true }])
    : splitGroups(transactions);
}
