// The latency histogram: how many of the last sampled requests took how long, hits apart from the rest, with the
// percentiles of each.

import { type ReactNode, useContext } from 'react';
import { Rows } from '../components/rows.tsx';
import { ThemeContext } from '../hooks/contexts.ts';
import { Box } from '../ink.ts';
import type { ScreenProps } from './dashboard.tsx';
import { latencyRows } from './latency-rows.ts';

export function LatencyScreen({
  session,
  width,
  height,
  option,
}: ScreenProps & { option: string }): ReactNode {
  const theme = useContext(ThemeContext);
  return (
    <Box width={width} height={height}>
      <Rows rows={latencyRows(session, option, width, height, theme)} width={width} height={height} />
    </Box>
  );
}
