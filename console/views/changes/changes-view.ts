// Changes in the last minute, five or fifteen: events, and the counters, URLs, statuses, clients, outcomes, errors,
// backends and causes of misses whose rates moved most compared with a period of the same length before. Enter opens the subject of a row.

import { type Change, changesOf } from '../../model/session/changes.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import type { SessionEvent } from '../../model/session/event-log.ts';
import { pushView } from '../../model/ui/navigation.ts';
import { clock, count, duration, rate } from '../../model/ui/numbers.ts';
import type { ToneLine } from '../../model/ui/panel.ts';
import type { ViewContext } from '../../model/ui/view.ts';
import { BACKENDS_VIEW } from '../backends/backends-view.ts';
import { causeLabel } from '../causes/cause-texts.ts';
import { CAUSES_VIEW } from '../causes/causes-view.ts';
import { judge } from '../causes/judge.ts';
import { type AlikeEvents, alikeKey, foldAlike, timesLines } from '../events/alike-events.ts';
import { markOf, textCell, toneOf } from '../events/event-tones.ts';
import { openEvent } from '../events/events-view.ts';
import type { ListRow } from '../list/list-state.ts';
import { type ListView, listView } from '../list/list-view.tsx';
import { drill } from '../log/log-view.tsx';
import { pageQuery } from '../log/written-query.ts';
import { actOnStats } from '../stats/stat-keys.ts';
import { STATS_VIEW } from '../stats/stats-view.tsx';
import { rankQuery } from '../top/rank-subjects.ts';

const MINUTES = [1, 5, 15] as const;

export const CHANGES_VIEW: ListView = listView({
  name: 'changes',
  key: '%',
  title: 'What changed',
  short: 'Changed',
  brief: 'Chg',
  asks: [],
  columns: [
    { title: ' ', min: 1 },
    { title: 'KIND', min: 9 },
    { title: 'WHAT', min: 24, grow: 1 },
    { title: 'BEFORE/S', min: 8, right: true },
    { title: 'NOW/S', min: 8, right: true },
  ],
  rows: (session, option) => {
    const seconds = minutesOf(option) * 60;
    const events = session.events.since(session.now() - seconds);
    session.traffic.judgeUnserved(judge);
    return [
      ...byText(events).map((same) => eventRow(same, session)),
      ...changesOf(session, seconds).changes.map(changeRow),
    ];
  },
  remark: (session, option) => {
    const minutes = minutesOf(option);
    const { counters, urls } = changesOf(session, minutes * 60);
    const last = minutes === 1 ? 'the last minute' : `the last ${minutes} minutes`;
    const before = minutes === 1 ? 'the one before' : `the ${minutes} before`;
    if (!counters)
      return session.recallsCounters ? `loading earlier counters; ${last}` : `no earlier counters; ${last}`;
    const { since } = session.traffic.sample.urls;
    const short = since === 0 ? 'no requests seen' : `URLs known since ${clock(since, session.utc)}`;
    return `${last} against ${before}${urls ? '' : `; ${short}`}`;
  },
  empty: (session, option) =>
    session.connection.state !== 'up'
      ? 'no connection'
      : changesOf(session, minutesOf(option) * 60).counters
        ? `${noEvents(session)}, and no counter or URL changed`
        : `${noEvents(session)}; ${session.recallsCounters ? 'loading earlier counters' : 'nothing to compare with yet'}`,
  keys: [
    {
      keys: ['w'],
      command: 'changes.window',
      help: 'Period: last minute, 5 minutes, 15 minutes',
      hint: 'window',
      run: (c) => {
        const at = MINUTES.indexOf(minutesOf(c.ui.stateOf(CHANGES_VIEW.state).option));
        CHANGES_VIEW.act(c, { type: 'option', option: String(MINUTES[(at + 1) % MINUTES.length]) });
      },
    },
  ],
  subjects: ({ facts: { kind, url = '', host = '', sentUrl = '', sentHost = '' } }) =>
    kind === 'url' ? [{ kind, key: url, of: host, sent: { url: sentUrl, host: sentHost } }] : [],
  enter: (c, row) => open(c, row.facts),
});

/** If the source has no events, there may still have been some. */
function noEvents({ source }: DaemonSession): string {
  return source.eventLimits === undefined ? 'no events' : 'no events known';
}

function minutesOf(option: string): (typeof MINUTES)[number] {
  return MINUTES.find((one) => String(one) === option) ?? 1;
}

/** Events of a kind from which on they are one row, whatever their texts (chosen). */
const MANY = 4;

/** Kinds whose events are alike whatever their figures. */
const SAME_KINDS: ReadonlySet<string> = new Set(['hit-rate', 'passes']);

function sameKey(event: SessionEvent): string {
  return SAME_KINDS.has(event.kind) ? event.kind : alikeKey(event);
}

/** Groups events that are alike, and many of one kind, newest first, so that repeated events do not push counters and
 * URLs off the screen. */
function byText(events: readonly SessionEvent[]): AlikeEvents[] {
  const keys = new Map<string, Set<string>>();
  for (const event of events) keys.set(event.kind, (keys.get(event.kind) ?? new Set()).add(sameKey(event)));
  const isMany = ({ kind }: SessionEvent): boolean => (keys.get(kind)?.size ?? 0) >= MANY;
  return foldAlike(events.toReversed(), Number.POSITIVE_INFINITY, (event) =>
    isMany(event) ? event.kind : sameKey(event),
  );
}

function eventRow({ newest, all, text }: AlikeEvents, session: DaemonSession): ListRow {
  const { at, kind } = newest;
  const when = clock(at, session.utc);
  const often = all.length === 1 ? '' : `${count(all.length)} times`;
  const others = all.some((one) => alikeKey(one) !== alikeKey(newest));
  return {
    key: sameKey(newest),
    title: `${when} ${text}`,
    facts: { kind, text, time: String(at), times: String(all.length) },
    cells: [
      { text: markOf(kind), tone: toneOf(kind) },
      { text: kind, tone: toneOf(kind) },
      others
        ? { text: `the newest: ${textCell(kind, newest.text).text}`, tone: 'strong' }
        : { ...textCell(kind, text), tone: 'strong' },
      { text: often, by: all.length, tone: 'muted' },
      { text: when, by: at, tone: 'muted' },
    ],
    detail: () => [
      [{ text: `${when}: ${kind}`, tone: toneOf(kind) }],
      [{ text: others ? newest.text : text }],
      ...timesLines(all, session.utc),
      [{ text: 'Enter opens its subject.', tone: 'faint' }],
    ],
  };
}

/** The words of a row, and what Enter shows. */
function wordsOf({ kind, name, verdict, alike = [] }: Change): { text: string; enter: string } {
  switch (kind) {
    case 'counter':
      return {
        text: alike.length === 0 ? name : `${name} and ${alike.length} that changed alike`,
        enter: 'the counter',
      };
    case 'time':
      return { text: `${name}: mean time to the first byte`, enter: 'the backends' };
    case 'failure':
      return { text: `${name}: failed fetches and 5xx`, enter: 'the backends' };
    case 'cause':
      return { text: causeLabel(verdict?.cause ?? '', verdict?.detail ?? ''), enter: 'why requests miss' };
    case 'error':
      return { text: `5xx of ${name}`, enter: 'its requests' };
    default:
      return { text: name, enter: 'its requests' };
  }
}

function changeRow(change: Change): ListRow {
  const { kind, name, asked, before, now, alike = [] } = change;
  const figure = kind === 'time' ? duration : rate;
  const { text, enter } = wordsOf(change);
  const sent = asked?.sent ?? asked;
  const more = now > before;
  return {
    key: `${kind} ${name}`,
    facts: {
      kind,
      name,
      before: before.toFixed(3),
      now: now.toFixed(3),
      ...(asked === undefined || sent === undefined
        ? {}
        : {
            url: asked.url,
            host: asked.host,
            sentUrl: sent.url,
            sentHost: sent.host,
            since: asked.since.toFixed(6),
          }),
    },
    cells: [
      { text: more ? '+' : '-', tone: more ? 'warn' : 'accent' },
      { text: kind, tone: 'muted' },
      { text },
      { text: figure(before), by: before, tone: 'muted' },
      { text: figure(now), by: now, tone: 'strong' },
    ],
    detail: (): ToneLine[] => [
      [
        {
          text:
            kind === 'time'
              ? `${duration(before)} before, ${duration(now)} now${comparison(before, now)}`
              : `${rate(before)}/s before, ${rate(now)}/s now${comparison(before, now)}`,
        },
      ],
      ...(alike.length === 0
        ? []
        : [[{ text: `Changed alike: ${alike.join(', ')}`, tone: 'muted' as const }]]),
      [{ text: `Enter shows ${enter}.`, tone: 'faint' }],
    ],
  };
}

/** Unsmoothed rates: only the factor used for ranking is smoothed. */
function comparison(before: number, now: number): string {
  if (before === 0 || now === 0) return '';
  const times = now / before;
  return times >= 2
    ? ` (×${rate(times)})`
    : ` (${times < 1 ? '−' : '+'}${Math.round(Math.abs(times - 1) * 100)} %)`;
}

/** Outcomes whose subroutine has another name. */
const OUTCOME_CALLS: Readonly<Record<string, string>> = { hitmiss: 'MISS', hitpass: 'PASS' };

/** @param name host and URL, as looked up */
function errorQuery(name: string): string {
  const slash = name.indexOf('/');
  const [host, url] = slash < 0 ? ['', name] : [name.slice(0, slash), name.slice(slash)];
  return `${pageQuery(host, url)} and RespStatus >= 500`;
}

function open(c: ViewContext, facts: ListRow['facts']): void {
  const { kind = '', name = '', url = '', host = '' } = facts;
  if (kind === 'counter') {
    pushView(c, STATS_VIEW);
    actOnStats(c, { type: 'filter', text: name });
  } else if (kind === 'url') {
    drill(c, pageQuery(host, url), Number(facts.since));
  } else if (kind === 'status' || kind === 'client') drill(c, rankQuery(kind, name));
  else if (kind === 'outcome') drill(c, `VCL_call eq "${OUTCOME_CALLS[name] ?? name.toUpperCase()}"`);
  else if (kind === 'error') drill(c, errorQuery(name));
  else if (kind === 'time' || kind === 'failure') pushView(c, BACKENDS_VIEW);
  else if (kind === 'cause') pushView(c, CAUSES_VIEW);
  else openEvent(c, kind as SessionEvent['kind'], facts.text);
}
