// The second row: the health of the daemon, always on screen; of a recording its position. Parts are dropped for want
// of room, the least important first, so they are in the order of importance.

import { type ReactNode, useContext } from 'react';
import { widthOf, wordsFit } from '../../draw/cells.ts';
import { ThemeContext, UtcContext } from '../../draw/contexts.ts';
import { Rows } from '../../draw/rows.tsx';
import { type Row, rowWidth, type Span, span } from '../../draw/spans.ts';
import type { FillName, StyleName, Theme } from '../../draw/theme.ts';
import { Live } from '../../draw/use-console.ts';
import {
  type Health,
  type HealthState,
  type ProcessFigures,
  readHealth,
} from '../../model/session/daemon-health.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import type { ReplayControl } from '../../model/session/instances.ts';
import { age, clock, count, duration, scaledBytes } from '../../model/ui/numbers.ts';
import type { ViewContext } from '../../model/ui/view.ts';

/** Event loop delay in seconds from which it is a warning (chosen): clients notice it. */
const LATE = 0.1;

const WORDS: Readonly<Record<HealthState, { text: string; style: StyleName }>> = {
  connecting: { text: 'connecting', style: 'warn' },
  waiting: { text: 'connected, no data yet', style: 'warn' },
  'only past': { text: 'connected, no current values yet', style: 'warn' },
  'cut off': { text: '', style: 'bad' },
  'daemon silent': { text: 'daemon silent', style: 'bad' },
  'worker silent': { text: 'worker silent', style: 'bad' },
  'threads silent': { text: '', style: 'bad' },
  unknown: { text: 'connected, worker unknown', style: 'warn' },
  running: { text: 'running', style: 'good' },
  starting: { text: 'worker starting', style: 'warn' },
  stopping: { text: 'worker stopping', style: 'warn' },
  stopped: { text: 'worker stopped', style: 'bad' },
  'no program': { text: 'no program, no worker', style: 'bad' },
  'dead, to be replaced': { text: 'worker dead, to be replaced', style: 'bad' },
  dead: { text: 'worker dead', style: 'bad' },
};

export function HealthStrip({ c, width }: { c: ViewContext; width: number }): ReactNode {
  const theme = useContext(ThemeContext);
  const utc = useContext(UtcContext);
  const { session } = c;
  return (
    <Live session={session}>
      {() => {
        const { row, fill } = healthStrip(c, width, theme, utc);
        return <Rows rows={[row]} width={width} height={1} fill={fill} />;
      }}
    </Live>
  );
}

export function healthStrip(
  c: ViewContext,
  width: number,
  theme: Theme,
  utc: boolean,
): { row: Row; fill: FillName } {
  const { instances, session } = c;
  const { replay } = instances;
  if (replay !== undefined) return { row: fitting(replayParts(replay), width), fill: 'bar' };
  const health = readHealth(session);
  if (health.state !== 'cut off')
    return { row: fitting(healthParts(health, session.now(), theme, utc), width), fill: 'bar' };
  return {
    row: [span(wordsFit(` ${theme.glyphs.up} ${cutOffText(session, width - 3)}`, width), 'banner')],
    fill: 'banner',
  };
}

/** For a screen reader: the state alone, spoken when it changes. */
export function spokenHealth({ session, instances }: ViewContext): string {
  if (instances.replay !== undefined) return 'A recording';
  const health = readHealth(session);
  const { state, since } = health;
  const { connection } = session;
  if (state === 'cut off')
    return `No connection${connection.state === 'waiting' ? `: ${connection.reason}` : ''}`;
  const { style } = WORDS[state];
  const text = wordsOf(health);
  const spoken = text.slice(0, 1).toUpperCase() + text.slice(1);
  return since === null || style === 'good' ? spoken : `${spoken} since ${clock(since, session.utc)}`;
}

function wordsOf({ state, silent }: Health): string {
  if (state !== 'threads silent') return WORDS[state].text;
  return silent.length === 1 ? `thread ${silent[0]} silent` : `${silent.length} threads silent`;
}

/** As many parts as fit; the first one always. */
function fitting(parts: readonly Row[], width: number): Row {
  const row: Span[] = [];
  for (const part of parts) {
    const more = [span(row.length === 0 ? ' ' : '   '), ...part];
    if (row.length > 0 && rowWidth(row) + rowWidth(more) > width) break;
    row.push(...more);
  }
  return row;
}

function healthParts(health: Health, now: number, theme: Theme, utc: boolean): Row[] {
  const { bullet, up } = theme.glyphs;
  const { style } = WORDS[health.state];
  const text = wordsOf(health);
  const parts: Row[] = [
    [span(`${style === 'good' ? bullet : up} ${text}${sinceText(health, now, utc)}`, style)],
  ];
  const { lost, restarts, lag } = health;
  if (lost > 0) parts.push([span(`${count(lost)} log records lost`, 'warn')]);
  if (restarts !== null)
    parts.push([
      span(`${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`, health.deaths > 0 ? 'warn' : 'muted'),
    ]);
  if (lag !== null) parts.push([span('loop ', 'faint'), span(duration(lag), lag >= LATE ? 'warn' : 'muted')]);
  if (health.worker !== null) parts.push(processPart('worker', health.worker));
  if (health.manager !== null) parts.push(processPart('manager', health.manager));
  if (lost === 0 && restarts !== null) parts.push([span('no log lost', 'faint')]);
  return parts;
}

/** The duration while running; of other states also the time since, to look up events of that time. */
function sinceText({ state, since }: Health, now: number, utc: boolean): string {
  if (since === null) return '';
  const long = age(now - since);
  return state === 'running' ? ` ${long}` : ` since ${clock(since, utc)} (${long})`;
}

function processPart(name: string, { cpu, rss }: ProcessFigures): Row {
  return [span(`${name} `, 'faint'), span(`${Math.round(cpu * 100)}% ${scaledBytes(rss)}`, 'muted')];
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The text of a connection that is down, or was never up. */
function cutOffText(session: DaemonSession, width: number): string {
  const { connection, everUp } = session;
  const age = everUp
    ? `${capitalised(session.source.product ?? 'daemon')} unreachable for ${Math.floor(Math.max(0, session.now() - session.lastDataAt))} s`
    : `no ${session.source.product ?? 'daemon'}`;
  if (connection.state !== 'waiting') return `${age}: reconnecting…`;
  const wait = Math.max(0, Math.ceil(connection.retryAt - session.now()));
  // The place before the reason may be long, and is known.
  const reason = connection.reason.slice(connection.reason.lastIndexOf(': ') + 1).trim();
  const texts = [
    `${age}, retrying in ${wait} s: ${connection.reason}`,
    `${age}, retrying in ${wait} s: ${reason}`,
    `${age}: ${reason}`,
  ];
  return texts.find((text) => widthOf(text) <= width) ?? (texts[0] as string);
}

function replayParts({ at, length, paused, speed }: ReplayControl): Row[] {
  const ended = at >= length;
  return [
    [span('REPLAY', 'warn'), span(` ${position(at)} of ${position(length)}`, 'strong')],
    [span(ended ? 'end' : paused ? 'paused' : 'playing', ended || paused ? 'warn' : 'muted')],
    [span(`${speed}×`, 'muted')],
  ];
}

/** 1:02:03, or 2:03. */
function position(seconds: number): string {
  const s = Math.floor(seconds);
  const p = (n: number): string => String(n).padStart(2, '0');
  const hours = Math.floor(s / 3600);
  const minutes = Math.floor(s / 60) % 60;
  return hours === 0 ? `${minutes}:${p(s % 60)}` : `${hours}:${p(minutes)}:${p(s % 60)}`;
}
