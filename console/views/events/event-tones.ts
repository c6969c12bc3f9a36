// How an event is marked on a chart and coloured in lists, by its kind.

import { EVENT_KINDS } from '../../../protocol/tables/events.ts';
import type { SessionEvent } from '../../model/event-log.ts';
import { hostLast } from '../../model/row-subject.ts';

type Kind = SessionEvent['kind'];

const MARKS: ReadonlyMap<string, string> = new Map(EVENT_KINDS.map((row) => [row.name, row.mark]));

/** One cell; the connection of this console is not the daemon's and has none. */
export function markOf(kind: Kind): string {
  return MARKS.get(kind) ?? '';
}

/** What happened as a cell beside one that says the kind: its text without that word, and with the host of a ban last. */
export function textCell(kind: Kind, text: string): { text: string; brief: string } {
  const own = text.startsWith(`${kind} `) ? text.slice(kind.length + 1) : text;
  return { text: own, brief: hostLast(own) };
}

export function toneOf(kind: Kind): 'bad' | 'warn' | 'accent' {
  switch (kind) {
    case 'panic':
    case 'lost':
    case 'trouble':
      return 'bad';
    case 'worker':
    case 'health':
    case 'hit-rate':
    case 'turn':
      return 'warn';
    default:
      return 'accent';
  }
}

/** What is wrong, or has been: among errors there is no room for all that was done. */
export function isTrouble(kind: Kind): boolean {
  return kind === 'program' || toneOf(kind) !== 'accent';
}
