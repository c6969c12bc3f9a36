// What the keys of the log view do.

import type { Controller } from '../controller.ts';
import { likeThis } from '../like-this.ts';
import { EMPTY_LINE, lineOf } from '../line-editor.ts';
import { detailLines } from '../log-detail.ts';
import { findTransaction } from '../log-search.ts';
import { placeOf } from '../log-tree.ts';
import { selectedEntry, selectedPlace } from '../log-view.ts';
import { linksOf } from '../transaction-links.ts';
import type { Choice } from '../ui-state.ts';
import { whyPanel } from '../why-panel.ts';
import type { Action } from './actions.ts';

const GROUPINGS = ['request', 'session', 'vxid'] as const;
const SCROLL = 4;

function nextGrouping(c: Controller): void {
  const { session } = c;
  const at = (GROUPINGS as readonly string[]).indexOf(session.grouping);
  const grouping = GROUPINGS[(at + 1) % GROUPINGS.length] as (typeof GROUPINGS)[number];
  session.log.addGap(`grouping by ${grouping}`);
  session.follow(session.query, grouping);
  c.notify('info', `grouping by ${grouping}`);
}

function scroll(c: Controller, rows: number): void {
  const entry = selectedEntry(c.state.log, c.session.log);
  if (entry === undefined) return;
  const lines = detailLines(entry, selectedPlace(c.state.log, c.session.log), c.session, 80).length;
  c.log({ type: 'scroll', rows, lines });
}

/** To the first linked transaction that is kept: a backend request, a subrequest, the fetch of the object hit. */
function link(c: Controller) {
  const { log } = c.session;
  c.log({ type: 'move', rows: 0 });
  const entry = selectedEntry(c.state.log, log);
  if (entry === undefined) return;
  const at = placeOf(c.state.log, entry, c.state.log.offset);
  const tx = entry.transactions[Math.max(0, at.tx)];
  if (tx === undefined) return c.notify('warn', 'nothing is selected');
  const links = linksOf(tx);
  if (links.length === 0) return c.notify('info', 'no link from here; < goes back');
  for (const { vxid } of links) {
    const found = findTransaction(log, vxid);
    if (found !== null) return c.log({ type: 'jump', ...found });
  }
  c.notify('warn', `${links.map((l) => `${l.kind} ${l.vxid}`).join(', ')}: not kept here`);
}

function likeThisChoices(c: Controller) {
  c.log({ type: 'move', rows: 0 });
  const entry = selectedEntry(c.state.log, c.session.log);
  if (entry === undefined) return c.notify('warn', 'nothing is selected');
  const choices = likeThis(entry, placeOf(c.state.log, entry, c.state.log.offset));
  c.set({ panel: { kind: 'choices', scroll: 0, title: 'Show only', choices } });
}

function savedQueries(c: Controller): void {
  const saved = Object.entries(c.options.queries.all()).map(
    ([name, query]): Choice => ({ take: 'query', query, label: query, note: name }),
  );
  const former = [...new Set(c.state.queries.entries)]
    .reverse()
    .filter((query) => !saved.some((s) => s.take === 'query' && s.query === query))
    .map((query): Choice => ({ take: 'query', query, label: query, note: 'former' }));
  const all: Choice = { take: 'query', query: '', label: 'everything', note: '' };
  c.set({ panel: { kind: 'choices', scroll: 0, title: 'Queries', choices: [...saved, ...former, all] } });
}

function why(c: Controller) {
  c.log({ type: 'move', rows: 0 });
  const entry = selectedEntry(c.state.log, c.session.log);
  if (entry === undefined || entry.gap !== '') return c.notify('warn', 'nothing is selected');
  void whyPanel(c, entry);
}

export const LOG_ACTIONS = {
  'log.query': (c: Controller) => c.fields.open('query', lineOf(c.session.query)),
  'log.pause': (c: Controller) => c.log({ type: 'pause' }),
  'log.follow': (c: Controller) => c.log({ type: 'end' }),
  'log.detail': (c: Controller) => c.log({ type: 'detail' }),
  'log.why': why,
  'log.unfold': (c: Controller) => c.log({ type: 'unfold' }),
  'log.fold': (c: Controller) => c.log({ type: 'fold' }),
  'log.unfold-all': (c: Controller) => c.log({ type: 'toggle-all' }),
  'log.scroll-up': (c: Controller) => scroll(c, -SCROLL),
  'log.scroll-down': (c: Controller) => scroll(c, SCROLL),
  'log.next-error': (c: Controller) => c.log({ type: 'next-error', back: false }),
  'log.previous-error': (c: Controller) => c.log({ type: 'next-error', back: true }),
  'log.search': (c: Controller) => {
    c.log({ type: 'move', rows: 0 });
    c.fields.open('search', EMPTY_LINE);
  },
  'log.next-match': (c: Controller) => match(c, false),
  'log.previous-match': (c: Controller) => match(c, true),
  'log.link': link,
  'log.link-back': (c: Controller) => c.log({ type: 'jump-back' }),
  'log.like-this': likeThisChoices,
  'log.saved': savedQueries,
  'log.grouping': nextGrouping,
  'log.clear': (c: Controller) => {
    c.session.log.clear();
    c.log({ type: 'end' });
  },
} as const satisfies Record<string, Action>;

function match(c: Controller, back: boolean) {
  const { search } = c.state.log;
  if (search === '') return c.notify('warn', 'nothing to search for; s begins a search');
  const before = c.state.log;
  c.log({ type: 'next-match', back });
  const { selected, offset } = c.state.log;
  if (selected === before.selected && offset === before.offset)
    c.notify('warn', `no ${back ? 'earlier' : 'later'} match for "${search}"`);
}
