// The dashboard: requests and hit rate over time, what became of the requests, backends, storage, latency, status
// classes, what is asked for most, the last errors. All rows are made by plain functions of the session; this file only places them.

import { type ReactNode, useContext } from 'react';
import type { PanelName } from '../../model/dashboard.ts';
import { dashboardRoom } from '../../model/layout.ts';
import type { Session } from '../../model/session.ts';
import { Rows } from '../components/rows.tsx';
import { framed } from '../frame.ts';
import { ChartContext, ThemeContext, UtcContext } from '../hooks/contexts.ts';
import { Box } from '../ink.ts';
import type { Row } from '../spans.ts';
import { backendRows } from './dashboard-backends.ts';
import { hitRateRemark, hitRateRows, requestRows, requestsRemark } from './dashboard-charts.ts';
import { errorRows } from './dashboard-errors.ts';
import { latencySummary, percentileRemark, sampleRemark, statusRows, topRows } from './dashboard-sample.ts';
import { storageRows, trafficRows } from './dashboard-traffic.ts';

export interface ScreenProps {
  session: Session;
  width: number;
  height: number;
}

export interface DashboardLayout {
  chart: { left: number; right: number; height: number };
  /** Widths of traffic, backends and storage; storage 0 means that it is not shown apart. */
  middle: { traffic: number; backends: number; storage: number; height: number };
  /** Latency, status classes and rankings; 0 rows where they have no room. */
  extra: number;
  latency: number;
  status: number;
  top: number;
  errors: number;
}

/** Sizes of the dashboard's panels for a body of `width` by `height`. */
function dashboardLayout(width: number, height: number): DashboardLayout {
  const left = Math.floor(width / 2);
  const middle = height >= 26 ? 9 : height >= 21 ? 8 : 7;
  const least = height >= 24 ? 6 : 4;
  const room = dashboardRoom(width, height);
  const extra = room.sample ? (height >= 60 ? 18 : height >= 44 ? 12 : 8) : 0;
  const rest = height - middle - extra;
  const chart = Math.max(6, Math.min(30, Math.floor(rest * 0.58), rest - least));
  const errors = rest - chart;
  const latency = Math.min(40, Math.floor(width * 0.25));
  const status = Math.min(34, Math.floor(width * 0.2));
  const top = Math.floor((width - latency - status) / 2);
  const storage = room.storage ? Math.floor(width * 0.28) : 0;
  const traffic = room.storage ? Math.floor(width * 0.3) : left;
  return {
    chart: { left, right: width - left, height: chart },
    middle: { traffic, backends: width - traffic - storage, storage, height: middle },
    extra,
    latency,
    status,
    top,
    errors,
  };
}

export interface PanelPlace {
  name: PanelName;
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Where the panels are, from the upper left corner of the body. */
export function panelPlaces(width: number, height: number): PanelPlace[] {
  const l = dashboardLayout(width, height);
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
    [
      l.extra,
      [
        ['latency', l.latency],
        ['status', l.status],
        ['top', l.top],
        ['misses', width - l.latency - l.status - l.top],
      ],
    ],
    [l.errors, [['errors', width]]],
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

export function Dashboard({ session, width, height, cursor }: ScreenProps & { cursor: string }): ReactNode {
  const theme = useContext(ThemeContext);
  const chart = useContext(ChartContext);
  const utc = useContext(UtcContext);
  const l = dashboardLayout(width, height);
  const panel = (
    name: PanelName,
    title: string,
    rows: Parameters<typeof framed>[0],
    w: number,
    h: number,
    remark = requestsNone,
  ) => {
    const here = name === cursor;
    const marked = { title: here ? `${theme.glyphs.pointer} ${title}` : title, width: w, height: h, remark };
    const options = here ? { ...marked, style: 'accent' as const } : marked;
    return <Rows rows={framed(rows, options, theme)} width={w} height={h} />;
  };
  const inside = (w: number): number => w - 4;
  const narrow = l.middle.storage === 0;
  const traffic = trafficRows(session, inside(l.middle.traffic), l.middle.height - 2, narrow, theme, chart);
  return (
    <Box flexDirection="column" width={width} height={height}>
      <Box>
        {panel(
          'requests',
          'Requests',
          requestRows(session, inside(l.chart.left), l.chart.height - 2, chart),
          l.chart.left,
          l.chart.height,
          requestsRemark(session),
        )}
        {panel(
          'hit-rate',
          'Hit rate',
          hitRateRows(session, inside(l.chart.right), l.chart.height - 2, chart),
          l.chart.right,
          l.chart.height,
          hitRateRemark(session, l.chart.right),
        )}
      </Box>
      <Box>
        {panel(
          'traffic',
          narrow ? 'Traffic and storage' : 'Traffic',
          traffic,
          l.middle.traffic,
          l.middle.height,
        )}
        {panel(
          'backends',
          'Backends',
          backendRows(session, inside(l.middle.backends), theme),
          l.middle.backends,
          l.middle.height,
        )}
        {narrow
          ? null
          : panel(
              'storage',
              'Storage',
              storageRows(session, inside(l.middle.storage), theme),
              l.middle.storage,
              l.middle.height,
            )}
      </Box>
      {l.extra === 0 ? null : (
        <Box>
          {panel(
            'latency',
            'Latency',
            latencySummary(session, inside(l.latency), theme),
            l.latency,
            l.extra,
            sampleRemark(session),
          )}
          {panel(
            'status',
            'Status',
            statusRows(session, inside(l.status), l.extra - 2, theme),
            l.status,
            l.extra,
          )}
          {panel(
            'top',
            'Top',
            topRows(session, 'requests', inside(l.top), l.extra - 2, theme),
            l.top,
            l.extra,
          )}
          {panel(
            'misses',
            'Top misses',
            topRows(session, 'misses', inside(width - l.latency - l.status - l.top), l.extra - 2, theme),
            width - l.latency - l.status - l.top,
            l.extra,
          )}
        </Box>
      )}
      {panel(
        'errors',
        'Last errors',
        errorRows(session, inside(width), l.errors - 2, utc, theme),
        width,
        l.errors,
        l.extra === 0 ? percentileRemark(session) : undefined,
      )}
    </Box>
  );
}

const requestsNone: Row = [];
