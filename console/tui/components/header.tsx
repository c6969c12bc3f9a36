// The top row: product, views, instance, connection. And the banner below it while data is stale.

import { type ReactNode, useContext } from 'react';
import { VIEW_TITLES, VIEWS, type ViewName } from '../../model/keymap.ts';
import { clock } from '../../model/numbers.ts';
import type { Session } from '../../model/session.ts';
import { ThemeContext, UtcContext } from '../hooks/contexts.ts';
import { type Row, rowWidth, type Span, span, spread } from '../spans.ts';
import type { Theme } from '../theme.ts';
import { Rows } from './rows.tsx';

export interface HeaderProps {
  session: Session;
  view: ViewName;
  width: number;
  readonly: boolean;
}

export function Header({ session, view, width, readonly }: HeaderProps): ReactNode {
  const theme = useContext(ThemeContext);
  const utc = useContext(UtcContext);
  return (
    <Rows
      rows={[headerRow(session, view, width, readonly, theme, utc)]}
      width={width}
      height={1}
      fill="bar"
    />
  );
}

export function headerRow(
  session: Session,
  view: ViewName,
  width: number,
  readonly: boolean,
  theme: Theme,
  utc: boolean,
): Row {
  const left: Span[] = [span(' proxyd ', 'brand'), span(' ')];
  VIEWS.forEach((v, i) => {
    left.push(
      span(' '),
      span(`${i + 1}`, 'key'),
      span(' '),
      span(VIEW_TITLES[v], v === view ? 'tab' : 'muted'),
      span(' '),
    );
  });
  const state = connectionSpan(session, theme);
  const name = session.identity === '' ? session.source.label : session.identity;
  const time: Span[] = width >= 90 ? [span(clock(session.now(), utc), 'muted'), span(' ')] : [];
  const who: Span[] = width - rowWidth(left) - name.length >= 24 ? [span(name, 'strong'), span('  ')] : [];
  const lock: Span[] = readonly && width >= 80 ? [span('read-only', 'warn'), span('  ')] : [];
  return spread(left, [...lock, ...who, state, span('  '), ...time], width);
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
