// The query bar: the text, and below it the place of an error, what was expected there, or how it stands.

import { bytes, count } from '../../model/numbers.ts';
import type { Session } from '../../model/session.ts';
import type { UiState } from '../../model/ui-state.ts';
import { ellipsis, widthOf } from '../cells.ts';
import { editSpans } from '../components/footer.tsx';
import { type Row, type Span, span, spread } from '../spans.ts';
import type { Theme } from '../theme.ts';

const LABEL = ' query ';

export function queryRows(session: Session, ui: UiState, width: number, theme: Theme): Row[] {
  const field = ui.field?.kind === 'query' ? ui.field : null;
  if (field === null) {
    const text: Span =
      session.query === '' ? span('none: every transaction', 'faint') : span(session.query, 'strong');
    return [[span(LABEL, 'muted'), text], statusRow(session, ui, width, theme)];
  }
  const room = width - LABEL.length - 1;
  const bar: Row = [span(LABEL, 'key'), ...editSpans(field.line, room)];
  const { check } = field;
  if (check === null || check.ok) {
    const hint = field.line.text === '' ? 'empty matches everything' : 'valid';
    return [
      bar,
      [
        span(' '.repeat(LABEL.length)),
        span(`${hint} · Enter applies, Esc leaves, ${theme.glyphs.arrowUp} recalls`, 'good'),
      ],
    ];
  }
  const before = widthOf(field.line.text.slice(0, check.from));
  const wanted = check.expected.length === 0 ? '' : `; expected ${check.expected.slice(0, 6).join(', ')}`;
  const message = `${check.message}${wanted}`;
  const carets = theme.glyphs.caret.repeat(Math.max(1, Math.min(check.to - check.from, room - before)));
  // The words go to the right of the carets, or to their left when there is no room.
  if (before + carets.length + 2 + Math.min(message.length, 30) <= room) {
    const left = LABEL.length + before + carets.length + 1;
    const text = ellipsis(message, width - left, theme.glyphs.ellipsis);
    return [bar, [span(' '.repeat(LABEL.length + before)), span(carets, 'bad'), span(` ${text}`, 'bad')]];
  }
  const text = ellipsis(message, Math.max(0, LABEL.length + before - 2), theme.glyphs.ellipsis);
  return [bar, [span(` ${text}`.padEnd(LABEL.length + before), 'bad'), span(carets, 'bad')]];
}

function statusRow(session: Session, ui: UiState, width: number, theme: Theme): Row {
  const { log } = session;
  if (session.logError !== '') return [span(`       ${session.logError}`, 'bad')];
  const left: Span[] = [
    span('       '),
    ui.log.follow
      ? span(`${theme.glyphs.bullet} following`, 'good')
      : span(`${theme.glyphs.up} paused`, 'warn'),
    span(`  by ${session.grouping}`, 'muted'),
  ];
  const right: Span[] = [
    span(`${count(log.received)} received · ${count(log.size)} kept, ${bytes(log.bytes)}`, 'muted'),
  ];
  if (log.dropped > 0 && width >= 80) right.push(span(` · ${count(log.dropped)} dropped`, 'muted'));
  right.push(span(log.lost > 0 ? ` · ${count(log.lost)} lost ` : ' ', 'warn'));
  return spread(left, right, width);
}
