// The backends view: health and its source, probes and their last results, load, failures.

import { LAST_MINUTE, PARTS } from '../../model/traffic/backend-traffic.ts';
import { clock, percent } from '../../model/ui/numbers.ts';
import type { ViewContext } from '../../model/ui/view.ts';
import type { ListRow } from '../list/list-state.ts';
import { type ListView, listView } from '../list/list-view.tsx';
import { drill } from '../log/log-view.tsx';
import { BACKENDS_LINE, BITS, backendRows } from './backend-rows.ts';

export const BACKENDS_VIEW: ListView = listView({
  name: 'backends',
  key: '4',
  title: 'Backends',
  short: 'Backends',
  brief: 'Back',
  asks: [{ line: BACKENDS_LINE, every: 2 }],
  columns: [
    { title: 'BACKEND', min: 16, grow: 3 },
    { title: 'ADMIN', min: 8, drop: 1 },
    { title: 'HEALTH', min: 8 },
    { title: 'GOOD', min: 5, right: true, drop: 6 },
    { title: 'PROBES', min: BITS, drop: 7 },
    { title: 'ANSWER', min: 15, grow: 2, drop: 3 },
    { title: 'P50', min: 6, right: true },
    { title: 'P99', min: 6, right: true },
    { title: 'ERRORS', min: 6, right: true },
    { title: 'P99, 5 MINUTES', min: PARTS, drop: 4 },
    { title: 'REQ/S', min: 6, right: true },
    { title: 'CONN', min: 4, right: true, drop: 2 },
    { title: 'FAIL', min: 6, right: true, drop: 5 },
    { title: 'BUSY', min: 6, right: true, drop: 9 },
    { title: 'BYTES/S', min: 9, right: true, drop: 8 },
    { title: 'CHANGED', min: 9, right: true, drop: 10 },
  ],
  rows: backendRows,
  remark: (session) => {
    const rows = backendRows(session);
    if (rows.length === 0 && session.admin.unanswered(BACKENDS_LINE) !== '') return '';
    // A member of several directors has several rows.
    const sick = new Set(rows.flatMap((r) => (r.facts.health === 'sick' ? [r.facts.name] : [])));
    const since = session.traffic.sample.trafficSince(session.dataAt);
    const isShort = since > session.dataAt - LAST_MINUTE;
    const window = isShort ? `since ${clock(since, session.utc)}` : 'of the last minute';
    const times = since === 0 ? '' : `; times and errors ${window}`;
    const share = session.traffic.share();
    const sampled = since === 0 || share >= 0.99 ? '' : `, ${percent(share)} sampled`;
    return `${sick.size === 0 ? 'none sick' : `${sick.size} sick`}${times}${sampled}`;
  },
  open: (c) => c.session.probes.watch(),
  empty: (session) =>
    session.connection.state === 'up'
      ? session.admin.unanswered(BACKENDS_LINE) || 'no backends'
      : 'no connection',
  keys: [
    {
      keys: ['s'],
      command: 'backends.sick',
      gives: 'backend.set_health',
      help: 'Mark as sick',
      hint: 'sick',
      act: setHealth('sick'),
      line: ({ facts }) => `backend.set_health ${facts.name} sick`,
    },
    {
      keys: ['h'],
      command: 'backends.healthy',
      gives: 'backend.set_health',
      help: 'Mark as healthy',
      hint: 'healthy',
      act: setHealth('healthy'),
      line: ({ facts }) => `backend.set_health ${facts.name} healthy`,
    },
    {
      keys: ['a'],
      command: 'backends.auto',
      gives: 'backend.set_health',
      help: 'Back to the probe result',
      hint: 'auto',
      act: setHealth('auto'),
      line: ({ facts }) => `backend.set_health ${facts.name} auto`,
    },
  ],
  enter: (c, { facts }) => drill(c, facts.query ?? '', Number(facts.since)),
});

function setHealth(state: string): (c: ViewContext, row: ListRow) => void {
  return (c, row) => c.operator.submit(`backend.set_health ${row.facts.name} ${state}`);
}
