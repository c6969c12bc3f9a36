// Marks of events in charts and their colours in lists, by kind.

import { EVENT_KINDS } from '../../../protocol/tables/events.ts';
import type { SessionEvent } from '../../model/session/event-log.ts';
import { hostLast } from '../../model/ui/row-subject.ts';

type Kind = SessionEvent['kind'];

const MARKS: ReadonlyMap<string, string> = new Map(EVENT_KINDS.map((row) => [row.name, row.mark]));

/** One cell; lost connections are not the daemon's and have none. */
export function markOf(kind: Kind): string {
  return kind === 'slow' ? 'D' : (MARKS.get(kind) ?? '');
}

/** An event's text for a cell next to its kind: without the kind's name, and with the host of a ban last. */
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
    case 'passes':
    case 'evictions':
    case 'slow':
    case 'turn':
      return 'warn';
    default:
      return 'accent';
  }
}

/** Events that are problems: the dashboard's errors have no room for routine ones. */
export function isTrouble(kind: Kind): boolean {
  return kind === 'program' || toneOf(kind) !== 'accent';
}

/** Events of these kinds that are no trouble: mostly its end. */
export function isRecovery({ kind, text }: SessionEvent): boolean {
  if (kind === 'health') return /(^| )(went )?healthy( |$)/.test(text);
  return (
    (kind === 'worker' && /(^| )started$/.test(text)) ||
    // Loaded is not in use; only Varnish has this among its events.
    (kind === 'program' && text.startsWith('vcl.load ')) ||
    (kind === 'slow' && text.includes(' as before')) ||
    ((kind === 'purges' || kind === 'evictions') && text.startsWith('over:'))
  );
}
