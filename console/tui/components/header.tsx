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
  const named: Span[] = [...lock, span(name, 'strong'), span('  '), ...state];
  const bare: Span[] = [...lock, ...state];
  // Of several instances the name is no ornament.
  const rights = several ? [[...named, ...time], named] : [[...named, ...time], named, bare];
  for (const titles of ['title', 'short', 'brief', 'key'] as const) {
    for (const head of titles === 'title' ? [brand] : [brand, []]) {
      const left = [...head, ...tabs(view, titles)];
      for (const right of titles === 'key' ? [...rights, bare] : rights)
        if (rowWidth(left) + rowWidth(right) < width) return spread(left, right, width);
    }
  }
  return spread([...brand, ...tabs(view, 'key')], state, width);
}

function tabs(view: ViewName, titles: 'title' | 'short' | 'brief' | 'key'): Span[] {
  return VIEWS.flatMap((v) => {
    const here = v.name === view;
    if (titles === 'brief' && !here) return [span(v.key, 'key'), span(`${v.brief} `, 'muted')];
    const label = titles === 'key' ? (here ? v.title : '') : titles === 'brief' ? v.short : v[titles];
    return [
      span(titles === 'title' || titles === 'short' ? ' ' : ''),
      span(v.key, 'key'),
      span(label === '' ? ' ' : ` ${label} `, here ? 'tab' : 'muted'),
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
function bannerText(session: Session): string | null {
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
