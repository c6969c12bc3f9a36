// The dashboard's panels, and the view or query that each one opens. dashboard-screen.tsx places them.

import { LAST_MINUTE } from '../../model/traffic/backend-traffic.ts';
import { earliest } from '../../model/traffic/rankings.ts';
import { pushView, showView } from '../../model/ui/navigation.ts';
import type { ViewContext } from '../../model/ui/view.ts';
import { BACKENDS_VIEW } from '../backends/backends-view.ts';
import { CAUSES_VIEW } from '../causes/causes-view.ts';
import { EVENTS_VIEW } from '../events/events-view.ts';
import { LATENCY_VIEW } from '../latency/latency-view.tsx';
import { drill, LOG_VIEW } from '../log/log-view.tsx';
import { actOnStats } from '../stats/stat-keys.ts';
import { STATS_VIEW } from '../stats/stats-view.tsx';
import { STORAGE_VIEW } from '../storage/storage-view.ts';
import { TOP_VIEW } from '../top/top-view.ts';

function topBy(c: ViewContext, title: string): void {
  pushView(c, TOP_VIEW);
  const column = TOP_VIEW.definition.columns.findIndex((col) => col.title === title);
  TOP_VIEW.act(c, { type: 'sort-by', column, descending: true });
}

/** Epoch seconds at which the oldest counted request with status >= 400 ended. */
function refusedSince(c: ViewContext): number {
  const refused = c.session.traffic.sample
    .ranked('status', LAST_MINUTE, c.session.dataAt, 100)
    .ranks.filter(({ key }) => Number(key) >= 400);
  return refused.reduce((since, rank) => earliest(since, rank.since), 0);
}

/** The targets of Enter, in reading order. */
const TARGETS = {
  requests: (c) => topBy(c, 'REQUESTS'),
  'hit-rate': (c) => {
    pushView(c, STATS_VIEW);
    actOnStats(c, { type: 'filter', text: 'cache_' });
  },
  traffic: (c) => showView(c, LOG_VIEW),
  backends: (c) => pushView(c, BACKENDS_VIEW),
  storage: (c) => pushView(c, STORAGE_VIEW),
  threads: (c) => {
    pushView(c, STATS_VIEW);
    actOnStats(c, { type: 'filter', text: 'thr.' });
  },
  latency: (c) => pushView(c, LATENCY_VIEW),
  status: (c) => drill(c, 'RespStatus >= 400', refusedSince(c)),
  top: (c) => topBy(c, 'REQUESTS'),
  misses: (c) => topBy(c, 'MISSES'),
  errors: (c) => drill(c, 'RespStatus >= 500'),
  causes: (c) => pushView(c, CAUSES_VIEW),
  events: (c) => pushView(c, EVENTS_VIEW),
} as const satisfies Record<string, (c: ViewContext) => void>;

export type PanelName = keyof typeof TARGETS;

export function openPanel(c: ViewContext, name: PanelName): void {
  TARGETS[name](c);
}
