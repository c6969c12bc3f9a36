// The log view: groups of transactions as they come, chosen by a query, unfolded to their records.

import type { Controller } from '../../model/controller.ts';
import { type Place, stepAction } from '../../model/layout.ts';
import { longestRecord } from '../../model/record-length.ts';
import { stateOf } from '../../model/ui-state.ts';
import { PLAIN_VIEW, type View } from '../../model/view.ts';
import { actOnLog } from './log-actions.ts';
import { copySelected, exportLog, spokenRow } from './log-excerpt.ts';
import { LOG_KEYS } from './log-keys.ts';
import { applyQuery, editQuery, queryCommands, setQuery } from './log-query.ts';
import { LogScreen } from './log-screen.tsx';
import { LOG_STATE, logBody, selectedEntry, selectedPlace, visibleRows } from './log-state.ts';
import { logSubjects } from './log-subjects.ts';
import { missingWords } from './query-bar.tsx';

export const LOG_VIEW: View = {
  ...PLAIN_VIEW,
  name: 'log',
  key: '2',
  title: 'Log',
  short: 'Log',
  brief: 'Log',
  keys: LOG_KEYS,
  commands: queryCommands(drill),
  state: LOG_STATE,
  open: (c) => {
    const { session, state } = c;
    if (!session.following) session.follow(session.query, session.grouping);
    if (state.view === LOG_VIEW) return;
    const origins = [{ view: state.view, query: session.query, counted: session.reach.counted }];
    c.setState(LOG_STATE, { ...c.stateOf(LOG_STATE), origins });
  },
  move: (c, step) => actOnLog(c, stepAction(step, logBody(c.size, c.stateOf(LOG_STATE).detail).list)),
  back,
  click,
  hasRow: ({ session }) => session.log.size > 0,
  subjects: (c) => {
    // The row that is meant stays under the cursor.
    actOnLog(c, { type: 'move', rows: 0 });
    const state = c.stateOf(LOG_STATE);
    const entry = selectedEntry(state, c.session.log);
    if (entry === undefined) return [];
    return logSubjects(entry, selectedPlace(state, c.session.log).tx, longestRecord(c.session.admin));
  },
  copy: copySelected,
  export: exportLog,
  spokenRemark: ({ session }) => {
    const short = session.reach.shortfall(session.kept);
    const missing = short === null ? '' : ` ${missingWords(short, session.utc)}.`;
    return session.query === '' ? 'All transactions.' : `Query ${session.query}.${missing}`;
  },
  spokenRow,
  screen: (props) => <LogScreen {...props} state={stateOf(props.ui, LOG_STATE)} />,
};

/** Shows the log with only what a query lets through. `counted`: epoch seconds at which the oldest ended of what a row had
 * counted of that; 0 where nothing was counted, or it is not known. */
export function drill(c: Controller, query: string, counted = 0): void {
  const within = c.state.view === LOG_VIEW;
  c.show(LOG_VIEW, c.state.from);
  if (within) applyQuery(c, query);
  else setQuery(c, query, counted);
}

/** Closes the detail pane, or goes to where one came from, with the query of that place. */
function back(c: Controller): boolean {
  const state = c.stateOf(LOG_STATE);
  if (state.detail) {
    actOnLog(c, { type: 'detail' });
    return true;
  }
  const origin = state.origins.at(-1);
  if (origin === undefined) return false;
  c.setState(LOG_STATE, { ...state, origins: state.origins.slice(0, -1) });
  if (origin.query !== c.session.query) setQuery(c, origin.query, origin.counted);
  if (origin.view !== null) c.show(origin.view, c.state.from);
  return true;
}

/** Views without a filter of their own have the query of the log for it. */
export function filterLog(c: Controller): void {
  c.show(LOG_VIEW);
  editQuery(c);
}

/** Two rows of the query bar, the heading, the list. */
function click(c: Controller, { x, y }: Place) {
  if (y < 2) return editQuery(c);
  const before = c.stateOf(LOG_STATE);
  const body = logBody(c.size, before.detail);
  if (y < 3 || y >= 3 + body.list || x >= c.size.columns - body.beside) return;
  actOnLog(c, { type: 'move', rows: 0 });
  const state = c.stateOf(LOG_STATE);
  const rows = visibleRows(state, c.session.log, body.list);
  const from = rows.findIndex((r) => r.entry.seq === state.selected && r.row === state.offset);
  const to = y - 3;
  if (from < 0 || to >= rows.length) return;
  if (from === to && !before.follow) actOnLog(c, { type: 'detail' });
  else actOnLog(c, { type: 'move', rows: to - from });
}
