// The latency histogram: how many of the last sampled requests took how long, hits apart from the rest, with the
// percentiles of each, and where there is room how two of them went over the last minutes.

import { type ReactNode, useContext } from 'react';
import { ChartContext, ThemeContext } from '../../draw/contexts.ts';
import { Box } from '../../draw/ink.ts';
import { Lines, Rows } from '../../draw/rows.tsx';
import { span } from '../../draw/spans.ts';
import { Live } from '../../draw/use-console.ts';
import type { Quantity } from '../../model/latency-meter.ts';
import type { ScreenProps } from '../../model/view.ts';
import { histogramRows, PERCENTILE_ROWS, percentileRows, titleRow } from './latency-rows.ts';
import { trailRows } from './latency-trail-rows.ts';

/** From so many rows on there is room for what went before. */
const ROOM_FOR_TRAIL = 14;

export function LatencyScreen({
  controller,
  quantity,
  width,
  height,
}: ScreenProps & { quantity: Quantity }): ReactNode {
  const theme = useContext(ThemeContext);
  const chart = useContext(ChartContext);
  const { session } = controller;
  const room = height - PERCENTILE_ROWS - 3;
  const below = room < ROOM_FOR_TRAIL ? 0 : Math.max(6, Math.floor(room * 0.45));
  return (
    <Box flexDirection="column" width={width} height={height}>
      <Box height={2}>
        <Live session={session}>
          {() => <Lines rows={[titleRow(session, quantity, width)]} width={width} height={1} />}
        </Live>
      </Box>
      <Live session={session}>
        {() =>
          session.sample.latency.size === 0 ? (
            <Lines rows={[[span('  no traffic yet', 'muted')]]} width={width} height={1} />
          ) : (
            <>
              <Rows
                rows={[
                  ...histogramRows(session, quantity, width, room - below, theme),
                  ...(below === 0 ? [] : trailRows(session, quantity, width, below, chart)),
                ]}
                width={width}
                height={room}
              />
              <Lines
                rows={[[], ...percentileRows(session, width)]}
                width={width}
                height={PERCENTILE_ROWS + 1}
              />
            </>
          )
        }
      </Live>
    </Box>
  );
}
