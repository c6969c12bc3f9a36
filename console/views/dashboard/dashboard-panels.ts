// The dashboard's panels, and the view or query that each one opens. dashboard-screen.tsx places them.

import { earliest } from '../../model/traffic/rankings.ts';
import type { Controller } from '../../model/ui/controller.ts';
import { BACKENDS_VIEW } from '../backends/backends-view.ts';
import { LATENCY_VIEW } from '../latency/latency-view.tsx';
import { drill, LOG_VIEW } from '../log/log-view.tsx';
import { actOnStats } from '../stats/stat-keys.ts';
import { STATS_VIEW } from '../stats/stats-view.tsx';
import { STORAGE_VIEW } from '../storage/storage-view.ts';
import { TOP_VIEW } from '../top/top-view.ts';

function topBy(c: Controller, title: string): void {
  c.showBehind(TOP_VIEW);
  const column = TOP_VIEW.definition.columns.findIndex((col) => col.title === title);
  TOP_VIEW.act(c, { type: 'sort-by', column, descending: true });
}

/** Epoch seconds at which the oldest counted request with status >= 400 ended. */
function refusedSince(c: Controller): number {
  const refused = c.session.sample.all('status').filter(({ key }) => Number(key) >= 400);
  return refused.reduce((since, rank) => earliest(since, rank.since), 0);
}

/** The targets of Enter, in reading order. */
const BEHIND = {
  requests: (c) => topBy(c, 'REQUESTS'),
  'hit-rate': (c) => {
    c.showBehind(STATS_VIEW);
    actOnStats(c, { type: 'filter', text: 'cache_' });
  },
  traffic: (c) => c.show(LOG_VIEW),
  backends: (c) => c.showBehind(BACKENDS_VIEW),
  storage: (c) => c.showBehind(STORAGE_VIEW),
  threads: (c) => {
    c.showBehind(STATS_VIEW);
    actOnStats(c, { type: 'filter', text: 'thr.' });
  },
  latency: (c) => c.showBehind(LATENCY_VIEW),
  status: (c) => drill(c, 'RespStatus >= 400', refusedSince(c)),
  top: (c) => topBy(c, 'REQUESTS'),
  misses: (c) => topBy(c, 'MISSES'),
  errors: (c) => drill(c, 'RespStatus >= 500'),
} as const satisfies Record<string, (c: Controller) => void>;

export type PanelName = keyof typeof BEHIND;

export function openPanel(c: Controller, name: PanelName): void {
  BEHIND[name](c);
}
