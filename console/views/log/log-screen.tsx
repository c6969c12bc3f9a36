// The log view: the query bar with its status, the tree of groups, and the detail pane next to or below it.

import { memo, type ReactNode, useContext, useState } from 'react';
import { ThemeContext, UtcContext } from '../../draw/contexts.ts';
import { Box } from '../../draw/ink.ts';
import { Panel, Remark } from '../../draw/panel.tsx';
import { Rows } from '../../draw/rows.tsx';
import { span } from '../../draw/spans.ts';
import type { FillName } from '../../draw/theme.ts';
import { Live } from '../../draw/use-console.ts';
import { Bar, Line } from '../../draw/words.tsx';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { PANEL_EDGES } from '../../model/ui/layout.ts';
import type { ScreenProps } from '../../model/ui/view.ts';
import { LogPainter } from './log-rows.ts';
import { type LogState, logBody, visibleRows } from './log-state.ts';
import { QueryBar } from './query-bar.tsx';

export function LogScreen({ c, ui, state, width, height }: ScreenProps & { state: LogState }): ReactNode {
  const { session } = c;
  const [painter] = useState(() => new LogPainter());
  const theme = useContext(ThemeContext);
  const utc = useContext(UtcContext);
  const body = logBody(c.ui.size, state.detail);
  const listWidth = width - body.beside;
  const list = (): ReactNode => {
    const shown = visibleRows(state, session.log.shown, body.list);
    const fills = new Map<number, FillName>();
    const rows = shown.map((v, i) => {
      if (v.row === 0 && state.bookmarks.includes(v.entry.seq)) fills.set(i, 'bar');
      if (!state.follow && v.entry.seq === state.selected && v.row === state.offset) fills.set(i, 'selected');
      return painter.row(v, state, listWidth, utc, theme);
    });
    if (rows.length === 0) rows.push(painter.empty(session));
    return <Rows rows={rows} width={listWidth} height={body.list} fills={fills} />;
  };
  return (
    <Box flexDirection="column" width={width} height={height}>
      <QueryBar session={session} open={ui.field} state={state} width={width} />
      <Box flexDirection={body.beside > 0 ? 'row' : 'column'}>
        <Box flexDirection="column" width={listWidth} flexShrink={0}>
          <Bar width={listWidth}>
            <Line row={painter.heading(state, listWidth)} />
          </Bar>
          <Live session={session}>{list}</Live>
        </Box>
        {body.detail === 0 ? null : (
          <Detail
            session={session}
            state={state}
            painter={painter}
            width={body.beside > 0 ? body.beside : width}
            height={body.detail}
          />
        )}
      </Box>
    </Box>
  );
}

interface DetailProps {
  session: DaemonSession;
  state: LogState;
  painter: LogPainter;
  width: number;
  height: number;
}

function Detail({ session, state, painter, width, height }: DetailProps): ReactNode {
  const theme = useContext(ThemeContext);
  const inner = { width: width - PANEL_EDGES, height: height - 2 };
  const detail = () => painter.detail(session, state, inner.width, inner.height, theme);
  // The same element across states: the frame is only redrawn if its title changes.
  const records = <Live session={session}>{() => <Rows rows={detail().rows} {...inner} />}</Live>;
  return (
    <Live session={session}>
      {() => {
        const { title, remark } = detail();
        return (
          <Titled title={title} remark={remark} width={width} height={height}>
            {records}
          </Titled>
        );
      }}
    </Live>
  );
}

interface TitledProps {
  title: string;
  remark: string;
  width: number;
  height: number;
  children: ReactNode;
}

const Titled = memo(function Titled({ title, remark, width, height, children }: TitledProps): ReactNode {
  return (
    <Panel
      title={title}
      remark={(room) => <Remark row={[span(remark, 'faint')]} room={room} />}
      width={width}
      height={height}
    >
      {children}
    </Panel>
  );
});
