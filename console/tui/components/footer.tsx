// The bottom row: the field being edited, a question, a running command, a notice, or the key hints.

import { type ReactNode, useContext } from 'react';
import { ellipsis } from '../../draw/cells.ts';
import { ThemeContext } from '../../draw/contexts.ts';
import { EditLine } from '../../draw/edit-line.tsx';
import { Box, Text } from '../../draw/ink.ts';
import { type Row, rowWidth, type Span, span } from '../../draw/spans.ts';
import { Bar, Line, Words } from '../../draw/words.tsx';
import type { Field } from '../../model/ui/field.ts';
import type { Notice, UiState } from '../../model/ui/ui-state.ts';
import type { ViewContext } from '../../model/ui/view.ts';

interface FooterProps {
  c: ViewContext;
  ui: UiState;
  width: number;
}

export function Footer(props: FooterProps): ReactNode {
  const { width } = props;
  return (
    <Bar width={width}>
      <Content {...props} />
    </Bar>
  );
}

function Content({ c, ui, width }: FooterProps): ReactNode {
  const { ellipsis: mark } = useContext(ThemeContext).glyphs;
  if (ui.confirm !== null) return <YesOrNo text={ui.confirm.text} width={width} />;
  // The query bar is elsewhere.
  if (ui.field !== null && ui.field.kind !== 'query') return <Prompt field={ui.field} width={width} />;
  if (ui.running !== null) return <Words style="muted">{` ${ui.running} ${mark}`}</Words>;
  if (ui.notice !== null) return <Words style={NOTICES[ui.notice.level]}>{` ${ui.notice.text}`}</Words>;
  const hints = c.keymap.hints(ui.view, c.view.subjects !== null, (command) => c.operator.offers(command));
  return <Hints hints={hints} width={width} />;
}

const NOTICES = { info: 'good', warn: 'warn', bad: 'bad' } as const satisfies Record<Notice['level'], string>;

function YesOrNo({ text, width }: { text: string; width: number }): ReactNode {
  const answers: Row = [span(' '), span('y', 'key'), span('/'), span('n', 'key'), span(' ')];
  const mark = useContext(ThemeContext).glyphs.ellipsis;
  return <Line row={[span(` ${ellipsis(text, width - 1 - rowWidth(answers), mark)}`, 'warn'), ...answers]} />;
}

function Prompt({ field, width }: { field: Field; width: number }): ReactNode {
  const label = labelOf(field);
  const problem = field.check !== null && !field.check.ok ? `  ${field.check.message}` : '';
  const usage = field.completion?.usage ?? '';
  const remark = field.kind === 'command' ? (usage === '' ? '' : `   ${usage}`) : '';
  return (
    <Text wrap="truncate-end">
      <Words style="key">{label}</Words>
      <EditLine line={field.line} width={Math.max(8, width - label.length - problem.length - 2)} />
      <Words style="faint">{remark}</Words>
      <Words style="bad">{field.kind === 'prompt' ? problem : ''}</Words>
    </Text>
  );
}

function labelOf(field: Field): string {
  switch (field.kind) {
    case 'command':
      return ' :';
    case 'filter':
      return ' / ';
    case 'search':
      return ' search: ';
    default:
      return ` ${field.prompt?.label ?? ''}: `;
  }
}

const ALWAYS: ReadonlySet<string> = new Set(['help', 'quit']);

/** Essential hints are at the right end, and the others give way to them. */
function Hints({
  hints,
  width,
}: {
  hints: ReturnType<ViewContext['keymap']['hints']>;
  width: number;
}): ReactNode {
  const right = hints.filter((h) => ALWAYS.has(h.hint)).flatMap(hintSpans);
  const left: Span[] = [];
  const seen = new Set<string>();
  for (const one of hints) {
    if (ALWAYS.has(one.hint) || seen.has(one.key)) continue;
    seen.add(one.key);
    const next = hintSpans(one);
    // A shorter one may still fit.
    if (rowWidth(left) + rowWidth(next) + rowWidth(right) > width) continue;
    left.push(...next);
  }
  return (
    <>
      <Line row={left} />
      <Box flexShrink={0}>
        <Line row={right} />
      </Box>
    </>
  );
}

function hintSpans({ key, hint }: { key: string; hint: string }): Span[] {
  return [span(` ${key}`, 'key'), span(` ${hint} `, 'muted')];
}
