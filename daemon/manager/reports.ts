// Reports for operators, kept in memory: the last panic, recent events, and the longest turns of the event loops. They
// outlive the worker, which may have died of what they describe.

import { EVENT_KINDS, type EventKind, type NotedEvent } from '../../protocol/tables/events.ts';
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

/** Events of a kind, and characters of each (chosen): half a megabyte at the most. */
const KEPT = 200;
const LONGEST = 500;

interface Kept {
  order: number;
  event: NotedEvent;
}

export class EventList {
  private readonly kinds = new Map<EventKind, Kept[]>(EVENT_KINDS.map((row) => [row.name, []]));

  private added = 0;

  /** `at` in epoch seconds. */
  add(kind: EventKind, text: string, at = Date.now() / 1000): NotedEvent {
    const event = { at: Math.round(at * 1000) / 1000, kind, text: cut(text) };
    const list = this.kinds.get(kind) as Kept[];
    list.push({ order: this.added++, event });
    if (list.length > KEPT) list.shift();
    return event;
  }

  /** The oldest first. */
  all(): NotedEvent[] {
    const all = [...this.kinds.values()].flat().sort((a, b) => a.order - b.order);
    return all.map((kept) => kept.event);
  }
}

/** On one line. */
function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}

/** Seconds. */
const LATELY = 60;
/** Turns kept (chosen): each thread reports but those that are longer than its others, or long. */
const MOST = 100;

export interface NotedTurn {
  /** When it ended, in epoch seconds. */
  readonly at: number;
  /** "manager", or a thread of the worker: "thread 0". */
  readonly where: string;
  readonly millis: number;
  readonly work: string;
  readonly of: string;
}

export class LongTurns {
  readonly #now: () => number;
  readonly #events: RateLimit<string>;
  #turns: NotedTurn[] = [];

  /** @param happened an event for operators @param now epoch seconds */
  constructor(happened: (text: string) => void, now: () => number = () => Date.now() / 1000) {
    this.#now = now;
    this.#events = new RateLimit(happened, (count) => `${count} more long turns are left out`);
  }

  /** @param thread null for the manager */
  add({ millis, work, of }: TurnReport, thread: number | null): void {
    const where = thread === null ? 'manager' : `thread ${thread}`;
    this.#turns = [{ at: this.#now(), where, millis, work, of }, ...this.lately()]
      .toSorted((a, b) => b.millis - a.millis)
      .slice(0, MOST);
    if (millis >= LONG)
      this.#events.take(
        `${where} did nothing else for ${Math.round(millis)} ms: ${of === '' ? work : `${of}, ${work}`}`,
      );
  }

  /** Those of the last minute, the longest first. */
  lately(): readonly NotedTurn[] {
    const since = this.#now() - LATELY;
    this.#turns = this.#turns.filter(({ at }) => at >= since && at <= since + 2 * LATELY);
    return this.#turns;
  }
}
