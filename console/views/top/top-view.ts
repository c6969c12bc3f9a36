// Rankings of URLs, hosts, clients and more, from the sample, over one or five minutes or everything sampled, by
// requests, misses, passes, errors, bytes, time. If the sample is partial, requests per second are scaled by the
// daemon's own count.

import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { RANKING_NAMES, RANKINGS, type Rank, type RankingName } from '../../model/traffic/rankings.ts';
import type { Ranked, Window } from '../../model/traffic/traffic-sample.ts';
import { amount, bytes, clock, count, duration, percent, rate } from '../../model/ui/numbers.ts';
import type { ToneLine } from '../../model/ui/panel.ts';
import type { ViewContext } from '../../model/ui/view.ts';
import type { ListRow } from '../list/list-state.ts';
import { type ListView, listView } from '../list/list-view.tsx';
import { drill } from '../log/log-view.tsx';
import { asLookedUp, RANK_SUBJECTS, rankQuery } from './rank-subjects.ts';

const SHOWN = 500;

const WINDOWS: readonly { seconds: Window; label: string }[] = [
  { seconds: 60, label: 'last minute' },
  { seconds: 300, label: 'last 5 minutes' },
  { seconds: null, label: 'all' },
];

export const TOP_VIEW: ListView = listView({
  name: 'top',
  key: '9',
  title: 'Top',
  short: 'Top',
  brief: 'Top',
  asks: [],
  initial: { sort: 1, descending: true },
  columns: [
    { title: 'WHAT', min: 28, grow: 1 },
    { title: 'REQUESTS', min: 8, right: true },
    { title: 'REQ/S', min: 6, right: true, drop: 3 },
    { title: 'SHARE', min: 6, right: true, drop: 5 },
    { title: 'HITS', min: 6, right: true, drop: 2 },
    { title: 'MISSES', min: 7, right: true },
    { title: 'PASSES', min: 7, right: true, drop: 1 },
    { title: 'ERRORS', min: 6, right: true, drop: 1 },
    { title: 'BYTES', min: 7, right: true, drop: 4 },
    { title: 'TIME', min: 8, right: true, drop: 7 },
    { title: 'EACH', min: 7, right: true, drop: 6 },
  ],
  rows: (session, option) => {
    const { ranking } = chosen(option);
    const ranked = rankedBy(session, option);
    const share = shareOf(session, option, ranked);
    return ranked.ranks.map((rank) => row(ranking, rank, ranked, share));
  },
  remark: (session, option) => {
    const { ranking, window } = chosen(option);
    const ranked = rankedBy(session, option);
    const { requests, since, seconds } = ranked;
    const share = shareOf(session, option, ranked);
    // A window longer than the sample starts where the sample does.
    const whole = window.seconds !== null && seconds >= window.seconds;
    const when = whole ? `, ${window.label}` : since === 0 ? '' : ` since ${clock(since, session.utc)}`;
    // The share comes first: a narrow title is cut at its end, and without it the counts would look like totals.
    return `by ${RANKINGS[ranking].title}${share < 1 ? `, ${percent(share)} sampled` : ''}, ${count(requests)} requests${when}`;
  },
  empty: (session) => (session.connection.state === 'up' ? 'no traffic yet' : 'no connection'),
  keys: [
    {
      keys: ['t'],
      command: 'top.next',
      help: 'Rank by URL, host and path, path prefix, host, client, network, X-Forwarded-For, status and more',
      hint: 'by',
      run: (c) => choose(c, { by: 1 }),
    },
    {
      keys: ['T'],
      command: 'top.previous',
      spare: 'back',
      help: 'Previous ranking',
      run: (c) => choose(c, { by: -1 }),
    },
    {
      keys: ['c'],
      command: 'top.client',
      help: 'Rank by client',
      hint: 'client',
      run: (c) => choose(c, { to: 'client' }),
    },
    {
      keys: ['w'],
      command: 'top.window',
      help: 'Period: last minute, 5 minutes, all',
      hint: 'window',
      run: (c) => choose(c, { window: 1 }),
    },
    {
      keys: ['Z'],
      command: 'top.clear',
      spare: 'zero',
      help: 'Reset the counters',
      run: (c) => c.session.traffic.clear(),
    },
  ],
  subjects: ({ facts: { ranking, key = '', url = '', host = '', lookupUrl = '', lookupHost = '' } }) =>
    RANK_SUBJECTS[ranking as RankingName]({ key, url, host, lookupUrl, lookupHost }),
  enter: (c, { facts }) => drill(c, facts.query ?? '', Number(facts.since)),
});

/** An option is the name of a ranking, a blank, and the index of a window. */
function chosen(option: string): { ranking: RankingName; window: (typeof WINDOWS)[number] } {
  const [name = '', index = ''] = option.split(' ');
  const ranking = RANKING_NAMES.find((one) => one === name) ?? 'url';
  return { ranking, window: WINDOWS[Number(index)] ?? (WINDOWS[0] as (typeof WINDOWS)[number]) };
}

function choose(c: ViewContext, step: { by?: number; to?: RankingName; window?: number }): void {
  const { ranking, window } = chosen(c.ui.stateOf(TOP_VIEW.state).option);
  const names = RANKING_NAMES.length;
  const name = step.to ?? RANKING_NAMES[(RANKING_NAMES.indexOf(ranking) + (step.by ?? 0) + names) % names];
  const at = (WINDOWS.indexOf(window) + (step.window ?? 0)) % WINDOWS.length;
  TOP_VIEW.act(c, { type: 'option', option: `${name} ${at}` });
}

function rankedBy(session: DaemonSession, option: string): Ranked {
  const { ranking, window } = chosen(option);
  return session.traffic.sample.ranked(ranking, window.seconds, session.dataAt, SHOWN);
}

/** Shares above this count as 1: counters and log arrive at different moments. */
const ALL = 0.95;

/** Share of client requests in the sample. */
function shareOf(session: DaemonSession, option: string, { requests, seconds }: Ranked): number {
  const all = session.requestRate(seconds);
  if (session.traffic.share() === 1) return 1;
  const share =
    chosen(option).window.seconds === null
      ? session.traffic.share()
      : all === null || all === 0
        ? 1
        : requests / (all * seconds);
  return share > ALL || share === 0 ? 1 : share;
}

function row(ranking: RankingName, r: Rank, { total, seconds }: Ranked, share: number): ListRow {
  const each = r.requests === 0 ? 0 : r.seconds / r.requests;
  const perSecond = r.requests / share / Math.max(1, seconds);
  const query = rankQuery(ranking, r.key);
  return {
    key: `${RANKINGS[ranking].title} ${r.key}`,
    facts: {
      ranking,
      key: r.key,
      url: r.url,
      host: r.host,
      lookupUrl: r.lookupUrl,
      lookupHost: r.lookupHost,
      query,
      since: r.since.toFixed(6),
      requests: String(r.requests),
      perSecond: perSecond.toFixed(3),
      misses: String(r.misses),
      passes: String(r.passes),
    },
    cells: [
      { text: r.key },
      { text: count(r.requests), by: r.requests, tone: 'strong' },
      { text: rate(perSecond), by: r.requests, tone: 'strong' },
      { text: percent(r.requests / Math.max(1, total)), by: r.requests, tone: 'muted' },
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
          text: `${amount(r.requests, 'request')}: ${handledText(r)}. ${amount(r.errors, 'error')} among them, ${bytes(r.bytes)} in bodies.`,
        },
      ],
      ...asLookedUp(ranking, r).map((text): ToneLine => [{ text, tone: 'muted' }]),
      [
        { text: 'Enter shows them in the log: ', tone: 'faint' },
        { text: query, tone: 'accent' },
      ],
    ],
  };
}

/** Outcomes; the rest was synthesized, piped, or is unfinished. */
export function handledText({
  requests,
  hits,
  misses,
  passes,
}: Pick<Rank, 'requests' | 'hits' | 'misses' | 'passes'>): string {
  const other = requests - hits - misses - passes;
  return [
    amount(hits, 'hit'),
    amount(misses, 'miss', 'misses'),
    amount(passes, 'pass', 'passes'),
    ...(other > 0 ? [`${count(other)} otherwise`] : []),
  ].join(', ');
}
