// Reports for operators, kept in memory: the last panic, recent events, and the longest turns of the event loops. They
// outlive the worker, which may have died of what they describe.

import {
  EVENT_KINDS,
  type EventKind,
  KEPT_OF_A_KIND,
  type NotedEvent,
} from '../../protocol/tables/events.ts';
import type { TurnReport } from '../link.ts';
import { LONG } from '../turns/turn-watch.ts';
import { RateLimit } from './process/worker-output.ts';

export interface Panic {
  /** Epoch seconds. */
  at: number;
  text: string;
}

export class PanicStore {
  last: Panic | null = null;

  record(text: string, at = Date.now() / 1000): void {
    this.last = { at, text };
  }

  clear(): boolean {
    const had = this.last !== null;
    this.last = null;
    return had;
  }
}

/** Characters per event (chosen): half a megabyte in all. */
const MAX_LENGTH = 500;

interface OrderedEvent {
  order: number;
  event: NotedEvent;
}

export class EventList {
  private readonly kinds = new Map<EventKind, OrderedEvent[]>(EVENT_KINDS.map((row) => [row.name, []]));

  private added = 0;

  /** `at` in epoch seconds. */
  add(kind: EventKind, text: string, at = Date.now() / 1000): NotedEvent {
    const event = { at: Math.round(at * 1000) / 1000, kind, text: cut(text) };
    const list = this.kinds.get(kind) as OrderedEvent[];
    list.push({ order: this.added++, event });
    if (list.length > KEPT_OF_A_KIND) list.shift();
    return event;
  }

  /** The oldest first. */
  all(): NotedEvent[] {
    const all = [...this.kinds.values()].flat().sort((a, b) => a.order - b.order);
    return all.map(({ event }) => event);
  }
}

/** Collapses white space and limits the length. */
function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 1)}…` : line;
}

/** Seconds. */
const WINDOW = 60;
/** Turns kept (chosen): each thread reports only its longest turns, and long ones. */
const MAX_TURNS = 100;

export interface NotedTurn {
  /** When it ended, in epoch seconds. */
  readonly at: number;
  /** "manager", or a worker thread such as "thread 0". */
  readonly where: string;
  readonly millis: number;
  readonly work: string;
  readonly of: string;
}

export class LongTurns {
  readonly #now: () => number;
  readonly #events: RateLimit<string>;
  #turns: NotedTurn[] = [];

  /** @param happened reports an event @param now returns epoch seconds */
  constructor(happened: (text: string) => void, now: () => number = () => Date.now() / 1000) {
    this.#now = now;
    this.#events = new RateLimit(happened, (count) => `${count} more long turns were suppressed`);
  }

  /** @param thread null for the manager */
  add({ millis, work, of }: TurnReport, thread: number | null): void {
    const where = thread === null ? 'manager' : `thread ${thread}`;
    this.#turns = [{ at: this.#now(), where, millis, work, of }, ...this.lately()]
      .toSorted((a, b) => b.millis - a.millis)
      .slice(0, MAX_TURNS);
    if (millis >= LONG)
      this.#events.take(
        `${where} was held up for ${Math.round(millis)} ms: ${of === '' ? work : `${of}, ${work}`}`,
      );
  }

  /** Turns of the last minute, longest first. */
  lately(): readonly NotedTurn[] {
    const since = this.#now() - WINDOW;
    this.#turns = this.#turns.filter(({ at }) => at >= since && at <= since + 2 * WINDOW);
    return this.#turns;
  }
}
