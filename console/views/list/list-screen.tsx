// Layout of all list views; list-rows.ts makes the rows.

import { isDeepStrictEqual } from 'node:util';
import { memo, type ReactNode, useContext } from 'react';
import { clip } from '../../draw/cells.ts';
import { ThemeContext } from '../../draw/contexts.ts';
import { Box } from '../../draw/ink.ts';
import { Panel, Remark } from '../../draw/panel.tsx';
import { Lines, Rows } from '../../draw/rows.tsx';
import { dimmed, span } from '../../draw/spans.ts';
import type { FillName } from '../../draw/theme.ts';
import { Live } from '../../draw/use-console.ts';
import { Bar, Words } from '../../draw/words.tsx';
import { folded } from '../../model/ui/folded-lines.ts';
import { PANEL_EDGES, PANEL_RULES } from '../../model/ui/layout.ts';
import type { ScreenProps } from '../../model/ui/view.ts';
import type { ListDefinition } from './list-definition.ts';
import {
  columnTitle,
  detailRows,
  emptyText,
  listRow,
  type ShownDetail,
  shownList,
  titleRow,
} from './list-rows.ts';
import { columnWidths, type ListState, listBody } from './list-state.ts';

/** Longer lists are painted by the frame sink: Ink takes microseconds per cell. */
const FEW_ROWS = 24;
/** Indent of the text in place of rows. */
const INDENT = 2;

export interface ListScreenProps extends ScreenProps {
  definition: ListDefinition;
  state: ListState;
}

export function ListScreen({ c, definition, state, width, height }: ListScreenProps): ReactNode {
  const theme = useContext(ThemeContext);
  const { session, ui } = c;
  const { size } = ui;
  const body = listBody(size, state.detail);
  const listWidth = width - body.beside;
  const paneWidth = body.beside > 0 ? body.beside : width;
  const content = (): ReactNode => {
    const shown = shownList(session, definition, state, size);
    const title = titleRow(session, definition, state, shown, width, theme);
    const fills = new Map<number, FillName>([[shown.selected, 'selected']]);
    const rows = shown.window.map((row) =>
      listRow(row, definition, shown.widths, theme, state.marked.has(row.key)),
    );
    if (rows.length === 0)
      for (const line of folded(
        [[{ text: emptyText(session, definition, state, shown.all) }]],
        listWidth - INDENT - 1,
      ))
        rows.push([span(`${' '.repeat(INDENT)}${line.map((part) => part.text).join('')}`, 'muted')]);
    // Answers of the daemon from before it was lost; what the log had stays true.
    const isOld = session.isOld && definition.asks.length > 0;
    const detail = () => {
      const row = shown.window[shown.selected];
      const inside = { width: paneWidth - PANEL_EDGES, height: body.detail - PANEL_RULES };
      const lines = detailRows(row, state, inside.width, inside.height, theme);
      const title = row?.title ?? row?.key ?? 'nothing selected';
      return { title, ...lines, rows: isOld ? dimmed(lines.rows) : lines.rows };
    };
    const List = rows.length > FEW_ROWS ? Rows : Lines;
    return (
      <>
        <Lines rows={[title]} width={width} height={1} />
        <Box flexDirection={body.beside > 0 ? 'row' : 'column'}>
          <Box flexDirection="column" width={listWidth} flexShrink={0}>
            <Headings definition={definition} state={state} width={listWidth} />
            <List rows={isOld ? dimmed(rows) : rows} fills={fills} width={listWidth} height={body.list} />
          </Box>
          {body.detail === 0 ? null : <Detail {...detail()} width={paneWidth} height={body.detail} />}
        </Box>
      </>
    );
  };
  return (
    <Box flexDirection="column" width={width} height={height}>
      <Live session={session}>{content}</Live>
    </Box>
  );
}

interface DetailProps extends ShownDetail {
  title: string;
  width: number;
  height: number;
}

const Detail = memo(function Detail({ title, rows, place, width, height }: DetailProps): ReactNode {
  return (
    <Panel
      title={title}
      remark={(room) => <Remark row={[span(place, 'faint')]} room={room} />}
      width={width}
      height={height}
    >
      <Lines rows={rows} width={width - PANEL_EDGES} height={height - PANEL_RULES} />
    </Panel>
  );
}, isDeepStrictEqual);

const Headings = memo(function Headings({
  definition,
  state,
  width,
}: {
  definition: ListDefinition;
  state: ListState;
  width: number;
}): ReactNode {
  const theme = useContext(ThemeContext);
  const widths = columnWidths(definition.columns, width - 2);
  return (
    <Bar width={width}>
      <Box paddingLeft={1} columnGap={1}>
        {definition.columns.map((column, i) =>
          widths[i] === 0 ? null : (
            <Box
              key={column.title}
              width={widths[i] ?? 0}
              flexShrink={0}
              justifyContent={column.right === true ? 'flex-end' : 'flex-start'}
            >
              <Words style="strong">{clip(columnTitle(definition, state, i, theme), widths[i] ?? 0)}</Words>
            </Box>
          ),
        )}
      </Box>
    </Bar>
  );
});
