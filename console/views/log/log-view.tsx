// The log view: groups of transactions as they arrive, filtered by a query, that unfold down to their records.

import { RecordCursor } from '../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import { groupJson } from '../../format/log-json.ts';
import { groupText } from '../../format/log-text.ts';
import type { LogEntry } from '../../model/log/log-entry.ts';
import { lastLookedUp, lookedUp, type Tagged, withTags } from '../../model/log/looked-up.ts';
import { livesOf } from '../../model/log/request-group.ts';
import { decodeRecords } from '../../model/log/transaction.ts';
import { longestRecord } from '../../model/session/parameter-value.ts';
import { readTransaction } from '../../model/traffic/traffic-facts.ts';
import { copyText } from '../../model/ui/copy-export.ts';
import { type Place, stepAction } from '../../model/ui/layout.ts';
import { showView } from '../../model/ui/navigation.ts';
import type { Subject } from '../../model/ui/row-subject.ts';
import { stateOf } from '../../model/ui/ui-state.ts';
import { type ExportPart, PLAIN_VIEW, type View, type ViewContext } from '../../model/ui/view.ts';
import { actOnLog } from './log-actions.ts';
import { LOG_KEYS } from './log-keys.ts';
import { applyQuery, editQuery, queryCommands, setQuery } from './log-query.ts';
import { LogScreen } from './log-screen.tsx';
import { LOG_STATE, logBody, selectedEntry, selectedPlace, visibleRows } from './log-state.ts';
import { placeOf } from './log-tree.ts';
import { missingText } from './query-bar.tsx';

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
    const { session, view } = c;
    if (!session.log.following) session.log.follow(session.log.query, session.log.grouping);
    if (view === LOG_VIEW) return;
    const origins = [{ view, query: session.log.query, counted: session.log.range.counted }];
    c.ui.setState(LOG_STATE, { ...c.ui.stateOf(LOG_STATE), origins });
  },
  move: (c, step) => actOnLog(c, stepAction(step, logBody(c.ui.size, c.ui.stateOf(LOG_STATE).detail).list)),
  back,
  click,
  hasRow: ({ session }) => session.log.shown.size > 0,
  subjects: (c) => {
    // Keeps the selected row under the cursor.
    actOnLog(c, { type: 'move', rows: 0 });
    const state = c.ui.stateOf(LOG_STATE);
    const entry = selectedEntry(state, c.session.log.shown);
    if (entry === undefined) return [];
    return logSubjects(entry, selectedPlace(state, c.session.log.shown).tx, longestRecord(c.session.admin));
  },
  copy: copySelected,
  export: exportLog,
  spokenRemark: ({ session }) => {
    const short = session.log.range.shortfall(session.log.kept);
    const missing = short === null ? '' : ` ${missingText(short, session.utc)}.`;
    return session.log.query === '' ? 'All transactions.' : `Query ${session.log.query}.${missing}`;
  },
  spokenRow,
  screen: (props) => <LogScreen {...props} state={stateOf(props.ui, LOG_STATE)} />,
};

/** Shows the log filtered by a query. `counted`: epoch seconds at which the oldest request counted by the originating
 * row ended; 0 if nothing was counted, or unknown. */
export function drill(c: ViewContext, query: string, counted = 0): void {
  const within = c.view === LOG_VIEW;
  showView(c, LOG_VIEW, c.ui.state.from);
  if (within) applyQuery(c, query);
  else setQuery(c, query, counted);
}

/** Closes the detail pane, or returns to the previous view and its query. */
function back(c: ViewContext): boolean {
  const state = c.ui.stateOf(LOG_STATE);
  if (state.detail) {
    actOnLog(c, { type: 'detail' });
    return true;
  }
  const origin = state.origins.at(-1);
  if (origin === undefined) return false;
  c.ui.setState(LOG_STATE, { ...state, origins: state.origins.slice(0, -1) });
  if (origin.query !== c.session.log.query) setQuery(c, origin.query, origin.counted);
  if (origin.view !== null) showView(c, origin.view, c.ui.state.from);
  return true;
}

/** Views without a filter use the log's query. */
export function filterLog(c: ViewContext): void {
  showView(c, LOG_VIEW);
  editQuery(c);
}

/** Rows on screen: two of the query bar, the heading, the list. */
function click(c: ViewContext, { x, y }: Place) {
  if (y < 2) return editQuery(c);
  const before = c.ui.stateOf(LOG_STATE);
  const body = logBody(c.ui.size, before.detail);
  if (y < 3 || y >= 3 + body.list || x >= c.ui.size.columns - body.beside) return;
  actOnLog(c, { type: 'move', rows: 0 });
  const state = c.ui.stateOf(LOG_STATE);
  const rows = visibleRows(state, c.session.log.shown, body.list);
  const from = rows.findIndex((r) => r.entry.seq === state.selected && r.row === state.offset);
  const to = y - 3;
  if (from < 0 || to >= rows.length) return;
  if (from === to && !before.follow) actOnLog(c, { type: 'detail' });
  else actOnLog(c, { type: 'move', rows: to - from });
}

/** Subjects of a row: URL and host as the lookup saw them, since bans compare those, and the tags of its fetches.
 * `at`: index of the transaction under the cursor, -1 for the whole group. `longestRecord`: length in bytes at which
 * records may have been truncated. */
function logSubjects(entry: LogEntry, at: number, longestRecord: number): Subject[] {
  const { transactions } = entry;
  const here = transactions[at] ?? transactions[0];
  const tx = here?.type === 'session' ? transactions.find((one) => one.type === 'request') : here;
  if (tx === undefined) return [];
  const { url, host } = at >= 0 && here === tx ? lookedUp(tx) : lastLookedUp(livesOf(transactions, tx));
  const pages: Subject[] =
    url === ''
      ? []
      : [
          { kind: 'url', key: url, of: host, ...(tx.type === 'bereq' ? {} : { sent: sentAs(tx) }) },
          { kind: 'path', key: url.replace(/[?#].*$/s, ''), of: host },
        ];
  const fetches = tx.type === 'bereq' ? [tx] : transactions.filter((one) => one.parent === tx.vxid);
  return [...pages, ...fetches.flatMap((tx) => tagsOf(tx, longestRecord))];
}

/** After a restart the request as sent is in the first transaction, this one's in the last. */
function sentAs(tx: LogTransaction): { url: string; host: string } {
  const { url, host } = readTransaction(tx);
  return { url, host };
}

function tagsOf({ type, records }: LogTransaction, longestRecord: number): Subject[] {
  const cursor = new RecordCursor(type === 'bereq' ? records : new Uint8Array());
  let tags: readonly Tagged[] = [];
  while (cursor.next()) tags = withTags(tags, cursor, longestRecord);
  return tags.map(({ tag, header }) => ({ kind: 'tag', key: tag, of: header }));
}

function copySelected(c: ViewContext) {
  const state = c.ui.stateOf(LOG_STATE);
  const entry = selectedEntry(state, c.session.log.shown);
  if (entry === undefined || entry.gap !== '') return c.ui.notify('warn', 'nothing to copy');
  const place = placeOf(state, entry, state.offset);
  const tx = entry.transactions[place.tx];
  if (tx !== undefined && place.record >= 0) {
    const record = decodeRecords(tx.records)[place.record];
    return copyText(c, record === undefined ? '' : record.text, 'the record');
  }
  copyText(c, asText(groupText(tx === undefined ? entry.transactions : [tx], false)), 'the transaction');
}

/** In the format of proxylog. */
/** The groups that the query shows now, each as long as it is kept. */
function* exportLog(c: ViewContext, json: boolean): Generator<ExportPart> {
  const { log } = c.session;
  const { shown, query } = log;
  const last = shown.at(shown.size - 1)?.seq ?? -1;
  const of = shown.size;
  for (let seq = shown.at(0)?.seq ?? 0, done = 1; seq <= last; seq++, done++) {
    if (log.query !== query) throw new Error('the query changed during the export; nothing was written');
    const entry = shown.at(shown.indexOf(seq));
    if (entry === undefined || entry.seq < seq) return;
    seq = entry.seq;
    const { transactions } = entry;
    if (transactions.length === 0) continue;
    yield { text: json ? groupJson(transactions) : asText(groupText(transactions, false)), done, of };
  }
}

function spokenRow(c: ViewContext): string {
  const state = c.ui.stateOf(LOG_STATE);
  if (state.follow) return '';
  const entry = selectedEntry(state, c.session.log.shown);
  if (entry === undefined) return '';
  if (entry.gap !== '') return entry.gap;
  const place = selectedPlace(state, c.session.log.shown);
  const tx = entry.transactions[place.tx];
  if (tx !== undefined && place.record >= 0) {
    const record = decodeRecords(tx.records)[place.record];
    return record === undefined ? '' : `${record.name} ${record.text}`;
  }
  const s = entry.summary;
  return tx === undefined ? `${s.handling} ${s.status} ${s.method} ${s.url}` : `${tx.type} ${tx.vxid}`;
}

/** Log text has one character per byte. */
function asText(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8');
}
