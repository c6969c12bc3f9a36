// Overlays of a view: the help, the output of a command, choices, completion candidates.

import { type ReactNode, useContext } from 'react';
import { wordsFit } from '../../draw/cells.ts';
import { ThemeContext } from '../../draw/contexts.ts';
import { Box } from '../../draw/ink.ts';
import { Panel, Remark } from '../../draw/panel.tsx';
import { span } from '../../draw/spans.ts';
import { toneRow } from '../../draw/tone-rows.ts';
import { Line, Words } from '../../draw/words.tsx';
import type { Field } from '../../model/ui/field.ts';
import { helpLines, mostLeft, panelLines } from '../../model/ui/folded-lines.ts';
import {
  bodyRows,
  HEADER_ROWS,
  helpColumns,
  PANEL_EDGES,
  panelTextCells,
  panelTextRows,
  type Size,
} from '../../model/ui/layout.ts';
import type { Panel as OpenPanel, ToneLine } from '../../model/ui/panel.ts';
import { matchingLines, withMatches } from '../../model/ui/panel-search.ts';
import type { ViewContext } from '../../model/ui/view.ts';

type Of<K extends OpenPanel['kind']> = Extract<OpenPanel, { kind: K }>;

export interface OverlayProps {
  size: Size;
}

export function PanelOverlay({
  panel,
  view,
  keymap,
  ...place
}: OverlayProps & { panel: OpenPanel; view: string; keymap: ViewContext['keymap'] }): ReactNode {
  switch (panel.kind) {
    case 'help':
      return <HelpPanel {...place} panel={panel} view={view} keymap={keymap} />;
    case 'text':
      return <TextPanel {...place} panel={panel} />;
    case 'choices':
      return <ChoicePanel {...place} panel={panel} />;
  }
}

function HelpPanel({
  panel,
  view,
  keymap,
  ...place
}: OverlayProps & { panel: Of<'help'>; view: string; keymap: ViewContext['keymap'] }): ReactNode {
  const columns = helpColumns(place.size);
  const lines = helpLines(keymap.help(view, panel.filter), columns.help);
  return (
    <Scrolled
      {...place}
      title="Keys"
      hint="/ search  Esc close"
      width={columns.panel}
      scroll={panel.scroll}
      count={lines.length}
      line={(i) => {
        const line = lines[i];
        if (line === undefined) return null;
        return 'title' in line ? (
          <Words style="accent">{line.title}</Words>
        ) : (
          <KeyHelp {...line} width={columns.keys} />
        );
      }}
    />
  );
}

function KeyHelp({ keys, help, width }: { keys: string; help: string; width: number }): ReactNode {
  return (
    <Box>
      <Box width={width - 2} marginLeft={2} flexShrink={0}>
        <Words style="key">{keys}</Words>
      </Box>
      <Words>{help}</Words>
    </Box>
  );
}

function TextPanel({ panel, ...place }: OverlayProps & { panel: Of<'text'> }): ReactNode {
  const theme = useContext(ThemeContext);
  const cells = panelTextCells(place.size);
  const lines = panelLines(panel, cells);
  const { find } = panel;
  const cut = panel.left !== undefined || mostLeft({ ...panel, lines }, cells) > 0;
  return (
    <Scrolled
      {...place}
      title={panel.title}
      hint={
        find === undefined
          ? `${cut ? '{ } sideways  ' : ''}/ search  y copy  Esc close`
          : foundText(find, lines)
      }
      width={place.size.columns - 4}
      scroll={panel.scroll}
      count={lines.length}
      line={(i) => {
        const line = lines[i] ?? [];
        return <Line row={toneRow(find === undefined ? line : withMatches(line, find.text), theme)} />;
      }}
    />
  );
}

/** The search pattern, and which of its matches is shown. */
function foundText({ text, line }: NonNullable<Of<'text'>['find']>, lines: readonly ToneLine[]): string {
  const matches = matchingLines(lines, text);
  const wanted = `/${wordsFit(text, 16, '~')}`;
  if (matches.length === 0) return `${wanted}: no match`;
  return `${wanted}: ${matches.indexOf(line) + 1} of ${matches.length}  n N next`;
}

/** Of choices `scroll` is the one selected. */
function ChoicePanel({ panel, ...place }: OverlayProps & { panel: Of<'choices'> }): ReactNode {
  const { size } = place;
  const rows = panelTextRows(size, panel.choices.length);
  const from = Math.max(0, Math.min(panel.scroll - Math.floor(rows / 2), panel.choices.length - rows));
  const width = Math.min(size.columns - 4, 90);
  const note = Math.max(0, ...panel.choices.map((c) => c.note.length));
  return (
    <Scrolled
      {...place}
      title={panel.title}
      hint={`${panel.filter ? `/${panel.filter}  ` : ''}Enter take  / search  Esc close`}
      width={width}
      scroll={from}
      count={panel.choices.length}
      line={(i) => (
        <Option
          label={panel.choices[i]?.label ?? ''}
          note={panel.choices[i]?.note ?? ''}
          chosen={i === panel.scroll}
          columns={[width - PANEL_EDGES - 3 - note, note]}
        />
      )}
    />
  );
}

/** One of several choices, with a mark at the selected one; `columns` are the widths of label and note. */
function Option({
  label,
  note,
  chosen,
  columns,
}: {
  label: string;
  note: string;
  chosen: boolean;
  columns: readonly [number, number];
}): ReactNode {
  const { pointer, ellipsis: mark } = useContext(ThemeContext).glyphs;
  return (
    <Box>
      <Box width={2} flexShrink={0}>
        <Words style="key">{chosen ? pointer : ' '}</Words>
      </Box>
      <Box width={columns[0]} flexShrink={0}>
        <Words style={chosen ? 'strong' : 'accent'}>{wordsFit(label, columns[0] - 1, mark)}</Words>
      </Box>
      <Words style="muted">{wordsFit(note, columns[1], mark)}</Words>
    </Box>
  );
}

/** A centred panel that shows as many of its lines as fit, from line `scroll` on. */
function Scrolled({
  size,
  title,
  hint,
  width,
  scroll,
  count,
  line,
}: OverlayProps & {
  title: string;
  hint: string;
  width: number;
  scroll: number;
  count: number;
  line: (index: number) => ReactNode;
}): ReactNode {
  const height = panelTextRows(size, count);
  const from = Math.max(0, Math.min(scroll, count - height));
  const more = count > height ? `${from + 1}-${from + height}/${count}  ` : '';
  const room = bodyRows(size) - height - 2;
  return (
    <Box
      position="absolute"
      marginLeft={Math.floor((size.columns - width) / 2)}
      marginTop={HEADER_ROWS + Math.max(0, Math.floor(room / 2))}
    >
      <Panel
        title={title}
        remark={(cells) => <Remark row={[span(more + hint, 'muted')]} room={cells} />}
        width={width}
        height={height + 2}
        style="accent"
        over
      >
        {Array.from({ length: height }, (_, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows of the screen are the same ones whatever they show
          <Box key={i} height={1} flexShrink={0}>
            {line(from + i)}
          </Box>
        ))}
      </Panel>
    </Box>
  );
}

const SHOWN_CANDIDATES = 8;

export function CandidateOverlay({ field, size }: { field: Field; size: Size }): ReactNode {
  const candidates = field.completion?.candidates ?? [];
  const exact = candidates.length === 1 && field.line.text.endsWith(candidates[0]?.text ?? ' ');
  if (candidates.length === 0 || exact) return null;
  const height = Math.min(SHOWN_CANDIDATES, candidates.length);
  const choice = Math.max(0, field.choice);
  const from = Math.max(0, Math.min(choice - Math.floor(height / 2), candidates.length - height));
  const name = Math.min(34, Math.max(...candidates.map((c) => (c.label ?? c.text).length)) + 2);
  const remark = [span(`${candidates.length} · Tab completes`, 'muted')];
  // Above the command line, below the query bar: next to the cursor.
  const query = field.kind === 'query';
  const left = query ? 6 : 0;
  const width = Math.min(size.columns - left - 2, 78);
  return (
    <Box
      position="absolute"
      marginLeft={left}
      marginTop={query ? HEADER_ROWS + 2 : Math.max(0, size.rows - 1 - height - 2)}
    >
      <Panel
        title="Complete"
        remark={(room) => <Remark row={remark} room={room} />}
        width={width}
        height={height + 2}
        over
      >
        {candidates.slice(from, from + height).map((c, i) => (
          <Option
            key={c.text}
            label={c.label ?? c.text}
            note={c.help}
            chosen={field.choice === from + i}
            columns={[name, width - PANEL_EDGES - 2 - name]}
          />
        ))}
      </Panel>
    </Box>
  );
}
