// What a click of the mouse does: a title of the header shows its view, a row is selected and, when it was already,
// opened, a column's title sorts by it. Places come from the functions that the screens draw by. With a question, a
// field or a panel open a click does nothing: it must not answer what it did not aim at.

import type { Controller } from '../model/controller.ts';
import { openPanel } from '../model/dashboard.ts';
import { bodyRows, fits, listBody, logBody, statListRows } from '../model/layout.ts';
import { columnWidths, listTop, selectedIndex, shownRows } from '../model/list-view.ts';
import { listDefinition } from '../model/lists/list-definitions.ts';
import { visibleRows } from '../model/log-view.ts';
import { cursorIndex, visibleCounters } from '../model/stat-view.ts';
import { type ListViewName, VIEWS } from '../model/views.ts';
import { widthOf } from './cells.ts';
import { headerRow } from './components/header.tsx';
import { panelPlaces } from './screens/dashboard.tsx';
import type { Theme } from './theme.ts';

export interface Cell {
  x: number;
  y: number;
}

export function click(c: Controller, theme: Theme, { x, y }: Cell) {
  const { state, size } = c;
  if (state.confirm !== null || state.field !== null || state.panel !== null || !fits(size)) return;
  if (y === 0) return header(c, theme, x);
  const row = y - 1 - (c.banner ? 1 : 0);
  if (row < 0 || row >= bodyRows(size, c.banner)) return;
  switch (state.view) {
    case 'dashboard':
      return dashboard(c, { x, y: row });
    case 'log':
      return log(c, x, row);
    case 'stats':
      return stats(c, row);
    case 'latency':
      return;
    default:
      return list(c, state.view, { x, y: row });
  }
}

/** The title that stands at `x` belongs to the last key before it. */
function header(c: Controller, theme: Theme, x: number) {
  let at = 0;
  let titles = 0;
  for (const span of headerRow(c, c.state.view, c.size.columns, c.state.readonly, theme, c.session.utc)) {
    if (span.style === 'key') titles++;
    const title = span.style === 'key' || span.style === 'tab' || (span.style === 'muted' && titles > 0);
    at += widthOf(span.text);
    // Behind the last title stand the instance and the clock.
    if (!title && titles === VIEWS.length && span.text.trim() !== '') return;
    if (at <= x) continue;
    const view = VIEWS[titles - 1];
    if (title && view !== undefined) c.show(view.name);
    return;
  }
}

function dashboard(c: Controller, { x, y }: Cell) {
  const hit = panelPlaces(c.size.columns, bodyRows(c.size, c.banner)).find(
    (p) => x >= p.left && x < p.left + p.width && y >= p.top && y < p.top + p.height,
  );
  if (hit === undefined) return;
  if (c.state.options.dashboard === hit.name) openPanel(c, hit.name);
  else c.option('dashboard', hit.name);
}

/** Two rows of the query bar, the heading, the list. */
function log(c: Controller, x: number, row: number) {
  if (row < 2) return c.run('log.query');
  const body = logBody(c.size, c.banner, c.state.log.detail);
  if (row < 3 || row >= 3 + body.list || x >= c.size.columns - body.beside) return;
  const following = c.state.log.follow;
  c.log({ type: 'move', rows: 0 });
  const rows = visibleRows(c.state.log, c.session.log, body.list);
  const { selected, offset } = c.state.log;
  const from = rows.findIndex((r) => r.entry.seq === selected && r.row === offset);
  const to = row - 3;
  if (from < 0 || to >= rows.length) return;
  if (from === to && !following) c.run('log.detail');
  else c.log({ type: 'move', rows: to - from });
}

/** Two rows of uptimes, the heading, the list. */
function stats(c: Controller, row: number) {
  const height = statListRows(c.size, c.banner);
  if (row === 2) return c.run('stats.sort');
  if (row < 3 || row >= 3 + height) return;
  const { stat } = c.state;
  const visible = visibleCounters(stat, c.session.counters.all());
  const at = cursorIndex(stat, visible);
  const top = Math.max(0, Math.min(Math.max(stat.top, at - height + 1), at));
  const to = top + row - 3;
  if (to >= visible.length) return;
  if (to === at && stat.selected !== '') c.run('stats.open');
  else c.stat({ type: 'move', rows: to - at });
}

/** A title, the heading, the list. */
function list(c: Controller, view: ListViewName, { x, y }: Cell) {
  const definition = listDefinition(view);
  const state = c.state.lists[view];
  if (y === 1) {
    let at = 1;
    for (const [i, width] of columnWidths(definition.columns, c.size.columns - 2).entries()) {
      if (width === 0) continue;
      if (x >= at && x < at + width) {
        const descending = definition.columns[i]?.right === true;
        return c.list({ type: 'sort-by', column: i, descending });
      }
      at += width + 1;
    }
    return;
  }
  const body = listBody(c.size, c.banner, state.detail);
  const shown = shownRows(state, c.listRows(view));
  const at = selectedIndex(state, shown);
  const to = listTop(state, at, shown.length, body.list) + y - 2;
  if (y < 2 || y >= 2 + body.list || to >= shown.length) return;
  if (to === at && state.selected !== '') c.run('list.open');
  else c.list({ type: 'move', rows: to - at });
}
