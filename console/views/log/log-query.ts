// The query of the log: its field, the queries that are suggested and kept, and the commands of the palette that set it.

import type { Candidate } from '../../model/completion.ts';
import type { Controller } from '../../model/controller.ts';
import type { FieldKind } from '../../model/field.ts';
import { lineOf } from '../../model/line-editor.ts';
import type { PaletteRow } from '../../model/palette.ts';
import type { Choice } from '../../model/panel.ts';
import { remember } from '../../model/recall.ts';
import { namedQueries } from '../../model/saved-queries.ts';
import { likeThis } from './like-this.ts';
import { actOnLog, searchText } from './log-actions.ts';
import { LOG_STATE, selectedEntry } from './log-state.ts';
import { placeOf } from './log-tree.ts';
import { completeFromLog } from './query-values.ts';

/** Another query than before, to which Escape leads back. */
export function applyQuery(c: Controller, query: string): void {
  const state = c.stateOf(LOG_STATE);
  const { query: former, reach } = c.session;
  if (query !== former) {
    const origins = [...state.origins, { view: null, query: former, counted: reach.counted }].slice(
      -MOST_ORIGINS,
    );
    c.setState(LOG_STATE, { ...state, origins });
  }
  setQuery(c, query);
}

/** The query alone: Escape leads where it led. */
export function setQuery(c: Controller, query: string, counted = 0): void {
  const { query: former, kept, source } = c.session;
  // What the daemon can tell again begins anew.
  const above =
    former === '' || former === query || source.retells === true
      ? ''
      : ` (above only what matched ${former} too)`;
  kept.addGap(query === '' ? `all transactions${above.replace(' too)', ')')}` : `query: ${query}${above}`);
  c.session.follow(query, c.session.grouping, counted);
  actOnLog(c, { type: 'end' });
  c.set({ field: null, panel: null, queries: remember(c.state.queries, query) });
  nameOddity(c, query);
}

/** Steps that Escape remembers (chosen). */
const MOST_ORIGINS = 20;

/** A query for records that cannot come goes on; but it is said, once for each. */
function nameOddity(c: Controller, query: string): void {
  // A recording may be of another daemon.
  if (c.options.instances.replay !== undefined) return;
  const check = query === '' ? null : c.options.checkQuery(query);
  const note = check?.ok === true ? check.note : undefined;
  const state = c.stateOf(LOG_STATE);
  if (note === undefined || state.noted.has(query)) return;
  c.setState(LOG_STATE, { ...state, noted: new Set(state.noted).add(query) });
  c.notify('warn', note);
}

const QUERY_FIELD: FieldKind = {
  kind: 'query',
  recall: 'queries',
  verdict: (c, text) => (text.trim() === '' ? { ok: true } : c.options.checkQuery(text)),
  complete: (c, { text, cursor }) => ({
    ...(text === ''
      ? { from: 0, candidates: namedCandidates(c) }
      : (completeFromLog(text, cursor, c.session.kept) ?? c.options.completeQuery(text, cursor))),
    usage: '',
  }),
  accept: (c, text) => applyQuery(c, text.trim()),
  list: chooseSaved,
  otherwise: {
    offer: 'no query: Enter again looks for it as a text',
    accept: (c, text) => searchText(c, text.trim()),
  },
};

function namedCandidates(c: Controller): Candidate[] {
  return namedQueries(c.options.queries).map(({ name, query, help }) => ({
    text: query,
    label: name,
    help,
  }));
}

export function editQuery(c: Controller): void {
  c.fields.open(QUERY_FIELD, lineOf(c.session.query));
}

function queryChoice(query: string, note: string): Choice {
  return { label: query, note, take: (c) => applyQuery(c, query) };
}

export function chooseLikeThis(c: Controller) {
  actOnLog(c, { type: 'move', rows: 0 });
  const state = c.stateOf(LOG_STATE);
  const entry = selectedEntry(state, c.session.log);
  if (entry === undefined) return c.notify('warn', 'nothing is selected');
  const suggested = likeThis(entry, placeOf(state, entry, state.offset));
  const choices = suggested.map(({ query, note }) => queryChoice(query, note));
  c.set({ panel: { kind: 'choices', scroll: 0, title: 'Show only', choices } });
}

export function chooseSaved(c: Controller): void {
  const named = namedQueries(c.options.queries);
  const known = new Set(named.map(({ query }) => query));
  const former = [...new Set(c.state.queries.entries)].reverse().filter((query) => !known.has(query));
  const choices = [
    ...former.map((query) => queryChoice(query, 'former')),
    ...named.map(({ name, query, help }) => ({ ...queryChoice(query, help), label: name })),
    { ...queryChoice('', ''), label: 'everything' },
  ];
  c.set({ panel: { kind: 'choices', scroll: 0, title: 'Queries', choices } });
}

function save(c: Controller, name: string, query: string | null) {
  if (!/^[\w.-]+$/.test(name)) return c.notify('bad', 'the name of a query is of letters, digits, . _ and -');
  const { queries } = c.options;
  if (query === null && queries.all()[name] === undefined) return c.notify('bad', `no query "${name}"`);
  queries.save(name, query).then(
    () =>
      c.notify(
        'info',
        query === null ? `forgot ${name}` : `kept as ${name}: ${query === '' ? 'everything' : query}`,
      ),
    (error: Error) => c.notify('warn', `for this session only: ${error.message}`),
  );
}

/** `drill` shows the log with a query. */
export function queryCommands(drill: (c: Controller, query: string) => void): PaletteRow[] {
  const set = (c: Controller, query: string) => {
    const check = query === '' ? { ok: true as const } : c.options.checkQuery(query);
    if (!check.ok) return c.notify('bad', `${check.message} at ${check.from + 1}; s looks for a text`);
    drill(c, query);
  };
  const use = (c: Controller, name: string) => {
    const query = namedQueries(c.options.queries).find((one) => one.name === name)?.query;
    if (query === undefined) return c.notify('bad', `no query "${name}"`);
    set(c, query);
  };
  return [
    { name: 'query', syntax: 'query <query>', help: 'Set the query of the log view.', run: set },
    {
      name: 'query.save',
      syntax: 'query.save <name>',
      help: 'Keep the query of the log view under a name.',
      run: (c, name) => save(c, name, c.session.query),
    },
    { name: 'query.use', syntax: 'query.use <name>', help: 'Use a saved query.', run: use },
    {
      name: 'query.drop',
      syntax: 'query.drop <name>',
      help: 'Forget a saved query.',
      run: (c, name) => save(c, name, null),
    },
  ];
}
