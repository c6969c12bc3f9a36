// The log's query: its input field with completion from records seen so far, queries suggested by the selected row,
// saved queries, and the palette commands that set it.

import type { LogEntry } from '../../model/log/log-entry.ts';
import type { LogReader } from '../../model/log/log-store.ts';
import { decodeRecords, type LogRecord } from '../../model/log/transaction.ts';
import type { Candidate } from '../../model/ui/completion.ts';
import type { FieldKind } from '../../model/ui/field.ts';
import { lineOf, remember } from '../../model/ui/line-editor.ts';
import { type Choice, choicePanel } from '../../model/ui/panel.ts';
import { namedQueries } from '../../model/ui/saved-queries.ts';
import type { PaletteRow, ViewContext } from '../../model/ui/view.ts';
import { actOnLog, searchText } from './log-actions.ts';
import { LOG_STATE, selectedEntry } from './log-state.ts';
import { placeOf, type RowPlace } from './log-tree.ts';
import { quoted } from './written-query.ts';

/** Sets another query; Escape returns to the former one. */
export function applyQuery(c: ViewContext, query: string): void {
  const state = c.ui.stateOf(LOG_STATE);
  const { query: former, range } = c.session.log;
  if (query !== former) {
    const origins = [...state.origins, { view: null, query: former, counted: range.counted }].slice(
      -MAX_ORIGINS,
    );
    c.ui.setState(LOG_STATE, { ...state, origins });
  }
  setQuery(c, query);
}

/** Sets the query only; Escape still leads to where it did. */
export function setQuery(c: ViewContext, query: string, counted = 0): void {
  const { log, source } = c.session;
  const { query: former } = log;
  // Events that the daemon can replay start over.
  const above =
    former === '' || former === query || source.canReplay === true
      ? ''
      : ` (above only what matched ${former} too)`;
  log.kept.addGap(
    query === '' ? `all transactions${above.replace(' too)', ')')}` : `query: ${query}${above}`,
  );
  log.follow(query, log.grouping, counted);
  actOnLog(c, { type: 'end' });
  c.ui.set({ field: null, panel: null, queries: remember(c.ui.state.queries, query) });
  nameOddity(c, query);
}

/** Steps that Escape remembers (chosen). */
const MAX_ORIGINS = 20;

/** A query for records that cannot occur is accepted, with a warning once per query. */
function nameOddity(c: ViewContext, query: string): void {
  // The recording may be from another daemon.
  if (c.instances.replay !== undefined) return;
  const check = query === '' ? null : c.checkQuery(query);
  const note = check?.ok === true ? check.note : undefined;
  const state = c.ui.stateOf(LOG_STATE);
  if (note === undefined || state.noted.has(query)) return;
  c.ui.setState(LOG_STATE, { ...state, noted: new Set(state.noted).add(query) });
  c.ui.notify('warn', note);
}

const queryField = (c: ViewContext): FieldKind => ({
  kind: 'query',
  recall: 'queries',
  verdict: (text) => (text.trim() === '' ? { ok: true } : c.checkQuery(text)),
  complete: ({ text, cursor }) => ({
    ...(text === ''
      ? { from: 0, candidates: namedCandidates(c) }
      : (completeFromLog(text, cursor, c.session.log.kept) ?? c.completeQuery(text, cursor))),
    usage: '',
  }),
  accept: (text) => applyQuery(c, text.trim()),
  list: () => chooseSaved(c),
  otherwise: {
    offer: 'not a query: press Enter again to search for it as text',
    accept: (text) => searchText(c, text.trim()),
  },
});

function namedCandidates(c: ViewContext): Candidate[] {
  return namedQueries(c.queries).map(({ name, query, help }) => ({
    text: query,
    label: name,
    help,
  }));
}

export function editQuery(c: ViewContext): void {
  c.fields.open(queryField(c), lineOf(c.session.log.query));
}

function queryChoice(c: ViewContext, query: string, note: string): Choice {
  return { label: query, note, take: () => applyQuery(c, query) };
}

export function chooseLikeThis(c: ViewContext) {
  actOnLog(c, { type: 'move', rows: 0 });
  const state = c.ui.stateOf(LOG_STATE);
  const entry = selectedEntry(state, c.session.log.shown);
  if (entry === undefined) return c.ui.notify('warn', 'nothing is selected');
  const suggested = likeThis(entry, placeOf(state, entry, state.offset));
  const choices = suggested.map(({ query, note }) => queryChoice(c, query, note));
  c.ui.set({ panel: choicePanel('Show only', choices) });
}

export function chooseSaved(c: ViewContext): void {
  const named = namedQueries(c.queries);
  const known = new Set(named.map(({ query }) => query));
  const former = [...new Set(c.ui.state.queries.entries)].reverse().filter((query) => !known.has(query));
  const choices = [
    ...former.map((query) => queryChoice(c, query, 'former')),
    ...named.map(({ name, query, help }) => ({ ...queryChoice(c, query, help), label: name })),
    { ...queryChoice(c, '', ''), label: 'everything' },
  ];
  c.ui.set({ panel: choicePanel('Queries', choices) });
}

function save(c: ViewContext, name: string, query: string | null) {
  if (!/^[\w.-]+$/.test(name))
    return c.ui.notify('bad', 'a query name consists of letters, digits, . _ and -');
  const { queries } = c;
  if (query === null && queries.all()[name] === undefined) return c.ui.notify('bad', `no query "${name}"`);
  queries.save(name, query).then(
    () =>
      c.ui.notify(
        'info',
        query === null ? `deleted ${name}` : `saved as ${name}: ${query === '' ? 'everything' : query}`,
      ),
    (error: Error) =>
      c.ui.notify('warn', `not saved to disk, valid until the console ends: ${error.message}`),
  );
}

/** `drill` shows the log with a query. */
export function queryCommands(drill: (c: ViewContext, query: string) => void): PaletteRow[] {
  const set = (c: ViewContext, query: string) => {
    const check = query === '' ? { ok: true as const } : c.checkQuery(query);
    if (!check.ok) return c.ui.notify('bad', `${check.message} at ${check.from + 1}; s searches for text`);
    drill(c, query);
  };
  const use = (c: ViewContext, name: string) => {
    const query = namedQueries(c.queries).find((one) => one.name === name)?.query;
    if (query === undefined) return c.ui.notify('bad', `no query "${name}"`);
    set(c, query);
  };
  return [
    { name: 'query', syntax: 'query <query>', help: 'Set the query of the log view.', run: set },
    {
      name: 'query.save',
      syntax: 'query.save <name>',
      help: 'Save the query of the log view under a name.',
      run: (c, name) => save(c, name, c.session.log.query),
    },
    { name: 'query.use', syntax: 'query.use <name>', help: 'Use a saved query.', run: use },
    {
      name: 'query.drop',
      syntax: 'query.drop <name>',
      help: 'Delete a saved query.',
      run: (c, name) => save(c, name, null),
    },
  ];
}

export interface SuggestedQuery {
  query: string;
  note: string;
}

function likeThis(entry: LogEntry, place: RowPlace): SuggestedQuery[] {
  const out: SuggestedQuery[] = [];
  const add = (query: string, note: string): void => {
    if (!out.some((s) => s.query === query)) out.push({ query, note });
  };
  const tx = entry.transactions[Math.max(0, place.tx)];
  if (tx === undefined) return out;
  const records = decodeRecords(tx.records);
  const here = place.record < 0 ? undefined : records[place.record];
  if (here !== undefined) recordQueries(here, add);
  const find = (name: string): string | undefined => records.find((r) => r.name === name)?.text;
  const url = find('ReqURL') ?? find('BereqURL');
  const tag = find('ReqURL') === undefined ? 'BereqURL' : 'ReqURL';
  if (url !== undefined) {
    add(`${tag} eq ${quoted(url)}`, 'this URL');
    const folder = /^(\/[^/?]+)\//.exec(url)?.[1];
    if (folder !== undefined) add(`${tag} ~ ${quoted(`^${folder}/`)}`, `below ${folder}`);
  }
  const status = find('RespStatus') ?? find('BerespStatus');
  if (status !== undefined)
    add(`${find('RespStatus') === undefined ? 'BerespStatus' : 'RespStatus'} == ${status}`, 'this status');
  if (entry.summary.handling !== '') {
    const call =
      entry.summary.handling.startsWith('hit') && entry.summary.handling !== 'hit'
        ? null
        : entry.summary.handling;
    add(
      call === null
        ? entry.summary.handling === 'hitmiss'
          ? 'HitMiss'
          : 'HitPass'
        : `VCL_call eq ${quoted(call.toUpperCase())}`,
      'handled like this',
    );
  }
  const host =
    records.find((r) => /^host:/i.test(r.text) && r.name.endsWith('reqHeader'))?.text ??
    records.find((r) => r.name === 'ReqHeader' && /^host:/i.test(r.text))?.text;
  if (host !== undefined) add(`ReqHeader:Host eq ${quoted(host.slice(5).trim())}`, 'this host');
  const client = find('ReqStart')?.split(' ')[0];
  if (client !== undefined) add(`ReqStart[1] eq ${quoted(client)}`, 'this client');
  const backend = find('BackendOpen')?.split(' ')[1];
  if (backend !== undefined) add(`BackendOpen[2] eq ${quoted(backend)}`, 'this backend');
  const took = entry.summary.seconds;
  if (took > 0) add(`Timestamp:Resp[2] >= ${took.toPrecision(2)}`, 'as slow or slower');
  add(`vxid == ${tx.vxid}`, 'this transaction');
  return out;
}

function recordQueries(record: LogRecord, add: (query: string, note: string) => void): void {
  const { name, text } = record;
  if (/Header$/.test(name)) {
    const colon = text.indexOf(':');
    const header = text.slice(0, colon);
    if (colon > 0 && /^[\w-]+$/.test(header)) {
      add(`${name}:${header} eq ${quoted(text.slice(colon + 1).trim())}`, 'this header');
      add(`${name}:${header}`, 'any value of it');
      return;
    }
  }
  if (text === '') add(name, 'this record');
  else add(`${name} eq ${quoted(text)}`, 'this record');
}

const MAX_GROUPS = 300;
const MAX_CANDIDATES = 60;

/** Null if the text before the cursor expects no value. */
export function completeFromLog(
  text: string,
  cursor: number,
  store: LogReader,
): { from: number; candidates: Candidate[] } | null {
  const head = text.slice(0, cursor);
  const header = /(\w+Header):([\w-]*)$/i.exec(head);
  if (header !== null) {
    const [, tag = '', typed = ''] = header;
    const found = collect(
      store,
      (r) => (same(r.name, tag) ? /^([\w-]+):/.exec(r.text)?.[1] : undefined),
      typed,
      true,
    );
    return { from: cursor - typed.length, candidates: found };
  }
  const value = /(\w+)(?::([\w-]+))?(?:\s*(?:==|!=)|\s+(?:eq|ne)(?=[\s"]))\s*("?)([^"\s]*)$/i.exec(head);
  if (value === null) return null;
  const [, tag = '', field, quote = '', typed = ''] = value;
  const isId = tag.toLowerCase() === 'vxid';
  const found = collect(
    store,
    (r, vxid) => {
      if (isId) return String(vxid);
      if (!same(r.name, tag)) return undefined;
      if (field === undefined) return r.text;
      return r.text.slice(0, field.length + 1).toLowerCase() === `${field.toLowerCase()}:`
        ? r.text.slice(field.length + 1).trim()
        : undefined;
    },
    typed,
    false,
  );
  // Quotes the value unless it is a plain word or already in quotes.
  const put = (word: string): string =>
    quote === '"' ? `${word}"` : /^[\w.-]+$/.test(word) ? word : `"${word.replace(/["\\]/g, '\\$&')}"`;
  return { from: cursor - typed.length, candidates: found.map((c) => ({ ...c, text: put(c.text) })) };
}

function collect(
  store: LogReader,
  pick: (record: { name: string; text: string }, vxid: number) => string | undefined,
  typed: string,
  anyCase: boolean,
): Candidate[] {
  const counts = new Map<string, number>();
  const start = anyCase ? typed.toLowerCase() : typed;
  for (let i = store.size - 1; i >= Math.max(0, store.size - MAX_GROUPS); i--) {
    for (const tx of (store.at(i) as LogEntry).transactions) {
      for (const record of decodeRecords(tx.records)) {
        const word = pick(record, tx.vxid);
        if (word === undefined || word === '' || !(anyCase ? word.toLowerCase() : word).startsWith(start))
          continue;
        if (counts.size < MAX_CANDIDATES || counts.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
      }
    }
  }
  return [...counts].map(([text, n]) => ({ text, help: n === 1 ? 'seen once' : `seen ${n} times` }));
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
