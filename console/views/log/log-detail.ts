// The log's detail pane: why?, where the time went, links, and the records of the selected transaction. Lines are
// cached for the last few groups.

import type { LogTransaction } from '../../../protocol/messages.ts';
import { ellipsis, padEnd } from '../../draw/cells.ts';
import type { LogEntry } from '../../model/log/log-entry.ts';
import { decodeRecords } from '../../model/log/transaction.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { folded } from '../../model/ui/folded-lines.ts';
import { bytes, clock, duration } from '../../model/ui/numbers.ts';
import type { ToneLine } from '../../model/ui/panel.ts';
import { earlierOf, invalidatedBefore } from './log-search.ts';
import { linksOf, type RowPlace } from './log-tree.ts';
import { timeline, timelineBar } from './timeline.ts';
import { partOf, partsFor } from './why/fragments.ts';
import { Facts } from './why/request-facts.ts';
import { why } from './why/why.ts';
import type { Reason } from './why/why-case.ts';

const EARLIER = 30;

/** `place` selects the transaction whose records are shown; the first one for the summary. */
export function detailLines(
  entry: LogEntry,
  place: RowPlace,
  session: DaemonSession,
  width: number,
): ToneLine[] {
  if (entry.gap !== '') return [[{ text: entry.gap, tone: 'warn' }]];
  const tx = entry.transactions[Math.max(0, place.tx)];
  if (tx === undefined) return [];
  const s = entry.summary;
  const out: ToneLine[] = [
    [
      { text: `${s.method} ${s.url}`, tone: 'strong' },
      { text: `  ${s.status || ''} ${s.handling}`, tone: s.status >= 500 ? 'bad' : 'accent' },
      ...(entry.restarts === 0
        ? []
        : [
            {
              text: `  restarted ${entry.restarts === 1 ? 'once' : `${entry.restarts} times`}`,
              tone: 'muted' as const,
            },
          ]),
      {
        text: `  ${s.at === 0 ? '' : clock(s.at, session.utc)}  ${s.body > 0 ? bytes(s.body) : ''}`,
        tone: 'muted',
      },
    ],
    [],
  ];
  for (const reason of reasonsOf(entry, place, session)) out.push(...reasonLines(reason, width, false));
  out.push(...timelineLines(partOf(entry.transactions, place.tx), width));
  const links = linksOf(tx);
  if (links.length > 0) {
    out.push([]);
    out.push([
      { text: 'Links   ', tone: 'muted' },
      { text: links.map((l) => `${l.kind} ${l.vxid}`).join(', ') },
      { text: '  > jumps', tone: 'faint' },
    ]);
  }
  out.push([], [{ text: `${kindOf(tx.type)} ${tx.vxid}`, tone: 'title' }]);
  for (const record of decodeRecords(tx.records)) {
    const tone = /Error|BogoHeader|HttpGarbage/.test(record.name) ? 'bad' : 'accent';
    out.push([{ text: `  ${record.name.padEnd(15)} `, tone }, { text: record.text }]);
  }
  return out;
}

/** Reasons for the page or the fragment at `place`, from the local store only; `w` also queries the daemon. */
export function reasonsOf(entry: LogEntry, place: RowPlace, session: DaemonSession): Reason[] {
  const part = partOf(entry.transactions, place.tx);
  const elsewhere = invalidatedBefore(session.log.kept, entry, EARLIER);
  return why(part, {
    earlier: keptOf(entry, part, session),
    elsewhere,
    bans: null,
    since: sinceOf(session),
    utc: session.utc,
  });
}

/** Local requests for the URL of a page or fragment, newest first: for the URL itself and for fragments in it. */
export function keptOf(
  entry: LogEntry,
  part: readonly LogTransaction[],
  session: DaemonSession,
): (readonly LogTransaction[])[] {
  const pages = earlierOf(session.log.kept, entry, EARLIER).map((e) => e.transactions);
  if (part === entry.transactions) return pages;
  const request = part.find((tx) => tx.type === 'request');
  if (request === undefined) return [];
  const { url, at } = new Facts(request);
  const own = partsFor(entry.transactions, url).filter((p) => startOf(p) < at);
  return [...own.reverse(), ...pages.flatMap((group) => partsFor(group, url).reverse())];
}

function startOf(part: readonly LogTransaction[]): number {
  const request = part.find((tx) => tx.type === 'request');
  return request === undefined ? Number.POSITIVE_INFINITY : new Facts(request).at;
}

/** Epoch seconds of the oldest stored group; 0 if unknown. */
export function sinceOf(session: DaemonSession): number {
  for (let i = 0; i < Math.min(20, session.log.kept.size); i++) {
    const at = session.log.kept.at(i)?.summary.at ?? 0;
    if (at > 0) return at;
  }
  return 0;
}

/** The sentence, wrapped; with `evidence`, its records and the hint. */
export function reasonLines(reason: Reason, width: number, evidence: boolean): ToneLine[] {
  const out: ToneLine[] = wrap(reason.sentence, width - 2).map((text, i) => [
    { text: i === 0 ? '● ' : '  ', tone: 'accent' },
    { text },
  ]);
  if (!evidence) return out;
  for (const e of reason.evidence) {
    out.push([
      { text: `    ${String(e.vxid).padStart(10)}  ${e.tag.padEnd(14)} `, tone: 'faint' },
      { text: e.text, tone: 'muted' },
    ]);
  }
  if (reason.hint !== '')
    for (const text of wrap(reason.hint, width - 4)) out.push([{ text: `    ${text}`, tone: 'faint' }]);
  out.push([]);
  return out;
}

const BAR = { client: 'accent', backend: 'warn', fragment: 'good' } as const;

function timelineLines(group: readonly LogTransaction[], width: number): ToneLine[] {
  const { steps, total, hidden } = timeline(group);
  if (steps.length === 0) return [];
  const label = 31;
  const room = Math.max(8, width - label - 11);
  const out: ToneLine[] = [
    [],
    [
      { text: 'Timeline', tone: 'title' },
      {
        text: `  ${duration(total)} in all${hidden > 0 ? `, without ${hidden} shorter fragments` : ''}`,
        tone: 'muted',
      },
    ],
  ];
  for (const step of steps) {
    const { lead, length } = timelineBar(step, total, room);
    out.push([
      {
        text: padEnd(
          ellipsis(`  ${'  '.repeat(step.side === 'backend' ? 1 : step.depth)}${step.label}`, label),
          label,
        ),
        tone: 'muted',
      },
      { text: ' '.repeat(lead) },
      { text: '', bar: length, tone: BAR[step.side] },
      {
        text: `${' '.repeat(Math.max(0, room - lead - length))} ${duration(step.to - step.from).padStart(8)}`,
        tone: 'muted',
      },
    ]);
  }
  return out;
}

function kindOf(type: string): string {
  return type === 'bereq'
    ? 'Backend request'
    : type === 'request'
      ? 'Request'
      : type === 'session'
        ? 'Session'
        : 'Transaction';
}

/** Lines of at most `width` characters. */
function wrap(text: string, width: number): string[] {
  return folded([[{ text }]], width).map((line) => line.map((piece) => piece.text).join(''));
}
