// Events in order: the daemon's list, loaded at each connection, events reported since, and what the console
// itself notices: lost connections and slow backends.

import { EVENT_KINDS, type EventKind } from '../../../protocol/tables/events.ts';
import type { EventWord, NotedAs } from '../../client/source.ts';
import { answerItems, textField } from './admin-store.ts';

export interface SessionEvent {
  /** Epoch seconds. */
  at: number;
  /** 'lost' and 'slow' (a backend) are noticed by this console. */
  kind: EventKind | 'lost' | 'slow';
  text: string;
}

export const EVENTS_ASKED = 'event.list -j';

/** The body of an answer to EVENTS_ASKED up to a time in epoch seconds. */
export function eventsUntil(body: string, at: number): string {
  const events = answerItems(body).filter((item) => Number(textField(item, 'time')) <= at);
  return JSON.stringify([2, EVENTS_ASKED.split(' '), at, ...events]);
}

/** As many as two daemons keep. */
const KEPT = 4000;

const KIND_OF: Readonly<Record<EventWord, EventKind>> = {
  started: 'worker',
  stopped: 'worker',
  died: 'worker',
  program: 'program',
  trouble: 'trouble',
  noted: 'trouble',
};

export class EventLog {
  private list: SessionEvent[] = [];
  private readonly known = new Set<string>();

  /** The oldest first. */
  all(): readonly SessionEvent[] {
    return this.list;
  }

  since(at: number): readonly SessionEvent[] {
    return this.list.filter((event) => event.at >= at);
  }

  /** Adds the events of an answer to EVENTS_ASKED. */
  learn(body: string): void {
    for (const item of answerItems(body)) {
      const kind = EVENT_KINDS.find((row) => row.name === textField(item, 'kind'))?.name;
      const at = Number(textField(item, 'time'));
      const instance = textField(item, 'instance');
      const text = textField(item, 'text');
      if (kind !== undefined && at > 0)
        this.take({ at, kind, text: instance === '' ? text : `${instance}: ${text}` });
    }
  }

  /** Adds an event that the daemon reports now. */
  reported(word: EventWord, text: string, now: number, noted?: NotedAs): void {
    this.take({ at: noted?.at ?? now, kind: noted?.kind ?? KIND_OF[word], text });
  }

  lost(at: number, text: string): void {
    this.take({ at, kind: 'lost', text });
  }

  slow(at: number, text: string): void {
    this.take({ at, kind: 'slow', text });
  }

  private take(event: SessionEvent): void {
    const key = `${event.at} ${event.kind} ${event.text}`;
    if (this.known.has(key)) return;
    this.known.add(key);
    const after = this.list.findLastIndex((one) => one.at <= event.at);
    this.list.splice(after + 1, 0, event);
    if (this.list.length <= KEPT) return;
    const [oldest] = this.list.splice(0, 1);
    if (oldest !== undefined) this.known.delete(`${oldest.at} ${oldest.kind} ${oldest.text}`);
  }
}
