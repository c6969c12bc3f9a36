// What the keys of the list views do.

import type { Controller } from '../controller.ts';
import { lineOf } from '../line-editor.ts';
import type { ListRow } from '../list-view.ts';
import { listDefinition } from '../lists/list-definitions.ts';
import { rankingOf } from '../lists/top-list.ts';
import { RANKINGS } from '../traffic-sample.ts';
import type { ListViewName } from '../views.ts';
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

export const ADMIN_ACTIONS = {
  'log.errors': (c: Controller) => c.drill('RespStatus >= 500'),
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
