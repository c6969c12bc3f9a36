// The statistics view, with the columns of varnishstat.

import { memo, type ReactNode, useContext } from 'react';
import { ThemeContext } from '../../draw/contexts.ts';
import { Box } from '../../draw/ink.ts';
import { Lines, Rows } from '../../draw/rows.tsx';
import { dimmed } from '../../draw/spans.ts';
import { Live } from '../../draw/use-console.ts';
import { Bar, Line, Words } from '../../draw/words.tsx';
import type { Counter } from '../../model/counters/counter-history.ts';
import type { ScreenProps } from '../../model/ui/view.ts';
import {
  description,
  headingRow,
  headRows,
  type ShownCounters,
  shownCounters,
  statColumns,
  statusRows,
} from './stat-rows.ts';
import type { StatState } from './stat-state.ts';

/** Rows around the list: two of uptimes, the heading, the status and two of description. */
const AROUND = 6;
/** Minimum width for the number of counters outside of the window. */
const PLACE_WIDTH = 80;

export function StatsScreen({ c, state, width, height }: ScreenProps & { state: StatState }): ReactNode {
  const theme = useContext(ThemeContext);
  const { session } = c;
  const columns = statColumns(width);
  const room = Math.max(1, height - AROUND);
  return (
    <Box flexDirection="column" width={width} height={height}>
      <Live session={session}>
        {() => <Lines rows={headRows(session, width)} width={width} height={2} />}
      </Live>
      <Bar width={width}>
        <Line row={headingRow(columns)} />
      </Bar>
      <Live session={session}>
        {() => {
          const shown = shownCounters(session, state, columns, room, theme);
          return (
            <>
              <Rows
                rows={session.isOld ? dimmed(shown.rows) : shown.rows}
                width={width}
                height={room}
                fills={new Map([[shown.cursor, 'selected']])}
              />
              <Status
                view={state}
                counter={shown.current}
                place={
                  width >= PLACE_WIDTH && shown.more !== '' ? `${shown.more}  ${shown.place}` : shown.place
                }
                width={width}
              />
            </>
          );
        }}
      </Live>
    </Box>
  );
}

/** The selected counter: name, display settings, description. */
const Status = memo(function Status({
  view,
  counter,
  place,
  width,
}: {
  view: StatState;
  counter: Counter | undefined;
  place: ShownCounters['place'];
  width: number;
}): ReactNode {
  const theme = useContext(ThemeContext);
  const { remarks, levels } = statusRows(view);
  return (
    <>
      <Bar width={width}>
        <Box>
          <Words style="strong">{` ${counter?.info.name ?? 'no counter'}  `}</Words>
          <Words style="warn">{remarks}</Words>
        </Box>
        <Box flexShrink={0}>
          <Line row={levels} />
          <Words style="muted">{`  ${place} `}</Words>
        </Box>
      </Bar>
      {description(counter, width, theme).map((row, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two rows, always
        <Line key={i} row={row} />
      ))}
    </>
  );
});
