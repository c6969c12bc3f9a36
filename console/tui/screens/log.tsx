// The log view: the query bar with its verdict, the tree of groups, and the detail pane beside or below it.

import { type ReactNode, useContext } from 'react';
import type { Controller } from '../../model/controller.ts';
import { logBody } from '../../model/layout.ts';
import { visibleRows } from '../../model/log-view.ts';
import type { UiState } from '../../model/ui-state.ts';
import { Rows } from '../components/rows.tsx';
import { ThemeContext, UtcContext } from '../hooks/contexts.ts';
import { Box } from '../ink.ts';
import type { FillName } from '../theme.ts';
import type { ScreenProps } from './dashboard.tsx';
import { queryRows } from './log-query.ts';
import type { LogPainter } from './log-rows.ts';

export function LogScreen({
  session,
  controller,
  width,
  height,
  ui,
  painter,
}: ScreenProps & { controller: Controller; ui: UiState; painter: LogPainter }): ReactNode {
  const theme = useContext(ThemeContext);
  const utc = useContext(UtcContext);
  const body = logBody(controller.size, controller.banner, ui.log.detail);
  const listWidth = width - body.beside;
  const shown = visibleRows(ui.log, session.log, body.list);
  const fills = new Map<number, FillName>();
  const rows = shown.map((v, i) => {
    if (!ui.log.follow && v.entry.seq === ui.log.selected && v.row === ui.log.offset)
      fills.set(i, 'selected');
    return painter.row(v, ui.log, listWidth, utc, theme);
  });
  if (rows.length === 0) rows.push(painter.empty(session));
  const detail = (paneWidth: number): ReactNode => (
    <Rows
      rows={painter.detail(session, ui.log, paneWidth, body.detail, theme)}
      width={paneWidth}
      height={body.detail}
    />
  );
  const list = (
    <Box flexDirection="column" width={listWidth}>
      <Rows rows={[painter.heading(listWidth)]} width={listWidth} height={1} fill="bar" />
      <Rows rows={rows} width={listWidth} height={body.list} fills={fills} />
    </Box>
  );
  return (
    <Box flexDirection="column" width={width} height={height}>
      <Rows rows={queryRows(session, ui, width, theme)} width={width} height={2} />
      {body.beside > 0 ? (
        <Box>
          {list}
          {detail(body.beside)}
        </Box>
      ) : (
        list
      )}
      {body.detail > 0 && body.beside === 0 ? detail(width) : null}
    </Box>
  );
}
