// The top row: product, views, instance, connection. And the banner below it while data is stale.

import { type ReactNode, useContext } from 'react';
import type { Controller } from '../../model/controller.ts';
import { clock } from '../../model/numbers.ts';
import type { Session } from '../../model/session.ts';
import { VIEWS, type ViewName } from '../../model/views.ts';
import { ThemeContext, UtcContext } from '../hooks/contexts.ts';
import { type Row, rowWidth, type Span, span, spread } from '../spans.ts';
import type { Theme } from '../theme.ts';
import { Rows } from './rows.tsx';

export interface HeaderProps {
  controller: Controller;
  view: ViewName;
  width: number;
  readonly: boolean;
}

export function Header({ controller, view, width, readonly }: HeaderProps): ReactNode {
  const theme = useContext(ThemeContext);
  const utc = useContext(UtcContext);
  return (
    <Rows
      rows={[headerRow(controller, view, width, readonly, theme, utc)]}
      width={width}
      height={1}
      fill="bar"
    />
  );
}

export function headerRow(
  controller: Controller,
  view: ViewName,
  width: number,
  readonly: boolean,
  theme: Theme,
  utc: boolean,
): Row {
  const { session } = controller;
  const { instances } = controller.options;
  const several = instances.names.length > 1 && instances.replay === undefined;
  const told = session.identity === '' ? session.source.label : session.identity;
  const name = several ? instances.name : told;
  const lock: Span[] = readonly ? [span('read-only', 'warn'), span('  ')] : [];
  const state: Span[] = [connectionSpan(session, theme), span(' ')];
  const time: Span[] = [span(' '), span(clock(session.now(), utc), 'muted'), span(' ')];
  const brand: Span[] = [span(' proxyd ', 'brand'), span(' ')];
  // What has no room goes, the least needed first: the clock, the name, the titles of other views.
  for (const titles of ['title', 'short', 'key'] as const) {
    const left = [...brand, ...tabs(view, titles)];
    for (const right of [
      [...lock, span(name, 'strong'), span('  '), ...state, ...time],
      [...lock, span(name, 'strong'), span('  '), ...state],
      [...lock, ...state],
    ] satisfies Span[][]) {
      const room = width - rowWidth(left) - rowWidth(right);
      if (room >= 1) return spread(left, right, width);
      if (titles !== 'key' && right.length > lock.length + state.length) continue;
    }
  }
  return spread([...brand, ...tabs(view, 'key')], state, width);
}

function tabs(view: ViewName, titles: 'title' | 'short' | 'key'): Span[] {
  return VIEWS.flatMap((v) => {
    const label = titles === 'key' ? (v.name === view ? v.title : '') : v[titles];
    return [
      span(titles === 'key' ? '' : ' '),
      span(v.key, 'key'),
      span(label === '' ? ' ' : ` ${label} `, v.name === view ? 'tab' : 'muted'),
    ];
  });
}

function connectionSpan(session: Session, theme: Theme): Span {
  const { bullet, up } = theme.glyphs;
  switch (session.connection.state) {
    case 'up':
      return span(`${bullet} live`, 'good');
    case 'connecting':
      return span(`${bullet} connecting`, 'warn');
    case 'waiting':
      return span(`${up} ${session.everUp ? 'stale' : 'no daemon'}`, 'bad');
  }
}

/** The banner's text while the connection is down, null otherwise. */
export function bannerText(session: Session): string | null {
  if (!session.cutOff) return null;
  const { connection } = session;
  const stale = session.staleFor();
  const age = stale === null ? 'no daemon' : `stale ${Math.floor(stale)} s`;
  if (connection.state !== 'waiting') return `${age}: connecting again…`;
  const wait = Math.max(0, Math.ceil(connection.retryAt - session.now()));
  return `${age}: ${connection.reason}; attempt ${connection.attempt + 1} in ${wait} s`;
}

export function Banner({ session, width }: { session: Session; width: number }): ReactNode {
  const theme = useContext(ThemeContext);
  const text = bannerText(session);
  if (text === null) return null;
  return (
    <Rows rows={[[span(` ${theme.glyphs.up} ${text}`, 'banner')]]} width={width} height={1} fill="banner" />
  );
}
