// The bottom row: the field being edited, a question, a running command, a notice, or the key hints.

import { type ReactNode, useContext } from 'react';
import type { Keymap } from '../../model/keymap.ts';
import type { Line } from '../../model/line-editor.ts';
import type { UiState } from '../../model/ui-state.ts';
import { ellipsis, widthOf } from '../cells.ts';
import { ThemeContext } from '../hooks/contexts.ts';
import { type Row, rowWidth, type Span, span, spread } from '../spans.ts';
import type { Theme } from '../theme.ts';
import { Rows } from './rows.tsx';

const ALWAYS: ReadonlySet<string> = new Set(['help', 'quit']);

export function Footer({ ui, keymap, width }: { ui: UiState; keymap: Keymap; width: number }): ReactNode {
  const theme = useContext(ThemeContext);
  return <Rows rows={[footerRow(ui, keymap, width, theme)]} width={width} height={1} fill="bar" />;
}

function footerRow(ui: UiState, keymap: Keymap, width: number, theme: Theme): Row {
  const { field } = ui;
  if (ui.confirm !== null) {
    const answers: Span[] = [span(' '), span('y', 'key'), span('/'), span('n', 'key'), span(' ')];
    const text = ellipsis(ui.confirm.text, width - 1 - rowWidth(answers), theme.glyphs.ellipsis);
    return [span(` ${text}`, 'warn'), ...answers];
  }
  if (field?.kind === 'command') {
    const usage = field.completion?.usage ?? '';
    return [
      span(' :', 'key'),
      ...editSpans(field.line, width - 4),
      span(usage === '' ? '' : `   ${usage}`, 'faint'),
    ];
  }
  if (field?.kind === 'filter') return [span(' / ', 'key'), ...editSpans(field.line, width - 5)];
  if (field?.kind === 'search') return [span(' search: ', 'key'), ...editSpans(field.line, width - 11)];
  if (field?.kind === 'prompt') {
    const label = ` ${field.prompt?.label ?? ''}: `;
    const problem = field.check !== null && !field.check.ok ? `  ${field.check.message}` : '';
    return [
      span(label, 'key'),
      ...editSpans(field.line, Math.max(8, width - label.length - problem.length - 1)),
      span(problem, 'bad'),
    ];
  }
  if (ui.running !== null) return [span(` ${ui.running} ${theme.glyphs.ellipsis}`, 'muted')];
  if (ui.notice !== null) {
    const style = ui.notice.level === 'info' ? 'good' : ui.notice.level === 'warn' ? 'warn' : 'bad';
    return [span(` ${ui.notice.text}`, style)];
  }
  const out: Span[] = [];
  const seen = new Set<string>();
  // What everybody must find stands at the right end, and the rest gives way to it.
  const right: Span[] = [];
  const hints = keymap.hints(ui.view);
  for (const { key, hint } of hints.filter((h) => ALWAYS.has(h.hint))) {
    right.push(span(` ${key}`, 'key'), span(` ${hint} `, 'muted'));
  }
  for (const { key, hint } of hints) {
    if (ALWAYS.has(hint) || seen.has(key)) continue;
    seen.add(key);
    const next = [span(` ${key}`, 'key'), span(` ${hint} `, 'muted')];
    if (rowWidth(out) + rowWidth(next) + rowWidth(right) > width) break;
    out.push(...next);
  }
  return spread(out, right, width);
}

/** A line with its cursor, scrolled so that the cursor is inside `width` cells. */
export function editSpans(line: Line, width: number): Span[] {
  let from = 0;
  while (widthOf(line.text.slice(from, line.cursor)) >= width && from < line.cursor) {
    from += (line.text.codePointAt(from) as number) > 0xffff ? 2 : 1;
  }
  const under = line.text.slice(line.cursor);
  const char = under === '' ? ' ' : String.fromCodePoint(under.codePointAt(0) as number);
  return [span(line.text.slice(from, line.cursor)), span(char, 'cursor'), span(under.slice(char.length))];
}
