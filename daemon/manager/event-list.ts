// What happened lately: the last events of each kind, in memory. It outlives every worker, and whoever attaches is told all
// of it. Of each kind so many are kept, so that a backend that goes up and down all night does not push out the program
// that was loaded in the evening.

import { EVENT_KINDS, type EventKind, type NotedEvent } from '../../protocol/tables/events.ts';

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
