// The statistics view: Varnish's stat tool, column for column.

import { type ReactNode, useContext } from 'react';
import type { UiState } from '../../model/ui-state.ts';
import { Rows } from '../components/rows.tsx';
import { ThemeContext } from '../hooks/contexts.ts';
import { Box } from '../ink.ts';
import type { ScreenProps } from './dashboard.tsx';
import { statRows } from './stat-rows.ts';

export function StatsScreen({ session, width, height, ui }: ScreenProps & { ui: UiState }): ReactNode {
  const theme = useContext(ThemeContext);
  const { rows, fills } = statRows(session, ui.stat, width, height, theme);
  return (
    <Box width={width} height={height}>
      <Rows rows={rows} width={width} height={height} fills={fills} />
    </Box>
  );
}
