// The log view: the query bar with its verdict, the list, one line a group or its records unfolded.

import { Box } from 'ink';
import { type ReactNode, useContext } from 'react';
import { visibleRows } from '../../model/log-view.ts';
import type { UiState } from '../../model/ui-state.ts';
import { Rows } from '../components/rows.tsx';
import { ThemeContext, UtcContext } from '../hooks/contexts.ts';
import type { FillName } from '../theme.ts';
import type { ScreenProps } from './dashboard.tsx';
import { queryRows } from './log-query.ts';
import type { LogPainter } from './log-rows.ts';

export function LogScreen({
  session,
  width,
  height,
  ui,
  painter,
}: ScreenProps & { ui: UiState; painter: LogPainter }): ReactNode {
  const theme = useContext(ThemeContext);
  const utc = useContext(UtcContext);
  const listHeight = height - 3;
  const shown = visibleRows(ui.log, session.log, listHeight);
  const fills = new Map<number, FillName>();
  const rows = shown.map((v, i) => {
    if (!ui.log.follow && v.entry.seq === ui.log.selected && v.row === ui.log.offset)
      fills.set(i, 'selected');
    return painter.row(v, ui.log, width, utc, theme);
  });
  if (rows.length === 0) rows.push(painter.empty(session));
  return (
    <Box flexDirection="column" width={width} height={height}>
      <Rows rows={queryRows(session, ui, width, theme)} width={width} height={2} />
      <Rows rows={[painter.heading(width)]} width={width} height={1} fill="bar" />
      <Rows rows={rows} width={width} height={listHeight} fills={fills} />
    </Box>
  );
}
