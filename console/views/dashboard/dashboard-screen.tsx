// The dashboard: requests and hit rate over time, request outcomes, backends, storage, threads if there are several,
// latency, status classes, most requested URLs, the last errors. Rows come from pure functions of the session; this
// file only lays them out.

import { type ReactNode, useContext } from 'react';
import { ChartContext, ThemeContext, UtcContext } from '../../draw/contexts.ts';
import { Box } from '../../draw/ink.ts';
import { Panel, Remark } from '../../draw/panel.tsx';
import { Rows } from '../../draw/rows.tsx';
import { dimmed, type Row, span } from '../../draw/spans.ts';
import { Live, useThreads } from '../../draw/use-console.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { PANEL_EDGES } from '../../model/ui/layout.ts';
import type { LayoutName } from '../../model/ui/settings.ts';
import type { ScreenProps } from '../../model/ui/view.ts';
import type { ChartWindow } from '../chart-period.ts';
import { causeRows, eventRows } from './dashboard-beside.ts';
import { requestRows, requestsRemark, servedRemark, servedRows } from './dashboard-charts.ts';
import type { PanelName } from './dashboard-panels.ts';
import {
  backendRows,
  latencySummary,
  percentileRemark,
  sampleRemark,
  statusRows,
  threadLines,
  threadRows,
  topRows,
  turnRemark,
} from './dashboard-rows.ts';
import { storageRows, trafficRemark, trafficRows } from './dashboard-traffic.ts';
import { errorRows } from './last-errors.ts';

export interface DashboardLayout {
  chart: { left: number; right: number; height: number };
  /** Widths of traffic, backends and storage; storage is 0 if it has no panel of its own. */
  middle: { traffic: number; backends: number; storage: number; height: number };
  /** Height of the threads panel; 1 is a line without a border, 0 without threads. */
  threads: number;
  /** Height of latency, status classes and rankings; 0 if they do not fit. */
  extra: number;
  latency: number;
  status: number;
  top: number;
  errors: number;
  /** Width of each of the panels beside the errors; 0 if they do not fit. */
  beside: number;
}

/** Is there room for a storage panel, and for the sample's panels? */
function dashboardRoom(width: number, height: number): { storage: boolean; sample: boolean } {
  return { storage: width >= 110, sample: height >= 29 && width >= 100 };
}

/** Screens that are this wide have more panels beside the errors. */
const WIDE = 200;

/** Maximum rows of the threads panel (chosen). */
const THREAD_LINES = 4;

/** Rows of the lowest chart. */
const LOW_CHART = 6;

/** Panel sizes for a body of `width` by `height`. */
function dashboardLayout(
  width: number,
  height: number,
  names: readonly string[],
  layout: LayoutName,
): DashboardLayout {
  const left = Math.floor(width / 2);
  const middle = height >= 25 ? 9 : height >= 20 ? 8 : 7;
  const least = height >= 23 ? 6 : names.length > 0 ? 3 : 4;
  const room = dashboardRoom(width, height);
  const lines = Math.min(THREAD_LINES, threadLines(names, width - PANEL_EDGES));
  // A border costs two rows, too much for a small terminal.
  const threads = names.length === 0 ? 0 : height >= 25 ? lines + 2 : 1;
  const usual = height >= 59 ? 18 : height >= 43 ? 12 : 8;
  const most = height - middle - threads - LOW_CHART - least;
  const extra = !room.sample || layout === 'charts' ? 0 : layout === 'lists' ? most : usual;
  const rest = height - middle - extra - threads;
  const part =
    layout === 'charts' ? rest : layout === 'lists' ? LOW_CHART : Math.min(30, Math.floor(rest * 0.58));
  const chart = Math.max(LOW_CHART, Math.min(part, rest - least));
  const errors = rest - chart;
  const latency = Math.min(40, Math.floor(width * 0.25));
  const status = Math.min(34, Math.floor(width * 0.2));
  const top = Math.floor((width - latency - status) / 2);
  const storage = room.storage ? Math.floor(width * 0.28) : 0;
  const traffic = room.storage ? Math.floor(width * 0.3) : left;
  return {
    chart: { left, right: width - left, height: chart },
    middle: { traffic, backends: width - traffic - storage, storage, height: middle },
    threads,
    extra,
    latency,
    status,
    top,
    errors,
    beside: width >= WIDE ? Math.floor(width * 0.26) : 0,
  };
}

export interface PanelPlace {
  name: PanelName;
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Panel positions, relative to the upper left corner of the body. */
export function panelPlaces(
  width: number,
  height: number,
  threads: readonly string[],
  layout: LayoutName = 'balanced',
): PanelPlace[] {
  const l = dashboardLayout(width, height, threads, layout);
  const rows: [number, [PanelName, number][]][] = [
    [
      l.chart.height,
      [
        ['requests', l.chart.left],
        ['hit-rate', l.chart.right],
      ],
    ],
    [
      l.middle.height,
      [
        ['traffic', l.middle.traffic],
        ['backends', l.middle.backends],
        ['storage', l.middle.storage],
      ],
    ],
    [l.threads, [['threads', width]]],
    [
      l.extra,
      [
        ['latency', l.latency],
        ['status', l.status],
        ['top', l.top],
        ['misses', width - l.latency - l.status - l.top],
      ],
    ],
    [
      l.errors,
      [
        ['errors', width - 2 * l.beside],
        ['causes', l.beside],
        ['events', l.beside],
      ],
    ],
  ];
  let top = 0;
  return rows.flatMap(([rowHeight, panels]) => {
    let left = 0;
    const at = top;
    top += rowHeight;
    return panels.flatMap(([name, panelWidth]) => {
      const place = { name, left, top: at, width: panelWidth, height: rowHeight };
      left += panelWidth;
      return panelWidth === 0 || rowHeight === 0 ? [] : [place];
    });
  });
}

export interface DashboardProps extends ScreenProps {
  /** The panel under the cursor. */
  cursor: PanelName | null;
  /** The period that the charts cover. */
  window: ChartWindow;
}

export function Dashboard({ c, ui, width, height, cursor, window }: DashboardProps): ReactNode {
  const { session } = c;
  const theme = useContext(ThemeContext);
  const chart = useContext(ChartContext);
  const utc = useContext(UtcContext);
  const l = dashboardLayout(width, height, useThreads(session), ui.settings.layout);
  const narrow = l.middle.storage === 0;
  const misses = width - l.latency - l.status - l.top;
  const common = { session, cursor };
  return (
    <Box flexDirection="column" width={width} height={height}>
      <Box>
        <DashboardPanel
          {...common}
          name="requests"
          title="Requests"
          width={l.chart.left}
          height={l.chart.height}
          rows={(w, h) => requestRows(session, w, h, chart, window)}
          remark={() => requestsRemark(session, l.chart.left, l.chart.height, window)}
        />
        <DashboardPanel
          {...common}
          name="hit-rate"
          title="From cache"
          width={l.chart.right}
          height={l.chart.height}
          rows={(w, h) => servedRows(session, w, h, chart, window)}
          remark={() => servedRemark(session, l.chart.right)}
        />
      </Box>
      <Box>
        <DashboardPanel
          {...common}
          name="traffic"
          title={narrow ? 'Traffic and storage' : 'Traffic'}
          width={l.middle.traffic}
          height={l.middle.height}
          rows={(w, h) => trafficRows(session, w, h, narrow, theme, chart)}
          remark={(room) => trafficRemark(session, room)}
        />
        <DashboardPanel
          {...common}
          name="backends"
          title="Backends"
          width={l.middle.backends}
          height={l.middle.height}
          rows={(w) => backendRows(session, w, theme)}
        />
        {narrow ? null : (
          <DashboardPanel
            {...common}
            name="storage"
            title="Storage"
            width={l.middle.storage}
            height={l.middle.height}
            rows={(w) => storageRows(session, w, theme)}
          />
        )}
      </Box>
      {l.threads === 0 ? null : l.threads === 1 ? (
        <ThreadLine {...common} width={width} />
      ) : (
        <DashboardPanel
          {...common}
          name="threads"
          title="Threads"
          width={width}
          height={l.threads}
          rows={(w, h) => threadRows(session, w, h)}
        />
      )}
      {l.extra === 0 ? null : (
        <Box>
          <DashboardPanel
            {...common}
            name="latency"
            title="Latency 1m"
            width={l.latency}
            height={l.extra}
            rows={(w) => latencySummary(session, w, theme)}
            remark={() => sampleRemark(session)}
          />
          <DashboardPanel
            {...common}
            name="status"
            title="Status 1m"
            width={l.status}
            height={l.extra}
            rows={(w, h) => statusRows(session, w, h, theme)}
          />
          <DashboardPanel
            {...common}
            name="top"
            title="Top 1m"
            width={l.top}
            height={l.extra}
            rows={(w, h) => topRows(session, 'requests', w, h, theme)}
          />
          <DashboardPanel
            {...common}
            name="misses"
            title="Top misses 1m"
            width={misses}
            height={l.extra}
            rows={(w, h) => topRows(session, 'misses', w, h, theme)}
          />
        </Box>
      )}
      <Box>
        <DashboardPanel
          {...common}
          name="errors"
          title="Last errors"
          isPast
          width={width - 2 * l.beside}
          height={l.errors}
          rows={(w, h) => errorRows(session, w, h, utc, theme)}
          remark={() => errorsRemark(session, l.extra === 0)}
        />
        {l.beside === 0 ? null : (
          <>
            <DashboardPanel
              {...common}
              name="causes"
              title="Why misses 5m"
              width={l.beside}
              height={l.errors}
              rows={(w, h) => causeRows(session, w, h, theme)}
              remark={() => [span('of all requests', 'faint')]}
            />
            <DashboardPanel
              {...common}
              name="events"
              title="Events"
              isPast
              width={l.beside}
              height={l.errors}
              rows={(w, h) => eventRows(session, w, h, utc, theme)}
            />
          </>
        )}
      </Box>
    </Box>
  );
}

/** Percentiles if there is no latency panel, and the longest turn. */
function errorsRemark(session: DaemonSession, isSmall: boolean): Row {
  const percentiles = isSmall ? percentileRemark(session) : [];
  const turn = turnRemark(session);
  return percentiles.length > 0 && turn.length > 0
    ? [...percentiles, span('   '), ...turn]
    : [...percentiles, ...turn];
}

/** Threads as a single line with a cursor, if a panel does not fit. */
function ThreadLine({
  session,
  cursor,
  width,
}: Pick<DashboardPanelProps, 'session' | 'cursor' | 'width'>): ReactNode {
  const { pointer } = useContext(ThemeContext).glyphs;
  const mark = cursor === 'threads' ? span(`${pointer} `, 'accent') : span('  ');
  const rows = (): Row[] => threadRows(session, width - 4, 1).map((row) => [mark, ...row]);
  return (
    <Box height={1} width={width} flexShrink={0}>
      <Live session={session}>{() => <Rows rows={rows()} width={width} height={1} />}</Live>
    </Box>
  );
}

interface DashboardPanelProps {
  session: DaemonSession;
  cursor: PanelName | null;
  name: PanelName;
  title: string;
  width: number;
  height: number;
  /** Rows for this width and height. */
  rows(width: number, height: number): readonly Row[];
  remark?(room: number): Row;
  /** Its rows stay true without a daemon. */
  isPast?: true;
}

/** The frame is static; only the content is redrawn with new data. */
function DashboardPanel({
  session,
  cursor,
  name,
  title,
  width,
  height,
  rows,
  remark,
  isPast,
}: DashboardPanelProps): ReactNode {
  const { pointer } = useContext(ThemeContext).glyphs;
  const here = name === cursor;
  const inside = { width: width - PANEL_EDGES, height: height - 2 };
  const shown = (drawn: readonly Row[]): readonly Row[] => (session.isOld && !isPast ? dimmed(drawn) : drawn);
  return (
    <Panel
      title={here ? `${pointer} ${title}` : title}
      remark={(room) => (
        <Live session={session}>
          {() => <Remark row={remark === undefined ? [] : (shown([remark(room)])[0] as Row)} room={room} />}
        </Live>
      )}
      width={width}
      height={height}
      style={here ? 'accent' : 'frame'}
    >
      <Live session={session}>
        {() => {
          const drawn = rows(inside.width, inside.height);
          return <Rows rows={shown(drawn)} {...inside} />;
        }}
      </Live>
    </Panel>
  );
}
