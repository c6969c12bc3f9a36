// The latency view: how long requests took, hits apart from the rest, and their percentiles over the last minutes.

import { type ReactNode, useContext } from 'react';
import { ChartContext, ThemeContext } from '../../draw/contexts.ts';
import { Box } from '../../draw/ink.ts';
import { Lines, Rows } from '../../draw/rows.tsx';
import { span } from '../../draw/spans.ts';
import { Live } from '../../draw/use-console.ts';
import type { Quantity } from '../../model/traffic/latency-meter.ts';
import type { Window } from '../../model/traffic/traffic-sample.ts';
import { copyText } from '../../model/ui/copy-export.ts';
import { type StateSlot, stateOf } from '../../model/ui/ui-state.ts';
import { PLAIN_VIEW, type ScreenProps, type View, type ViewContext } from '../../model/ui/view.ts';
import { drill, filterLog } from '../log/log-view.tsx';
import { countersText } from '../stats/stat-rows.ts';
import {
  histogramRows,
  LATENCY_WINDOWS,
  type Latencies,
  PERCENTILE_ROWS,
  percentileRows,
  titleRow,
  trailRows,
} from './latency-rows.ts';

/** In the order in which the key cycles. */
const QUANTITIES: readonly Quantity[] = ['all', 'hits', 'others'];

const QUANTITY: StateSlot<Quantity> = { initial: 'all', carry: (quantity) => quantity };

const WINDOW: StateSlot<number> = { initial: 0, carry: (window) => window };

/** The chosen window and its latencies. */
function chosen(c: ViewContext): { window: Window; latencies: Latencies } {
  const window = LATENCY_WINDOWS[c.ui.stateOf(WINDOW)]?.seconds ?? null;
  return { window, latencies: c.session.traffic.sample.latencyOver(window, c.session.dataAt) };
}

const COPIED = [0.5, 0.9, 0.95, 0.99] as const;

export const LATENCY_VIEW: View = {
  ...PLAIN_VIEW,
  name: 'latency',
  key: '0',
  title: 'Latency',
  short: 'Latency',
  brief: 'Lat',
  keys: [
    {
      keys: ['t'],
      command: 'latency.next',
      help: 'Next quantity',
      hint: 'quantity',
      run: (c) => {
        const at = QUANTITIES.indexOf(c.ui.stateOf(QUANTITY));
        c.ui.setState(QUANTITY, QUANTITIES[(at + 1) % QUANTITIES.length] as Quantity);
      },
    },
    {
      keys: ['w'],
      command: 'latency.window',
      help: 'Period: last minute, 5 minutes, last 8,192 requests',
      hint: 'window',
      run: (c) => c.ui.setState(WINDOW, (c.ui.stateOf(WINDOW) + 1) % LATENCY_WINDOWS.length),
    },
    {
      keys: ['Z'],
      command: 'latency.clear',
      spare: 'zero',
      help: 'Reset the counters',
      run: (c) => c.session.traffic.sample.clearLatency(c.session.now()),
    },
    {
      keys: ['enter'],
      command: 'latency.open',
      help: 'Show the slowest 1 % in the log',
      hint: 'slowest',
      run: (c) => {
        const slow = chosen(c).latencies.slowest(0.99);
        if (slow === null) c.ui.notify('warn', 'no traffic yet');
        else drill(c, `Timestamp:Process[2] > ${roundedDown(slow.above)}`, slow.since);
      },
    },
    { keys: ['/'], command: 'latency.filter', help: 'Filter: the query of the log', run: filterLog },
  ],
  state: QUANTITY,
  copy: (c) => {
    const { latencies } = chosen(c);
    copyText(c, COPIED.map((p) => `p${p * 100}\t${latencies.percentile(p) ?? ''}`).join('\n'), 'the figures');
  },
  export: (c, json) => countersText(c.session.counters.all(), json),
  screen: (props) => <LatencyScreen {...props} quantity={stateOf(props.ui, QUANTITY)} />,
};

/** Three digits, rounded down: rounding to the nearest could exclude some of the slowest. */
function roundedDown(seconds: number): string {
  return seconds === 0 ? '0' : (seconds * 0.995).toPrecision(3);
}

/** Minimum height for the chart over time. */
const ROOM_FOR_TRAIL = 14;

function LatencyScreen({ c, quantity, width, height }: ScreenProps & { quantity: Quantity }): ReactNode {
  const theme = useContext(ThemeContext);
  const chart = useContext(ChartContext);
  const { session } = c;
  const room = height - PERCENTILE_ROWS - 3;
  const below = room < ROOM_FOR_TRAIL ? 0 : Math.max(6, Math.floor(room * 0.45));
  return (
    <Box flexDirection="column" width={width} height={height}>
      <Box height={2}>
        <Live session={session}>
          {() => {
            const { window, latencies } = chosen(c);
            const title = titleRow(session, latencies, quantity, window, width);
            return <Lines rows={[title]} width={width} height={1} />;
          }}
        </Live>
      </Box>
      <Live session={session}>
        {() => {
          const { latencies } = chosen(c);
          if (latencies.size === 0)
            return <Lines rows={[[span('  no traffic', 'muted')]]} width={width} height={1} />;
          const above = histogramRows(latencies, quantity, width, room - below, theme);
          const trail = below === 0 ? [] : trailRows(session, quantity, width, below, chart);
          const table = [[], ...percentileRows(latencies, width)];
          return (
            <>
              <Rows rows={[...above, ...trail]} width={width} height={room} />
              <Lines rows={table} width={width} height={PERCENTILE_ROWS + 1} />
            </>
          );
        }}
      </Live>
    </Box>
  );
}
