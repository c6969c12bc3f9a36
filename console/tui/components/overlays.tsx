// What lies over a view: the help, the output of a command, the candidates of the command line.

import { type ReactNode, useContext } from 'react';
import type { Keymap } from '../../model/keymap.ts';
import { bodyRows, panelTextRows, type Size } from '../../model/layout.ts';
import type { Field, Panel } from '../../model/ui-state.ts';
import type { ViewName } from '../../model/views.ts';
import { ellipsis } from '../cells.ts';
import { framed } from '../frame.ts';
import { ThemeContext } from '../hooks/contexts.ts';
import { cell, type Row, span } from '../spans.ts';
import type { Theme } from '../theme.ts';
import { toneRow } from '../tone-rows.ts';
import { Over } from './rows.tsx';

interface Placed {
  rows: Row[];
  width: number;
  left: number;
  top: number;
}

export interface OverlayProps {
  size: Size;
  /** Rows above the body. */
  top: number;
}

export function PanelOverlay(
  props: OverlayProps & { panel: Panel; view: ViewName; keymap: Keymap },
): ReactNode {
  const theme = useContext(ThemeContext);
  return <Over {...panelRows(props.panel, props.view, props.keymap, props.size, props.top, theme)} />;
}

function panelRows(
  panel: Panel,
  view: ViewName,
  keymap: Keymap,
  size: Size,
  top: number,
  theme: Theme,
): Placed {
  switch (panel.kind) {
    case 'help':
      return helpPanel(panel, keymap, view, size, top, theme);
    case 'text':
      return textPanel(panel, size, top, theme);
    case 'choices':
      return choicePanel(panel, size, top, theme);
  }
}

export function CandidateOverlay({ field, size }: { field: Field; size: Size }): ReactNode {
  const theme = useContext(ThemeContext);
  const placed = candidatePanel(field, size, theme);
  return placed === null ? null : <Over {...placed} />;
}

function helpPanel(
  panel: Extract<Panel, { kind: 'help' }>,
  keymap: Keymap,
  view: ViewName,
  size: Size,
  top: number,
  theme: Theme,
): Placed {
  const width = Math.min(size.columns - 4, 76);
  const lines: Row[] = [];
  for (const section of keymap.help(view, panel.filter)) {
    if (lines.length > 0) lines.push([]);
    lines.push([span(section.title, 'accent')]);
    for (const row of section.rows) lines.push([span('  '), cell(row.keys, 18, 'key'), span(row.help)]);
  }
  if (lines.length === 0) lines.push([span('No key matches.', 'muted')]);
  return scrolled(
    lines,
    panel.scroll,
    { title: 'Keys', hint: '/ search  Esc close' },
    width,
    size,
    top,
    theme,
  );
}

function textPanel(panel: Extract<Panel, { kind: 'text' }>, size: Size, top: number, theme: Theme): Placed {
  const lines = panel.lines.map((line) => toneRow(line, theme));
  const title = { title: panel.title, hint: 'y copy  Esc close' };
  return scrolled(lines, panel.scroll, title, size.columns - 4, size, top, theme);
}

/** Of choices `scroll` is the one selected. */
function choicePanel(
  panel: Extract<Panel, { kind: 'choices' }>,
  size: Size,
  top: number,
  theme: Theme,
): Placed {
  const width = Math.min(size.columns - 4, 90);
  const note = Math.max(0, ...panel.choices.map((c) => c.note.length));
  const lines = panel.choices.map((choice, i): Row => {
    const chosen = i === panel.scroll;
    return [
      span(chosen ? `${theme.glyphs.pointer} ` : '  ', 'key'),
      cell(
        ellipsis(choice.label, width - 8 - note, theme.glyphs.ellipsis),
        width - 7 - note,
        chosen ? 'strong' : 'accent',
      ),
      span(choice.note, 'muted'),
    ];
  });
  const rows = panelTextRows(size, top > 1, lines.length);
  const from = Math.max(0, Math.min(panel.scroll - Math.floor(rows / 2), lines.length - rows));
  return scrolled(
    lines,
    from,
    { title: panel.title, hint: 'Enter take  Esc close' },
    width,
    size,
    top,
    theme,
  );
}

function scrolled(
  lines: Row[],
  scroll: number,
  text: { title: string; hint: string },
  width: number,
  size: Size,
  top: number,
  theme: Theme,
): Placed {
  const height = panelTextRows(size, top > 1, lines.length);
  const from = Math.max(0, Math.min(scroll, lines.length - height));
  const more = lines.length > height ? `${from + 1}-${from + height}/${lines.length}  ` : '';
  const rows = framed(
    lines.slice(from, from + height),
    {
      title: text.title,
      remark: [span(more + text.hint, 'muted')],
      width,
      height: height + 2,
      style: 'accent',
    },
    theme,
  );
  const room = bodyRows(size, top > 1) - rows.length;
  return {
    rows,
    width,
    left: Math.floor((size.columns - width) / 2),
    top: top + Math.max(0, Math.floor(room / 2)),
  };
}

const SHOWN_CANDIDATES = 8;

function candidatePanel(field: Field, size: Size, theme: Theme): Placed | null {
  const candidates = field.completion?.candidates ?? [];
  const exact = candidates.length === 1 && field.line.text.endsWith(candidates[0]?.text ?? ' ');
  if (candidates.length === 0 || exact) return null;
  const height = Math.min(SHOWN_CANDIDATES, candidates.length);
  const choice = Math.max(0, field.choice);
  const from = Math.max(0, Math.min(choice - Math.floor(height / 2), candidates.length - height));
  const name = Math.min(34, Math.max(...candidates.map((c) => c.text.length)) + 2);
  const width = Math.min(size.columns - 2, 78);
  // Above the command line, below the query bar: next to where one types.
  const top = field.kind === 'query' ? 3 : Math.max(0, size.rows - 1 - height - 2);
  const rows = candidates.slice(from, from + height).map((c, i): Row => {
    const chosen = field.choice === from + i;
    return [
      span(chosen ? `${theme.glyphs.pointer} ` : '  ', 'key'),
      cell(c.text, name, chosen ? 'strong' : 'accent'),
      span(ellipsis(c.help, width - 6 - name, theme.glyphs.ellipsis), 'muted'),
    ];
  });
  const remark = [span(`${candidates.length} · Tab completes`, 'muted')];
  return {
    rows: framed(rows, { title: 'Complete', remark, width, height: height + 2 }, theme),
    width,
    left: field.kind === 'query' ? 6 : 0,
    top,
  };
}
