// What is asked for most: URLs, hosts, clients and more, from the sample, by requests, misses, errors, bytes, time.

import type { DaemonSession } from '../../model/daemon-session.ts';
import { bytes, clock, count, duration, percent } from '../../model/numbers.ts';
import type { ToneLine } from '../../model/panel.ts';
import { RANKINGS, type Rank, type RankingName } from '../../model/traffic-sample.ts';
import type { ListRow } from '../list/list-state.ts';
import { type ListView, listView } from '../list/list-view.tsx';
import { drill } from '../log/log-view.tsx';

const SHOWN = 500;

/** The query that shows only what a row stands for; null where the log has no single record of it. */
const QUERIES: Readonly<Record<RankingName, (key: string) => string>> = {
  url: (key) => `ReqURL eq ${quoted(key)}`,
  host: (key) => `ReqHeader:Host eq ${quoted(key)}`,
  client: (key) => `ReqStart[1] eq ${quoted(key)}`,
  status: (key) => `RespStatus == ${key}`,
  method: (key) => `ReqMethod eq ${quoted(key)}`,
  backend: (key) => `BackendOpen[2] eq ${quoted(key)}`,
  agent: (key) => `ReqHeader:User-Agent eq ${quoted(key)}`,
  fragment: (key) => `Begin[3] eq "esi" and ReqURL eq ${quoted(key)}`,
};

export const TOP_VIEW: ListView = listView({
  name: 'top',
  key: '9',
  title: 'Top',
  short: 'Top',
  brief: 'Top',
  asks: [],
  initial: { sort: 1, descending: true },
  columns: [
    { title: 'WHAT', min: 20, grow: 1 },
    { title: 'REQUESTS', min: 8, right: true },
    { title: 'SHARE', min: 6, right: true, drop: 4 },
    { title: 'HITS', min: 6, right: true, drop: 2 },
    { title: 'MISSES', min: 7, right: true },
    { title: 'PASSES', min: 7, right: true, drop: 7 },
    { title: 'ERRORS', min: 6, right: true, drop: 1 },
    { title: 'BYTES', min: 7, right: true, drop: 3 },
    { title: 'TIME', min: 8, right: true, drop: 5 },
    { title: 'EACH', min: 7, right: true, drop: 6 },
  ],
  rows: (session, option) => {
    const ranking = rankingOf(option);
    return session.sample.top(ranking, 'requests', SHOWN).map((rank) => row(session, ranking, rank));
  },
  remark: (session, option) =>
    `by ${rankingOf(option)}, ${count(session.sample.requests)} requests${sinceText(session)}${session.sampleShare() < 0.99 ? `, a sample of ${percent(session.sampleShare())}` : ''}`,
  empty: (session) => (session.connection.state === 'up' ? 'no traffic yet' : 'no connection'),
  keys: [
    {
      keys: ['t'],
      command: 'top.next',
      help: 'Rank by URL, host, client, status, backend',
      hint: 'by',
      run: (c) => {
        const at = RANKINGS.indexOf(rankingOf(c.stateOf(TOP_VIEW.state).option));
        TOP_VIEW.act(c, { type: 'option', option: RANKINGS[(at + 1) % RANKINGS.length] as string });
      },
    },
    { keys: ['x'], command: 'top.clear', help: 'Count from zero', run: (c) => c.session.clearSample() },
  ],
  enter: (c, row) => drill(c, row.facts.query ?? ''),
});

function rankingOf(option: string): RankingName {
  return (RANKINGS as readonly string[]).includes(option) ? (option as RankingName) : 'url';
}

function sinceText({ sample, utc }: DaemonSession): string {
  return sample.since === 0 ? '' : ` since ${clock(sample.since, utc)}`;
}

function row(session: DaemonSession, ranking: RankingName, r: Rank): ListRow {
  const total = Math.max(1, session.sample.requests);
  const each = r.requests === 0 ? 0 : r.seconds / r.requests;
  return {
    key: `${ranking} ${r.key}`,
    facts: {
      key: r.key,
      query: QUERIES[ranking](r.key),
      requests: String(r.requests),
      misses: String(r.misses),
    },
    cells: [
      { text: r.key },
      { text: count(r.requests), by: r.requests, tone: 'strong' },
      { text: percent(r.requests / total), by: r.requests, tone: 'muted' },
      {
        text: r.requests === 0 ? '' : percent(r.hits / r.requests),
        by: r.hits / Math.max(1, r.requests),
        tone: 'good',
      },
      { text: count(r.misses), by: r.misses, tone: r.misses > 0 ? 'warn' : 'muted' },
      { text: count(r.passes), by: r.passes, tone: r.passes > 0 ? 'warn' : 'muted' },
      { text: count(r.errors), by: r.errors, tone: r.errors > 0 ? 'bad' : 'muted' },
      { text: bytes(r.bytes), by: r.bytes, tone: 'muted' },
      { text: duration(r.seconds), by: r.seconds, tone: 'muted' },
      { text: duration(each), by: each, tone: 'muted' },
    ],
    detail: (): readonly ToneLine[] => [
      [{ text: r.key, tone: 'strong' }],
      [
        {
          text: `${r.requests} requests: ${r.hits} hits, ${r.misses} misses, ${r.passes} passes, ${r.errors} errors; ${bytes(r.bytes)} in bodies.`,
        },
      ],
      [
        { text: 'Enter shows them in the log: ', tone: 'faint' },
        { text: QUERIES[ranking](r.key), tone: 'accent' },
      ],
    ],
  };
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
