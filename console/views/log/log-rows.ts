// Rows of the log list. Only records on screen are decoded, and the last few groups are cached, so that a paused
// screen costs nothing.

import type { LogTransaction } from '../../../protocol/messages.ts';
import { clip, ellipsis, widthOf } from '../../draw/cells.ts';
import { cell, cellRight, type Row, type Span, span } from '../../draw/spans.ts';
import type { StyleName, Theme } from '../../draw/theme.ts';
import { toneRow } from '../../draw/tone-rows.ts';
import type { LogEntry } from '../../model/log/log-entry.ts';
import {
  decodeRecords,
  type Handling,
  type LogRecord,
  printable,
  summarise,
} from '../../model/log/transaction.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { bytes, clock, duration } from '../../model/ui/numbers.ts';
import { columnTexts, logWidths } from './log-columns.ts';
import { detailLines } from './log-detail.ts';
import { anyCase } from './log-search.ts';
import { type LogState, selectedEntry, selectedPlace, type VisibleRow } from './log-state.ts';
import { isOpen, isUnfolded, placeOf } from './log-tree.ts';
import { fragmentsLine, fragmentsOf } from './why/fragments.ts';

const KEPT = 128;
/** Width of a record's tag name. */
const TAG_CELLS = 15;

const KINDS: Readonly<Record<LogTransaction['type'], string>> = {
  raw: 'Record',
  session: 'Session',
  request: 'Request',
  bereq: 'BeReq',
  unknown: 'Unknown',
};

export interface LogDetail {
  title: string;
  remark: string;
  rows: Row[];
}

export class LogPainter {
  private readonly decoded = new Map<string, LogRecord[]>();
  private readonly pages = new Map<number, string>();
  private readonly failures = new Map<number, boolean>();
  private readonly texts = new Map<number, ReturnType<typeof columnTexts>>();
  private pane: { key: string; rows: Row[] } = { key: '', rows: [] };

  heading(view: LogState, width: number): Row {
    const c = logWidths(view.columns, width);
    return [
      span('   '),
      cell('TIME', 10, 'muted'),
      cell('CACHE', 8, 'muted'),
      cell('STATUS', 7, 'muted'),
      ...(c.method > 0 ? [cell('METHOD', c.method, 'muted')] : []),
      ...c.more.map(({ title, cells }) => cell(clip(title, cells - 1), cells, 'muted')),
      cell('URL', c.url, 'muted'),
      cellRight('BODY', c.body, 'muted'),
      cellRight('TOOK', c.took, 'muted'),
      cellRight(c.vxid > 0 ? 'VXID' : '', c.vxid, 'muted'),
    ];
  }

  /** The selected entry, or the newest while following, in `height` rows of `width` cells. */
  detail(session: DaemonSession, view: LogState, width: number, height: number, theme: Theme): LogDetail {
    const entry = selectedEntry(view, session.log.shown);
    const place = selectedPlace(view, session.log.shown);
    const key = entry === undefined ? '' : `${entry.seq}/${place.tx}/${width}/${theme.depth}`;
    if (this.pane.key !== key) {
      const lines = entry === undefined ? [] : detailLines(entry, place, session, width);
      this.pane = { key, rows: lines.map((line) => toneRow(line, theme)) };
    }
    const from = Math.max(0, Math.min(view.scroll, this.pane.rows.length - height));
    const last = Math.min(this.pane.rows.length, from + height);
    const more =
      this.pane.rows.length > height ? `${from + 1}-${last}/${this.pane.rows.length}  J K scroll` : '';
    return {
      title: entry === undefined ? 'nothing selected' : `${entry.transactions[0]?.vxid ?? 'gap'}`,
      remark: `${more}${more === '' ? '' : '  '}Enter closes`,
      rows: this.pane.rows.slice(from, last),
    };
  }

  empty(session: DaemonSession): Row {
    if (session.connection.state !== 'up') return [span('   no connection', 'muted')];
    if (session.log.shown.untested > 0) return [span('   searching the stored log', 'muted')];
    if (session.log.readingBack) return [span('   searching earlier records', 'muted')];
    return [span(session.log.query === '' ? '   no traffic yet' : '   nothing matched yet', 'muted')];
  }

  row(visible: VisibleRow, view: LogState, width: number, utc: boolean, theme: Theme): Row {
    const { entry, row } = visible;
    if (entry.gap !== '')
      return [
        span(
          `   ${theme.glyphs.horizontal.repeat(3)} ${entry.gap} ${theme.glyphs.horizontal.repeat(3)}`,
          'warn',
        ),
      ];
    if (row === 0) return marked(this.summary(entry, view, width, utc, theme), view.search);
    const place = placeOf(view, entry, row);
    if (place.record < 0) return marked(this.head(entry, place.tx, view, theme), view.search);
    const record = this.records(entry, place.tx)[place.record];
    if (record === undefined) return [];
    const lead = `${indent(entry, place.tx)}    `;
    return marked(
      [
        span(lead),
        span(record.name.padEnd(TAG_CELLS), record.name.endsWith('Error') ? 'bad' : 'tag'),
        span(scrolled(record.text, view.shift, width - lead.length - TAG_CELLS, theme)),
      ],
      view.search,
    );
  }

  /** A transaction of an unfolded group: its kind and outcome. */
  private head(entry: LogEntry, index: number, view: LogState, theme: Theme): Row {
    const tx = entry.transactions[index] as LogTransaction;
    const s = summarise(tx);
    const open = isOpen(view, entry, index);
    const row: Span[] = [
      span(`${indent(entry, index)}${open ? theme.glyphs.unfolded : theme.glyphs.folded} `, 'faint'),
      span(`${KINDS[tx.type]} ${tx.vxid}`, 'accent'),
      span(`  ${tx.reason}`, 'faint'),
    ];
    if (s.url !== '') row.push(span(`  ${s.method} ${s.url}`));
    if (s.status > 0) row.push(span(`  ${s.status}`, statusStyle(s.status)));
    if (tx.type === 'request' && s.handling !== '')
      row.push(span(`  ${s.handling}`, handlingStyle(s.handling)));
    if (!Number.isNaN(s.seconds) && tx.type !== 'session')
      row.push(span(`  ${duration(s.seconds)}`, 'muted'));
    if (s.error !== '') row.push(span(`  ${s.error}`, 'bad'));
    if (tx === entry.main && entry.fragments > 0) row.push(span(`  ${this.fragments(entry)}`, 'muted'));
    return row;
  }

  /** Cached for the last few pages, whose rows are drawn again and again. */
  private fragments(entry: LogEntry): string {
    return kept(this.pages, entry.seq, () => fragmentsLine(fragmentsOf(entry.transactions)));
  }

  /** A page that was delivered without a part of it. */
  private hasFailedFragment(entry: LogEntry): boolean {
    if (entry.fragments === 0 || entry.summary.status >= 500) return false;
    return kept(this.failures, entry.seq, () => entry.failure !== null);
  }

  private columns(entry: LogEntry): ReturnType<typeof columnTexts> {
    return kept(this.texts, entry.seq, () => columnTexts(entry));
  }

  private summary(entry: LogEntry, view: LogState, width: number, utc: boolean, theme: Theme): Row {
    const s = entry.summary;
    const c = logWidths(view.columns, width);
    const unfolded = isUnfolded(view, entry);
    const texts = c.more.length === 0 ? null : this.columns(entry);
    const { dash } = theme.glyphs;
    const first = entry.transactions[0];
    return [
      // Without colours the mark is all that shows a bookmark.
      span(view.bookmarks.includes(entry.seq) ? '*' : ' ', 'warn'),
      span(`${unfolded ? theme.glyphs.unfolded : theme.glyphs.folded} `, 'faint'),
      cell(s.at === 0 ? dash : clock(s.at, utc), 10, 'muted'),
      cell(handlingText(s.handling, first), 8, handlingStyle(s.handling)),
      ...(this.hasFailedFragment(entry)
        ? [cell(`${s.status} !`, 7, 'bad')]
        : [cell(s.status === 0 ? dash : String(s.status), 7, statusStyle(s.status))]),
      ...(c.method > 0 ? [cell(s.method === '' ? dash : s.method, c.method, 'strong')] : []),
      ...c.more.map(({ name, cells }) =>
        cell(ellipsis(texts?.[name] || dash, cells - 1, theme.glyphs.ellipsis), cells, 'muted'),
      ),
      ...urlCells(s.url, beyondUrl(entry), c.url, view.shift, theme),
      cellRight(s.body > 0 ? bytes(s.body) : dash, c.body, 'muted'),
      cellRight(
        Number.isNaN(s.seconds) ? dash : duration(s.seconds),
        c.took,
        s.seconds >= 1 ? 'warn' : 'muted',
      ),
      cellRight(c.vxid > 0 && first !== undefined ? String(first.vxid) : '', c.vxid, 'faint'),
    ];
  }

  private records(entry: LogEntry, index: number): readonly LogRecord[] {
    const { records } = entry.transactions[index] as LogTransaction;
    return kept(this.decoded, `${entry.seq}/${index}`, () => decodeRecords(records));
  }
}

/** Caches the last few results: the same rows are drawn again and again. */
function kept<K, V>(made: Map<K, V>, key: K, make: () => V): V {
  const known = made.get(key);
  if (known !== undefined) return known;
  const value = make();
  made.set(key, value);
  if (made.size > KEPT) made.delete(made.keys().next().value as K);
  return value;
}

/** Two cells per level below the summary. */
function indent(entry: LogEntry, index: number): string {
  return '  '.repeat(Math.max(1, entry.transactions[index]?.level ?? 1)).padStart(3);
}

/** Highlights search matches in each span of a row. */
function marked(row: Row, search: string): Row {
  if (search === '') return row;
  const insensitive = anyCase(search);
  return row.flatMap((s) => {
    const text = insensitive ? s.text.toLowerCase() : s.text;
    const out: Span[] = [];
    let from = 0;
    for (let at = text.indexOf(search); at >= 0; at = text.indexOf(search, from)) {
      if (at > from) out.push({ ...s, text: s.text.slice(from, at) });
      out.push(span(s.text.slice(at, at + search.length), 'cursor'));
      from = at + search.length;
    }
    return from === 0 ? [s] : [...out, { ...s, text: s.text.slice(from) }];
  });
}

/** The text scrolled horizontally, but not past its end. */
function scrolled(text: string, shift: number, room: number, theme: Theme): string {
  const from = Math.min(shift, widthOf(text) - room);
  return from <= 0 ? text : `${theme.glyphs.ellipsis}${text.slice(from + widthOf(theme.glyphs.ellipsis))}`;
}

/** Number of fragments of the page, and of restarts. */
function beyondUrl({ fragments, restarts }: LogEntry): string {
  const restarted = restarts === 0 ? '' : ` +${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`;
  return `${fragments === 0 ? '' : ` +${fragments} esi`}${restarted}`;
}

/** The URL, followed by notes on the group. */
function urlCells(url: string, more: string, width: number, shift: number, theme: Theme): Row {
  const beside = more === '' || width < more.length + 8 ? 0 : more.length;
  const room = width - 1 - beside;
  const text = ellipsis(scrolled(url, shift, room, theme), room, theme.glyphs.ellipsis);
  if (beside === 0) return [cell(text, width)];
  return [span(text), cell(more, width - widthOf(text), 'accent')];
}

function handlingText(handling: Handling, first: LogTransaction | undefined): string {
  if (handling !== '') return handling;
  return first === undefined ? '' : printable(first.type);
}

export function handlingStyle(handling: Handling): StyleName {
  switch (handling) {
    case 'hit':
      return 'hit';
    case 'miss':
    case 'hitmiss':
      return 'miss';
    case 'pass':
    case 'hitpass':
    case 'pipe':
      return 'pass';
    case 'synth':
    case 'purge':
      return 'synth';
    default:
      return 'muted';
  }
}

function statusStyle(status: number): StyleName {
  if (status >= 500) return 'bad';
  if (status >= 400) return 'warn';
  if (status >= 300) return 'accent';
  return status >= 200 ? 'good' : 'muted';
}
