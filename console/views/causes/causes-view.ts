// Causes of misses and passes, ranked: number of requests, cost in hit rate, URLs, and a fix. Covers the last misses
// and passes in the sample; "why?" in the log explains each one.

import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { earliest } from '../../model/traffic/rankings.ts';
import type { Window } from '../../model/traffic/traffic-sample.ts';
import type { Unserved, Verdict } from '../../model/traffic/unserved.ts';
import { amount, clock, count, percent } from '../../model/ui/numbers.ts';
import type { ToneLine } from '../../model/ui/panel.ts';
import type { ListRow } from '../list/list-state.ts';
import { type ListView, listView } from '../list/list-view.tsx';
import { drill } from '../log/log-view.tsx';
import { pageQuery } from '../log/written-query.ts';
import { causeBrief, causeChange, causeLabel } from './cause-texts.ts';
import { judge } from './judge.ts';

const URLS = 6;
/** Shares above this count as 1: counters and log arrive at different moments. */
const ALL = 0.95;
/** As many of the newest may wait for their verdict without a word: they have one in the next frame (chosen). */
const SOON = 20;

const WINDOWS: readonly { seconds: Window; label: string }[] = [
  { seconds: 300, label: 'last 5 minutes' },
  { seconds: 60, label: 'last minute' },
  { seconds: null, label: 'all' },
];

interface MissedUrl extends Pick<Unserved, 'host' | 'url' | 'sent'> {
  /** The newest is in `sent`. */
  requests: number;
  /** Epoch seconds at which the oldest of them ended. */
  since: number;
}

interface Cause {
  verdict: Verdict;
  requests: number;
  urls: Map<string, MissedUrl>;
}

interface Survey {
  causes: readonly Cause[];
  /** Misses and passes with a verdict, misses and passes in total, and all requests in that period. */
  judged: number;
  unserved: number;
  requests: number;
  /** In words. */
  period: string;
}

export const CAUSES_VIEW: ListView = listView({
  name: 'causes',
  key: '#',
  title: 'Why misses',
  short: 'Why',
  brief: 'Why',
  asks: [],
  initial: { sort: 1, descending: true },
  columns: [
    { title: 'WHY', min: 30, grow: 2 },
    { title: 'REQUESTS', min: 8, right: true },
    { title: 'COSTS', min: 7, right: true },
    { title: 'SHARE', min: 6, right: true, drop: 1 },
    { title: 'MOSTLY', min: 16, grow: 1, drop: 2 },
  ],
  rows: (session, option) => {
    const survey = surveyOf(session, option);
    const sampled = session.traffic.share() < ALL;
    return survey.causes.map((cause) => row(cause, survey, sampled));
  },
  remark: (session, option) => {
    const survey = surveyOf(session, option);
    const { judged, unserved, requests, period } = survey;
    const share = session.traffic.share();
    // At the front, as in Top: a narrow title is cut at its end.
    const sampled = share < ALL ? `${percent(share)} sampled, ` : '';
    const partial = isPartial(survey) ? `${count(judged)} of ${count(unserved)} analysed, ` : '';
    return `${sampled}${partial}${count(unserved)} of ${count(requests)} requests, ${period}`;
  },
  empty: (session) => (session.connection.state === 'up' ? 'no misses or passes yet' : 'no connection'),
  keys: [
    {
      keys: ['w'],
      command: 'causes.window',
      help: 'Period: last five minutes, last minute, all',
      hint: 'window',
      run: (c) => {
        const at = WINDOWS.indexOf(chosen(c.ui.stateOf(CAUSES_VIEW.state).option));
        CAUSES_VIEW.act(c, { type: 'option', option: String((at + 1) % WINDOWS.length) });
      },
    },
    {
      keys: ['Z'],
      command: 'causes.clear',
      spare: 'zero',
      help: 'Reset the counters',
      run: (c) => c.session.traffic.clear(),
    },
  ],
  subjects: ({ facts: { url = '', host = '', sentUrl = url, sentHost = host } }) =>
    url === '' ? [] : [{ kind: 'url', key: url, of: host, sent: { url: sentUrl, host: sentHost } }],
  enter: (c, { facts }) => drill(c, facts.query ?? '', Number(facts.since)),
});

/** Causes of the last minutes in words, most requests first, with the costs of each as a difference of hit rates. */
export function topCauses(session: DaemonSession): { label: string; costs: string }[] {
  const survey = surveyOf(session, '0');
  return survey.causes.map(({ verdict, requests }) => ({
    label: causeLabel(verdict.cause, verdict.detail),
    costs: costsText(costsOf(requests, survey), survey),
  }));
}

function chosen(option: string): (typeof WINDOWS)[number] {
  return WINDOWS[Number(option)] ?? (WINDOWS[0] as (typeof WINDOWS)[number]);
}

function surveyOf(session: DaemonSession, option: string): Survey {
  const { sample } = session.traffic;
  session.traffic.judgeUnserved(judge);
  const { seconds, label } = chosen(option);
  const { list: counted, requests, since } = sample.unservedOver(seconds, session.dataAt);
  const causes = new Map<string, Cause>();
  let judged = 0;
  for (const one of counted) {
    if (one.verdict === null) continue;
    judged++;
    const key = `${one.verdict.cause} ${one.verdict.detail}`;
    const cause = causes.get(key) ?? { verdict: one.verdict, requests: 0, urls: new Map() };
    causes.set(key, cause);
    // The newest verdict represents all of them.
    cause.verdict = one.verdict;
    cause.requests++;
    countUrl(cause, one);
  }
  const whole = seconds !== null && since <= session.dataAt - seconds + 1;
  return {
    causes: [...causes.values()].sort((a, b) => b.requests - a.requests),
    judged,
    unserved: counted.length,
    requests,
    period: whole || since === 0 ? label : `since ${clock(since, session.utc)}`,
  };
}

function countUrl(cause: Cause, { host, url, sent, ended }: Unserved): void {
  const key = host + url;
  const { requests, since } = cause.urls.get(key) ?? { requests: 0, since: 0 };
  cause.urls.set(key, { host, url, sent, requests: requests + 1, since: earliest(since, ended) });
}

/** A share of all requests as a difference of hit rates: 12.3 pp. */
function points(share: number): string {
  return `${(share * 100).toFixed(1)} pp`;
}

function isPartial({ judged, unserved }: Survey): boolean {
  return judged + SOON < unserved;
}

/** Costs in words: an estimate as long as many have no verdict. */
function costsText(costs: number, survey: Survey): string {
  return isPartial(survey) ? `~${Math.round(costs * 100)} pp` : points(costs);
}

/** Requests of a cause among all; those without a verdict are taken to have the causes of the others. */
function costsOf(requests: number, { judged, unserved, requests: all }: Survey): number {
  return Math.min(1, ((requests / Math.max(1, judged)) * unserved) / Math.max(1, all));
}

function row({ verdict, requests, urls }: Cause, survey: Survey, sampled: boolean): ListRow {
  const label = causeLabel(verdict.cause, verdict.detail);
  const top = [...urls].sort((a, b) => b[1].requests - a[1].requests);
  const share = requests / Math.max(1, survey.judged);
  const costs = costsOf(requests, survey);
  const main = top[0]?.[1];
  return {
    key: label,
    facts: {
      cause: verdict.cause,
      detail: verdict.detail,
      requests: String(requests),
      costs: costs.toFixed(4),
      host: main?.host ?? '',
      url: main?.url ?? '',
      sentUrl: main?.sent.url ?? '',
      sentHost: main?.sent.host ?? '',
      query: `${pageQuery(main?.host ?? '', main?.url ?? '')} and VCL_call ~ "^(MISS|PASS|PIPE)$"`,
      since: (main?.since ?? 0).toFixed(6),
    },
    cells: [
      { text: label, brief: causeBrief(verdict.cause, verdict.detail), tone: 'strong' },
      { text: count(requests), by: requests },
      { text: costsText(costs, survey), by: requests, tone: 'warn' },
      { text: percent(share), by: requests, tone: 'muted' },
      { text: main?.url ?? '', tone: 'muted' },
    ],
    detail: (): readonly ToneLine[] => [
      [
        {
          text: `${amount(requests, 'request')}: as ${requests === 1 ? 'a hit, it' : 'hits, they'} would raise the share served from cache by ${costsText(costs, survey)} (percentage points).`,
        },
      ],
      [{ text: causeChange(verdict.cause, verdict.detail, sampled), tone: 'accent' }],
      [{ text: `The newest: ${verdict.sentence}`, tone: 'muted' }],
      ...top
        .slice(0, URLS)
        .map(
          ([key, { requests: n }]): ToneLine => [
            { text: `${count(n).padStart(8)}  `, tone: 'faint' },
            { text: key },
          ],
        ),
      [{ text: 'Enter shows the requests for the first URL in the log; w explains each.', tone: 'faint' }],
    ],
  };
}
