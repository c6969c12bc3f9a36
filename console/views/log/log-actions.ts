// Actions of the log view's keys.

import { count } from '../../model/ui/numbers.ts';
import { choicePanel } from '../../model/ui/panel.ts';
import type { ViewContext } from '../../model/ui/view.ts';
import { LOG_COLUMNS, type LogColumn, logWidths } from './log-columns.ts';
import { detailLines } from './log-detail.ts';
import { countMatches, findTransaction } from './log-search.ts';
import { LOG_STATE, type LogAction, logBody, reduceLog, selectedEntry, selectedPlace } from './log-state.ts';
import { linksOf, placeOf } from './log-tree.ts';
import { whyPanel } from './why-panel.ts';

/** Applies an action with the current screen size. */
export function actOnLog(c: ViewContext, action: LogAction): void {
  const state = c.ui.stateOf(LOG_STATE);
  const { list } = logBody(c.ui.size, state.detail || action.type === 'detail');
  c.ui.setState(LOG_STATE, reduceLog(state, action, c.session.log.shown, list));
}

const GROUPINGS = ['request', 'session', 'vxid'] as const;

export function nextGrouping(c: ViewContext): void {
  const { session } = c;
  const at = (GROUPINGS as readonly string[]).indexOf(session.log.grouping);
  const grouping = GROUPINGS[(at + 1) % GROUPINGS.length] as (typeof GROUPINGS)[number];
  session.log.kept.addGap(`grouping by ${grouping}`);
  session.log.follow(session.log.query, grouping, session.log.range.counted);
  c.ui.notify('info', `grouping by ${grouping}`);
}

/** Each choice toggles a column. */
export function chooseColumns(c: ViewContext): void {
  const { columns } = c.ui.stateOf(LOG_STATE);
  const choices = LOG_COLUMNS.map(({ name, title }) => ({
    label: title.toLowerCase(),
    note: columns.has(name) ? 'shown' : '',
    take: () => toggleColumn(c, name),
  }));
  c.ui.set({ panel: choicePanel('Columns', choices) });
}

function toggleColumn(c: ViewContext, name: LogColumn): void {
  const state = c.ui.stateOf(LOG_STATE);
  const columns = new Set(state.columns);
  if (!columns.delete(name)) columns.add(name);
  c.ui.setState(LOG_STATE, { ...state, columns });
  const width = c.ui.size.columns - logBody(c.ui.size, state.detail).beside;
  const shown = new Set(logWidths(columns, width).more.map((one) => one.name));
  const hidden = LOG_COLUMNS.filter((one) => columns.has(one.name) && !shown.has(one.name));
  if (hidden.length > 0)
    c.ui.notify('warn', `no room for ${hidden.map(({ title }) => title.toLowerCase()).join(', ')}`);
}

export function scroll(c: ViewContext, rows: number): void {
  const entry = selectedEntry(c.ui.stateOf(LOG_STATE), c.session.log.shown);
  if (entry === undefined) return;
  const lines = detailLines(
    entry,
    selectedPlace(c.ui.stateOf(LOG_STATE), c.session.log.shown),
    c.session,
    80,
  ).length;
  actOnLog(c, { type: 'scroll', rows, lines });
}

/** Jumps to the first linked transaction in the store: a backend request, a subrequest, the fetch of the object hit. */
export function followLink(c: ViewContext) {
  const log = c.session.log.shown;
  actOnLog(c, { type: 'move', rows: 0 });
  const entry = selectedEntry(c.ui.stateOf(LOG_STATE), log);
  if (entry === undefined) return;
  const at = placeOf(c.ui.stateOf(LOG_STATE), entry, c.ui.stateOf(LOG_STATE).offset);
  const tx = entry.transactions[Math.max(0, at.tx)];
  if (tx === undefined) return c.ui.notify('warn', 'nothing is selected');
  const links = linksOf(tx);
  if (links.length === 0) return c.ui.notify('info', 'no link from here; < goes back');
  for (const { vxid } of links) {
    const found = findTransaction(log, vxid);
    if (found !== null) return actOnLog(c, { type: 'jump', ...found });
  }
  const hidden = links.some(({ vxid }) => findTransaction(c.session.log.kept, vxid) !== null);
  const why = hidden ? 'in the log, but hidden by the query' : 'not in the log';
  c.ui.notify('warn', `${links.map((l) => `${l.kind} ${l.vxid}`).join(', ')}: ${why}`);
}

export function explain(c: ViewContext) {
  actOnLog(c, { type: 'move', rows: 0 });
  const entry = selectedEntry(c.ui.stateOf(LOG_STATE), c.session.log.shown);
  if (entry === undefined || entry.gap !== '') return c.ui.notify('warn', 'nothing is selected');
  void whyPanel(c, entry, selectedPlace(c.ui.stateOf(LOG_STATE), c.session.log.shown));
}

/** Jumps to the next match after the selected row, or else to one before it. */
export function searchText(c: ViewContext, text: string) {
  actOnLog(c, { type: 'move', rows: 0 });
  actOnLog(c, { type: 'search', text });
  const groups = countMatches(c.session.log.shown, text);
  if (groups === 0) return c.ui.notify('warn', `"${text}" not found in the records shown`);
  if (!goToMatch(c, false)) goToMatch(c, true);
  const where = groups === 1 ? '1 group' : `${count(groups)} groups`;
  c.ui.notify('info', `"${text}" is in ${where} of ${count(c.session.log.shown.size)}; n and N for more`);
}

export function nextMatch(c: ViewContext, back: boolean) {
  const { search } = c.ui.stateOf(LOG_STATE);
  if (search === '') return c.ui.notify('warn', 'no search yet: press s');
  if (!goToMatch(c, back)) c.ui.notify('warn', `no ${back ? 'earlier' : 'later'} match for "${search}"`);
}

function goToMatch(c: ViewContext, back: boolean): boolean {
  const before = c.ui.stateOf(LOG_STATE);
  actOnLog(c, { type: 'next-match', back });
  const { selected, offset } = c.ui.stateOf(LOG_STATE);
  return selected !== before.selected || offset !== before.offset;
}
