// What the keys of the list views do.

import type { Controller } from '../controller.ts';
import { filterLog, openPanel, PANELS, type PanelName, stepPanel } from '../dashboard.ts';
import { bodyRows, dashboardRoom } from '../layout.ts';
import { lineOf } from '../line-editor.ts';
import type { ListRow } from '../list-view.ts';
import { listDefinition } from '../lists/list-definitions.ts';
import { rankingOf } from '../lists/top-list.ts';
import { cursorIndex, visibleCounters } from '../stat-view.ts';
import { RANKINGS } from '../traffic-sample.ts';
import type { ListViewName, ViewName } from '../views.ts';
import type { Action } from './actions.ts';

const SCROLL = 4;

/** With the selected row of a view; nothing happens without one. */
function withRow(view: ListViewName, act: (c: Controller, row: ListRow) => void): Action {
  return (c) => {
    const row = c.selected(view);
    if (row === undefined) c.notify('warn', 'nothing is selected');
    else act(c, row);
  };
}

const setHealth = (state: string): Action =>
  withRow('backends', (c, row) => c.operator.submit(`backend.set_health ${row.key} ${state}`));

const STATES = ['auto', 'warm', 'cold'];

function nextState(c: Controller, row: ListRow) {
  if (row.facts.state === 'label') return c.notify('warn', 'a label has the state of its program');
  const next = STATES[(STATES.indexOf(row.facts.state ?? '') + 1) % STATES.length] as string;
  c.operator.submit(`vcl.state ${row.key} ${next}`);
}

function promptParameter(c: Controller, row: ListRow): void {
  const unit = row.facts.unit === '' ? '' : ` [${row.facts.unit}]`;
  c.fields.prompt('parameter', `${row.key}${unit}`, row.key, row.facts.value);
}

function promptTag(c: Controller): void {
  const row = c.selected('bans');
  const tag = row?.facts.kind === 'tag' ? (row.facts.tag ?? '') : '';
  const header = row?.facts.kind === 'tag' ? (row.facts.header ?? 'xkey') : 'xkey';
  c.fields.prompt('tag', `ban all with this tag in ${header}`, header, tag);
}

/** What Enter does on a row of each view. */
const OPENS: Readonly<Record<ListViewName, (c: Controller, row: ListRow) => void>> = {
  // The log names a backend without its program.
  backends: (c, row) => c.drill(`BackendOpen[2] eq "${row.key.slice(row.key.lastIndexOf('.') + 1)}"`),
  programs: (c, row) =>
    void c.programs.showSource(row.facts.target === '' ? row.key : (row.facts.target ?? '')),
  parameters: promptParameter,
  bans: (c, row) => (row.facts.kind === 'tag' ? promptTag(c) : c.list({ type: 'detail' })),
  storage: (c) => c.list({ type: 'detail' }),
  top: (c, row) => c.drill(row.facts.query ?? ''),
  panics: (c, row) =>
    c.set({ panel: { kind: 'text', scroll: 0, title: `${row.facts.kind}`, lines: row.detail() } }),
};

function nextRanking(c: Controller): void {
  const at = RANKINGS.indexOf(rankingOf(c.state.options.top ?? ''));
  c.option('top', RANKINGS[(at + 1) % RANKINGS.length] as string);
}

function panelsShown(c: Controller): readonly PanelName[] {
  const room = dashboardRoom(c.size.columns, bodyRows(c.size, c.banner));
  return PANELS.filter((p) =>
    p === 'storage' ? room.storage : ['latency', 'status', 'top', 'misses'].includes(p) ? room.sample : true,
  );
}

/** What a counter counts, as a query of the log or as a view. */
const COUNTED: readonly (readonly [RegExp, { query: string } | { view: ViewName }])[] = [
  [/^MAIN\.cache_hit$/, { query: 'VCL_call eq "HIT"' }],
  [/^MAIN\.cache_miss$/, { query: 'VCL_call eq "MISS"' }],
  [/^MAIN\.cache_hitmiss$/, { query: 'HitMiss' }],
  [/^MAIN\.cache_hitpass$/, { query: 'HitPass' }],
  [/^MAIN\.s_pass$/, { query: 'VCL_call eq "PASS"' }],
  [/^MAIN\.s_pipe/, { query: 'VCL_call eq "PIPE"' }],
  [/^MAIN\.s_synth$/, { query: 'VCL_call eq "SYNTH"' }],
  [/^MAIN\.(fetch_failed|backend_fail|backend_unhealthy|backend_busy)$/, { query: 'FetchError' }],
  [/^MAIN\.(client_req|s_sess|sess_conn|s_fetch|backend_req)$/, { view: 'log' }],
  [/^MAIN\.(n_object|n_expired|n_lru)|^SM[AF]\./, { view: 'storage' }],
  [/^MAIN\.(bans|n_purge|n_obj_purged)/, { view: 'bans' }],
  [/^MAIN\.(n_vcl|vcl_)/, { view: 'programs' }],
  [/^(VBE|MAIN\.(n_backend|backend_))/, { view: 'backends' }],
  [/^MGT\.child_/, { view: 'panics' }],
];

function openCounter(c: Controller) {
  const visible = visibleCounters(c.state.stat, c.session.counters.all());
  const name = visible[cursorIndex(c.state.stat, visible)]?.info.name ?? '';
  const to = COUNTED.find(([pattern]) => pattern.test(name))?.[1];
  if (to === undefined) return c.notify('info', `there is nothing behind ${name} to show`);
  if ('query' in to) c.drill(to.query);
  else c.show(to.view);
}

function openSlowest(c: Controller) {
  const slow = c.session.sample.latency.percentile(0.99);
  if (slow === null) return c.notify('warn', 'no traffic yet');
  c.drill(`Timestamp:Process[2] > ${slow.toPrecision(3)}`);
}

export const ADMIN_ACTIONS = {
  'log.errors': (c: Controller) => c.drill('RespStatus >= 500'),
  'dashboard.next': (c: Controller) => stepPanel(c, 1, panelsShown(c)),
  'dashboard.previous': (c: Controller) => stepPanel(c, -1, panelsShown(c)),
  'dashboard.open': (c: Controller) => openPanel(c),
  'dashboard.filter': filterLog,
  'stats.open': openCounter,
  'latency.open': openSlowest,
  'latency.filter': filterLog,
  'list.filter': (c: Controller) => {
    if (c.listView !== null) c.fields.open('filter', lineOf(c.state.lists[c.listView].filter));
  },
  'list.sort': (c: Controller) => {
    if (c.listView === null) return;
    const { columns } = listDefinition(c.listView);
    c.list({ type: 'sort', columns: columns.length });
  },
  'list.reverse': (c: Controller) => c.list({ type: 'reverse' }),
  'list.open': (c: Controller) => {
    const view = c.listView;
    if (view !== null) withRow(view, OPENS[view])(c);
  },
  'list.detail': (c: Controller) => c.list({ type: 'detail' }),
  'list.scroll-up': (c: Controller) => c.list({ type: 'scroll', rows: -SCROLL }),
  'list.scroll-down': (c: Controller) => c.list({ type: 'scroll', rows: SCROLL }),
  'list.refresh': (c: Controller) => c.session.admin.refresh(),

  'backends.sick': setHealth('sick'),
  'backends.healthy': setHealth('healthy'),
  'backends.auto': setHealth('auto'),

  'programs.load': (c: Controller) => c.fields.prompt('load', 'load from file'),
  'programs.use': withRow('programs', (c, row) => void c.programs.use(row.key)),
  'programs.diff': withRow('programs', (c, row) => void c.programs.diff(row.key)),
  'programs.discard': withRow('programs', (c, row) => c.operator.submit(`vcl.discard ${row.key}`)),
  'programs.lint': (c: Controller) => c.fields.prompt('lint', 'check file'),
  'programs.state': withRow('programs', nextState),

  'parameters.set': withRow('parameters', promptParameter),
  'parameters.reset': withRow('parameters', (c, row) =>
    row.facts.changed === 'yes'
      ? c.operator.submit(`param.reset ${row.key}`)
      : c.notify('info', `${row.key} has its default`),
  ),
  'parameters.changed': (c: Controller) =>
    c.option('parameters', c.state.options.parameters === 'changed' ? '' : 'changed'),

  'bans.add': (c: Controller) => c.fields.prompt('ban', 'ban'),
  'bans.soft': (c: Controller) => c.fields.prompt('soft-ban', 'ban.soft'),
  'bans.tag': promptTag,

  'top.next': nextRanking,
  'top.clear': (c: Controller) => c.session.clearSample(),
  'latency.next': (c: Controller) =>
    c.option(
      'latency',
      c.state.options.latency === 'hits' ? 'others' : c.state.options.latency === 'others' ? '' : 'hits',
    ),
  'latency.clear': (c: Controller) => c.session.sample.latency.clear(),
  'panics.clear': (c: Controller) => c.operator.submit('panic.clear'),
} as const satisfies Record<string, Action>;
