// Rows of the panels that a wide screen has beside the last errors: why requests missed, and the last events.

import { ellipsis, wordsFit } from '../../draw/cells.ts';
import { cell, cellRight, type Row, span, spread } from '../../draw/spans.ts';
import type { Theme } from '../../draw/theme.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { clock, count } from '../../model/ui/numbers.ts';
import { topCauses } from '../causes/causes-view.ts';
import { foldAlike } from '../events/alike-events.ts';
import { markOf, textCell, toneOf } from '../events/event-tones.ts';

/** Cells of a cause's costs. */
const COSTS = 9;
/** Cells of an event's kind. */
const KIND = 11;

export function causeRows(session: DaemonSession, width: number, height: number, theme: Theme): Row[] {
  const causes = topCauses(session).slice(0, height);
  if (causes.length === 0) return session.everUp ? [[span('no misses or passes', 'muted')]] : [];
  return causes.map(({ label, costs }) =>
    spread(
      [span(ellipsis(label, width - COSTS - 1, theme.glyphs.ellipsis))],
      [cellRight(costs, COSTS, 'warn')],
      width,
    ),
  );
}

export function eventRows(
  session: DaemonSession,
  width: number,
  height: number,
  utc: boolean,
  theme: Theme,
): Row[] {
  const events = foldAlike([...session.events.all()].reverse(), height);
  if (events.length === 0) return session.everUp ? [[span('no events', 'muted')]] : [];
  return events.map(({ newest: { at, kind }, all, text }) => {
    const often = all.length === 1 ? '' : `${count(all.length)}x `;
    const left: Row = [
      span(`${clock(at, utc)}  `, 'muted'),
      cell(markOf(kind), 2, toneOf(kind)),
      cell(kind, KIND, toneOf(kind)),
      span(often, 'warn'),
    ];
    const room = width - 12 - KIND - often.length;
    return [...left, span(wordsFit(textCell(kind, text).text, room, theme.glyphs.ellipsis))];
  });
}
