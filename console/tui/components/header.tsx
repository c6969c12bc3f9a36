// The top row: product, views, instance, time.

import { isDeepStrictEqual } from 'node:util';
import { memo, type ReactNode, useContext } from 'react';
import { UtcContext } from '../../draw/contexts.ts';
import { Box } from '../../draw/ink.ts';
import { Rows } from '../../draw/rows.tsx';
import { type Row, rowWidth, type Span, span } from '../../draw/spans.ts';
import { Live } from '../../draw/use-console.ts';
import { Bar, Line } from '../../draw/words.tsx';
import { tabsOf } from '../../model/ui/navigation.ts';
import { clock } from '../../model/ui/numbers.ts';
import type { View, ViewContext } from '../../model/ui/view.ts';

export interface HeaderProps {
  c: ViewContext;
  view: View;
  width: number;
  readonly: boolean;
}

export function Header({ c, view, width, readonly }: HeaderProps): ReactNode {
  const utc = useContext(UtcContext);
  const { session } = c;
  return (
    <Box width={width} height={1} flexShrink={0}>
      <Live session={session}>
        {() => {
          const { left, right } = headerParts(c, view, width, readonly, utc);
          const clock = rowWidth(right);
          // The right end changes every second: the sink paints it, and Ink has nothing to do.
          return (
            <>
              <Titles row={left} width={width - clock} />
              <Rows rows={[right]} width={clock} height={1} fill="bar" />
            </>
          );
        }}
      </Live>
    </Box>
  );
}

/** The titles, rendered only when they change. */
const Titles = memo(
  ({ row, width }: { row: Row; width: number }): ReactNode => (
    <Bar width={width}>
      <Line row={row} />
    </Bar>
  ),
  isDeepStrictEqual,
);

/** How much of the titles is shown. */
type Titled = 'title' | 'short' | 'brief' | 'key';

/** The titles of the views, and the texts at the right end. */
export function headerParts(
  c: ViewContext,
  view: View,
  width: number,
  readonly: boolean,
  utc: boolean,
): { left: Row; right: Row } {
  const { instances, session } = c;
  const several = instances.names.length > 1 && instances.replay === undefined;
  const identity = session.identity === '' ? session.source.label : session.identity;
  const name = several ? instances.name : identity;
  const lock: Span[] = readonly ? [span('read-only', 'warn'), span('  ')] : [];
  const time: Span[] = [span(' '), span(clock(session.now(), utc), 'muted'), span(' ')];
  const brand: Span[] = [span(` ${session.source.product ?? 'proxyd'} `, 'brand'), span(' ')];
  // Texts are dropped for want of room, the least needed first: the clock, the name, the titles of other views.
  const named: Span[] = [...lock, span(name, 'strong'), span(' ')];
  // Of a path the end tells instances apart. With several instances the name is needed.
  const end: Span[] = [...lock, span(name.slice(name.lastIndexOf('/') + 1), 'strong'), span(' ')];
  const rights = several ? [[...named, ...time], named] : [[...named, ...time], named, end, lock];
  // Shorter titles with a clock are better than longer ones without.
  for (const titles of ['title', 'short', 'brief'] as const) {
    const left = [...brand, ...tabs(tabsOf(c), view, titles)];
    const right = [...named, ...time];
    if (rowWidth(left) + rowWidth(right) < width) return { left, right };
  }
  for (const titles of ['title', 'short', 'brief', 'key'] as const) {
    for (const head of titles === 'title' ? [brand] : [brand, []]) {
      const left = [...head, ...tabs(tabsOf(c), view, titles)];
      for (const right of titles === 'key' ? [...rights, lock] : rights)
        if (rowWidth(left) + rowWidth(right) < width) return { left, right };
    }
  }
  return { left: [...brand, ...tabs(tabsOf(c), view, 'key')], right: [] };
}

function tabs(views: readonly View[], view: View, titles: Titled): Span[] {
  return views.flatMap((v) => {
    const here = v === view;
    if (titles === 'brief' && !here) return [span(v.key, 'key'), span(`${v.brief} `, 'muted')];
    const label = titles === 'key' ? (here ? v.title : '') : titles === 'brief' ? v.short : v[titles];
    return [
      span(titles === 'title' || titles === 'short' ? ' ' : ''),
      span(v.key, 'key'),
      span(label === '' ? ' ' : ` ${label} `, here ? 'tab' : 'muted'),
    ];
  });
}
