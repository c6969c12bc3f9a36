// Backends with health, recent probes and their share of the work.

import { ellipsis, padEnd, widthOf } from '../../draw/cells.ts';
import { type Row, type Span, span, spread } from '../../draw/spans.ts';
import type { Theme } from '../../draw/theme.ts';
import { probeBits } from '../../draw/tone-rows.ts';
import { type BackendRow, healthTone, shortName } from '../../model/backends.ts';
import type { DaemonSession } from '../../model/daemon-session.ts';
import { placeOfName } from '../../model/instance-address.ts';
import { rate } from '../../model/numbers.ts';
import { nothing } from './dashboard-nothing.ts';

export function backendRows(session: DaemonSession, width: number, theme: Theme): Row[] {
  if (session.backends.length === 0) return nothing(session, session.backendsUnknown || 'no backends', width);
  // The sick come first: on a short panel they must not be the ones cut off.
  const order = [...session.backends].sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
  const room = Math.max(6, width - AROUND_NAME);
  // All are of one program: its name gives way first.
  const labels = order.every((b) => b.name.length <= room)
    ? order.map((b) => b.name)
    : order.map((b) => placeOfName(b.name) + shortName(b.name));
  const nameWidth = Math.min(Math.max(...labels.map((label) => label.length)), room);
  return order.map((b, i) =>
    backendRow(
      b,
      padEnd(ellipsis(labels[i] as string, nameWidth, theme.glyphs.ellipsis), nameWidth),
      session,
      width,
      theme,
    ),
  );
}

/** Cells of mark, health and load. */
const AROUND_NAME = 19;

function rank(b: BackendRow): number {
  return b.health === 'sick' ? 0 : b.health === 'unknown' ? 1 : 2;
}

function backendRow(b: BackendRow, name: string, session: DaemonSession, width: number, theme: Theme): Row {
  const sick = b.health === 'sick';
  const { bullet, down, dash } = theme.glyphs;
  const style = healthTone(b.health, session.cutOff);
  const left: Span[] = [
    span(`${sick ? down : bullet} `, style),
    span(name),
    span(` ${padEnd(b.health, 8)}`, style),
  ];
  const used = 2 + widthOf(name) + 9;
  const counter = `VBE.${b.name}.req`;
  // A director counts nothing itself.
  const load = session.counters.get(counter) === undefined ? '' : `${rate(session.counters.rate(counter))}/s`;
  const right: Span[] = [span(load === '' || used + load.length + 1 > width ? '' : ` ${load}`, 'muted')];
  const happy = session.counters.get(`VBE.${b.name}.happy`)?.current;
  if (b.members !== null) {
    const said = ` ${b.members.healthy}/${b.members.all} members`;
    if (width - used >= said.length + load.length + 1) left.push(span(said, 'muted'));
  } else if (b.probe === null) {
    if (width - used >= 20)
      left.push(
        span(
          b.admin !== 'sick' ? ` ${dash} ${b.type === 'backend' ? 'no probe' : b.type}` : ` ${b.admin}`,
          'faint',
        ),
      );
  } else {
    const score = ` ${b.probe.good}/${b.probe.window}`;
    if (width - used >= score.length + load.length + 1) left.push(span(score, 'muted'));
    const room = Math.min(b.probe.window * 2, width - used - 5 - load.length - 4);
    if (happy !== undefined && room >= 4) left.push(span(' '), ...probeBits(happy, room, theme));
  }
  return spread(left, right, width);
}
