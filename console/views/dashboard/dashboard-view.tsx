// The dashboard. A cursor moves between panels, and Enter opens the view or query of a panel.

import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { copyText } from '../../model/ui/copy-export.ts';
import { bodyRows, type Place } from '../../model/ui/layout.ts';
import { percent, rate } from '../../model/ui/numbers.ts';
import { LAYOUTS } from '../../model/ui/settings.ts';
import { type StateSlot, stateOf } from '../../model/ui/ui-state.ts';
import { PLAIN_VIEW, type View, type ViewContext } from '../../model/ui/view.ts';
import type { ChartWindow } from '../chart-period.ts';
import { drill, filterLog } from '../log/log-view.tsx';
import { countersText } from '../stats/stat-rows.ts';
import { CHART_WINDOWS } from './dashboard-charts.ts';
import { openPanel, type PanelName } from './dashboard-panels.ts';
import { Dashboard, type PanelPlace, panelPlaces } from './dashboard-screen.tsx';

/** The panel under the cursor; null until one is selected. */
const CURSOR: StateSlot<PanelName | null> = { initial: null, carry: (panel) => panel };

const WINDOW: StateSlot<ChartWindow> = { initial: null, carry: (window) => window };

export const DASHBOARD_VIEW: View = {
  ...PLAIN_VIEW,
  name: 'dashboard',
  key: '1',
  title: 'Dashboard',
  short: 'Dash',
  brief: 'Dash',
  keys: [
    {
      keys: ['right', 'down', 'l', 'j', 'wheeldown'],
      command: 'dashboard.next',
      help: 'Next panel',
      run: (c) => step(c, 1),
    },
    {
      keys: ['left', 'up', 'h', 'k', 'wheelup'],
      command: 'dashboard.previous',
      help: 'Previous panel',
      run: (c) => step(c, -1),
    },
    {
      keys: ['enter'],
      command: 'dashboard.open',
      ofRow: true,
      help: 'Open the view or the transactions for the panel',
      hint: 'open',
      run: (c) => {
        const panel = c.ui.stateOf(CURSOR);
        if (panel === null) c.ui.notify('info', 'select a panel with the arrow keys, then press Enter');
        else openPanel(c, panel);
      },
    },
    {
      keys: ['w'],
      command: 'dashboard.window',
      help: 'Chart period: up to 15 minutes, 5 minutes, an hour, a day',
      hint: 'window',
      run: (c) => {
        const at = CHART_WINDOWS.indexOf(c.ui.stateOf(WINDOW));
        c.ui.setState(WINDOW, CHART_WINDOWS[(at + 1) % CHART_WINDOWS.length] ?? null);
      },
    },
    {
      keys: ['z'],
      command: 'dashboard.layout',
      help: 'Layout: balanced, tall charts, long lists (remembered)',
      hint: 'layout',
      run: ({ ui }) => {
        const { settings } = ui.state;
        const layout = LAYOUTS[(LAYOUTS.indexOf(settings.layout) + 1) % LAYOUTS.length] ?? 'balanced';
        ui.set({ settings: { ...settings, layout } });
        ui.notify('info', `layout: ${layout}`);
      },
    },
    { keys: ['/'], command: 'dashboard.filter', help: 'Filter: the query of the log', run: filterLog },
    {
      keys: ['e'],
      command: 'log.errors',
      help: 'Show the errors in the log view',
      hint: 'errors',
      run: (c) => drill(c, 'RespStatus >= 500'),
    },
  ],
  state: CURSOR,
  click,
  copy: (c) => {
    const counters = c.session.counters.all().filter((one) => one.info.level === 'info' && one.seen);
    copyText(c, counters.map((one) => `${one.info.name}\t${one.current}`).join('\n'), 'the figures');
  },
  export: (c, json) => countersText(c.session.counters.all(), json),
  spokenSummary: ({ session }) => {
    if (session.requests.length === 0) return '';
    return `${rate(session.requests.last() ?? 0)} requests a second, ${percent(session.hitRate.window(10).served)} from cache (hit rate ${percent(session.hitRate.window(10).rate)}), ${backendText(session)}.`;
  },
  screen: (props) => (
    <Dashboard {...props} cursor={stateOf(props.ui, CURSOR)} window={stateOf(props.ui, WINDOW)} />
  ),
};

function backendText({ backends, backendsUnknown }: DaemonSession): string {
  if (backendsUnknown !== '') return 'backends not known';
  const sick = backends.filter((b) => b.health === 'sick').map((b) => b.name);
  const all = backends.length === 1 ? '1 backend' : `${backends.length} backends`;
  return `${all}, ${sick.length === 0 ? 'none sick' : `sick: ${sick.join(', ')}`}`;
}

/** Moves among the panels shown at this screen size. */
function step(c: ViewContext, by: 1 | -1): void {
  const shown = places(c).map((place) => place.name);
  const at = shown.indexOf(c.ui.stateOf(CURSOR) as PanelName);
  const next = at < 0 ? (by > 0 ? 0 : shown.length - 1) : (at + by + shown.length) % shown.length;
  c.ui.setState(CURSOR, shown[next] as PanelName);
}

function click(c: ViewContext, { x, y }: Place): void {
  const hit = places(c).find(
    (p) => x >= p.left && x < p.left + p.width && y >= p.top && y < p.top + p.height,
  );
  if (hit === undefined) return;
  if (c.ui.stateOf(CURSOR) === hit.name) openPanel(c, hit.name);
  else c.ui.setState(CURSOR, hit.name);
}

function places(c: ViewContext): PanelPlace[] {
  return panelPlaces(
    c.ui.size.columns,
    bodyRows(c.ui.size),
    c.session.counters.threads,
    c.ui.state.settings.layout,
  );
}
