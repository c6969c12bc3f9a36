// The query bar: the text, and below it an error with its position, expected tokens, or the status.

import { memo, type ReactNode, useContext } from 'react';
import { ellipsis, widthOf } from '../../draw/cells.ts';
import { ThemeContext } from '../../draw/contexts.ts';
import { EditLine } from '../../draw/edit-line.tsx';
import { Box, Text } from '../../draw/ink.ts';
import { Rows } from '../../draw/rows.tsx';
import { type Row, rowWidth, type Span, span, spread } from '../../draw/spans.ts';
import type { Theme } from '../../draw/theme.ts';
import { Live } from '../../draw/use-console.ts';
import { Words } from '../../draw/words.tsx';
import type { Shortfall } from '../../model/log/log-range.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import type { Field } from '../../model/ui/field.ts';
import { bytes, clock, count } from '../../model/ui/numbers.ts';
import type { LogState } from './log-state.ts';

const LABEL = ' query ';

export interface QueryBarProps {
  session: DaemonSession;
  /** The open field; the query's is drawn here. */
  open: Field | null;
  state: LogState;
  width: number;
}

export function QueryBar({ session, open, state, width }: QueryBarProps): ReactNode {
  const theme = useContext(ThemeContext);
  const field = open?.kind === 'query' ? open : null;
  return (
    <Box flexDirection="column" height={2} flexShrink={0}>
      {field === null ? (
        <Live session={session}>{() => <Asked query={session.log.query} />}</Live>
      ) : (
        <Text wrap="truncate-end">
          <Words style="key">{LABEL}</Words>
          <EditLine line={field.line} width={width - LABEL.length - 1} />
        </Text>
      )}
      {field === null ? (
        <Live session={session}>
          {() => <Rows rows={[statusRow(session, state, width, theme)]} width={width} height={1} />}
        </Live>
      ) : (
        <Verdict field={field} width={width} />
      )}
    </Box>
  );
}

const Asked = memo(function Asked({ query }: { query: string }): ReactNode {
  return (
    <Text wrap="truncate-end">
      <Words style="muted">{LABEL}</Words>
      <Words style={query === '' ? 'faint' : 'strong'}>
        {query === '' ? 'none: all transactions' : query}
      </Words>
    </Text>
  );
});

/** An error in the query, below its position. */
function Verdict({
  field: { line, check, offered, otherwise },
  width,
}: {
  field: Field;
  width: number;
}): ReactNode {
  const { arrowUp, caret, ellipsis: mark } = useContext(ThemeContext).glyphs;
  if (check === null || check.ok) {
    const hint = line.text === '' ? 'empty: everything' : 'valid';
    return (
      <Box paddingLeft={LABEL.length}>
        <Words style="good">{`${hint} · Enter applies, Esc leaves, ${arrowUp} recalls`}</Words>
      </Box>
    );
  }
  if (offered && otherwise !== undefined)
    return (
      <Box paddingLeft={LABEL.length}>
        <Words style="warn">{otherwise.offer}</Words>
      </Box>
    );
  const room = width - LABEL.length - 1;
  const before = widthOf(line.text.slice(0, check.from));
  const wanted = check.expected.length === 0 ? '' : `; expected ${check.expected.slice(0, 6).join(', ')}`;
  const message = `${check.message}${wanted}`;
  const carets = caret.repeat(Math.max(1, Math.min(check.to - check.from, room - before)));
  const at = LABEL.length + before;
  // The message is to the right of the carets, or to their left if it does not fit.
  return before + carets.length + 2 + Math.min(message.length, 30) <= room ? (
    <Box paddingLeft={at}>
      <Words style="bad">{`${carets} ${ellipsis(message, width - at - carets.length - 1, mark)}`}</Words>
    </Box>
  ) : (
    <Words style="bad">{` ${ellipsis(message, Math.max(0, at - 2), mark)}`.padEnd(at) + carets}</Words>
  );
}

function statusRow(session: DaemonSession, state: LogState, width: number, theme: Theme): Row {
  const { log } = session;
  const { kept, shown } = log;
  if (log.error !== '') return [span(`       ${log.error}`, 'bad')];
  const left: Span[] = [
    span('       '),
    state.follow
      ? session.cutOff
        ? span(`${theme.glyphs.bullet} no connection`, 'bad')
        : span(`${theme.glyphs.bullet} following`, 'good')
      : span(`${theme.glyphs.up} paused`, 'warn'),
    span(`  by ${log.grouping}`, 'muted'),
  ];
  // Parts of the screen still show the former query.
  if (log.asking) left.push(span('  asking the daemon', 'warn'));
  else if (shown.untested > 0) left.push(span(`  searching ${count(shown.untested)} groups`, 'warn'));
  else if (log.query !== '' && log.readingBack) left.push(span('  reading back', 'warn'));
  const short = log.range.shortfall(kept);
  if (short !== null)
    left.push(span(`  ${missingText(short, session.utc, width - rowWidth(left) - 3)}`, 'warn'));
  const of = log.query === '' ? '' : `${count(shown.size)} of `;
  const received = span(`${count(kept.records)} records received`, 'muted');
  const lost = kept.lost > 0 ? [span(`${count(kept.lost)} lost`, 'warn')] : [];
  const groups = span(`${of}${count(kept.size)} groups kept`, 'muted');
  const size = span(bytes(kept.bytes), 'muted');
  const dropped = kept.dropped > 0 ? [span(`${count(kept.dropped)} dropped`, 'muted')] : [];
  // The full text, or without its less important parts.
  const right = [
    [received, ...lost, groups, size, ...dropped],
    [...lost, groups, size],
    [...lost, groups],
    [...lost],
  ].map((facts) => facts.flatMap((fact, i) => (i === 0 ? [fact] : [span(', ', 'muted'), fact])));
  const room = width - rowWidth(left) - 3;
  return spread(left, [...(right.find((row) => rowWidth(row) <= room) ?? []), span(' ')], width);
}

/** A remark that entries counted by the originating row are missing, in at most `room` cells. */
export function missingText({ counted, there }: Shortfall, utc: boolean, room = 80): string {
  const [from, left] = [clock(counted, utc), clock(there, utc)];
  const forms = [
    `counted since ${from}, the log begins at ${left}`,
    `counted since ${from}, log since ${left}`,
    `log begins at ${left}`,
  ];
  return forms.find((form) => form.length <= room) ?? `log begins at ${left}`;
}
