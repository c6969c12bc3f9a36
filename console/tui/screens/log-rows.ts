// Rows of the log list. Records are decoded for what is on screen only; the few groups decoded last are
// kept, so that a paused screen costs nothing and a moving one little.

import type { LogTransaction } from '../../../protocol/messages.ts';
import type { LogEntry } from '../../model/log-store.ts';
import { isUnfolded, type LogView, type VisibleRow } from '../../model/log-view.ts';
import { bytes, clock, duration } from '../../model/numbers.ts';
import type { Session } from '../../model/session.ts';
import { decodeRecords, type Handling, printable } from '../../model/transaction.ts';
import { ellipsis } from '../cells.ts';
import { cell, cellRight, type Row, span } from '../spans.ts';
import type { StyleName, Theme } from '../theme.ts';

const KEPT = 128;

const KINDS: Readonly<Record<LogTransaction['type'], string>> = {
  raw: 'Record',
  session: 'Session',
  request: 'Request',
  bereq: 'BeReq',
  unknown: 'Unknown',
};

export class LogPainter {
  private readonly decoded = new Map<number, Row[]>();

  heading(width: number): Row {
    const c = columnsOf(width);
    return [
      span('   '),
      cell('TIME', 10, 'muted'),
      cell('CACHE', 8, 'muted'),
      cell('STATUS', 7, 'muted'),
      cell('METHOD', 8, 'muted'),
      cell('URL', c.url, 'muted'),
      cellRight('BODY', c.body, 'muted'),
      cellRight('TOOK', c.took, 'muted'),
      cellRight(c.vxid > 0 ? 'VXID' : '', c.vxid, 'muted'),
    ];
  }

  empty(session: Session): Row {
    if (session.connection.state !== 'up') return [span('   no connection', 'muted')];
    return [span(session.query === '' ? '   no traffic yet' : '   nothing matched yet', 'muted')];
  }

  row(visible: VisibleRow, view: LogView, width: number, utc: boolean, theme: Theme): Row {
    const { entry, row } = visible;
    if (entry.gap !== '')
      return [
        span(
          `   ${theme.glyphs.horizontal.repeat(3)} ${entry.gap} ${theme.glyphs.horizontal.repeat(3)}`,
          'warn',
        ),
      ];
    if (row === 0) return this.summary(entry, isUnfolded(view, entry), width, utc, theme);
    return this.records(entry)[row - 1] ?? [];
  }

  private summary(entry: LogEntry, unfolded: boolean, width: number, utc: boolean, theme: Theme): Row {
    const s = entry.summary;
    const c = columnsOf(width);
    const { dash } = theme.glyphs;
    const first = entry.transactions[0];
    return [
      span(` ${unfolded ? theme.glyphs.unfolded : theme.glyphs.folded} `, 'faint'),
      cell(s.at === 0 ? dash : clock(s.at, utc), 10, 'muted'),
      cell(handlingText(s.handling, first), 8, handlingStyle(s.handling)),
      cell(s.status === 0 ? dash : String(s.status), 7, statusStyle(s.status)),
      cell(s.method === '' ? dash : s.method, 8, 'strong'),
      cell(ellipsis(s.url, c.url - 1, theme.glyphs.ellipsis), c.url),
      cellRight(s.body > 0 ? bytes(s.body) : dash, c.body, 'muted'),
      cellRight(
        Number.isNaN(s.seconds) ? dash : duration(s.seconds),
        c.took,
        s.seconds >= 1 ? 'warn' : 'muted',
      ),
      cellRight(c.vxid > 0 && first !== undefined ? String(first.vxid) : '', c.vxid, 'faint'),
    ];
  }

  /** The unfolded group as the log tool prints it: a header a transaction, then its records. */
  private records(entry: LogEntry): Row[] {
    const known = this.decoded.get(entry.seq);
    if (known !== undefined) return known;
    const rows: Row[] = [];
    for (const tx of entry.transactions) {
      const level = Math.max(1, tx.level);
      const stars = level > 3 ? `*${level}*` : '*'.repeat(level);
      rows.push([span(`   ${stars.padEnd(4)}<< ${KINDS[tx.type].padEnd(8)} >> ${tx.vxid}`, 'accent')]);
      const dashes = level > 3 ? `-${level}-` : '-'.repeat(level);
      for (const record of decodeRecords(tx.records)) {
        rows.push([
          span(`   ${dashes.padEnd(4)}`, 'faint'),
          span(record.name.padEnd(15), record.name.endsWith('Error') ? 'bad' : 'tag'),
          span(record.text),
        ]);
      }
    }
    this.decoded.set(entry.seq, rows);
    if (this.decoded.size > KEPT) this.decoded.delete(this.decoded.keys().next().value as number);
    return rows;
  }
}

function columnsOf(width: number): { url: number; body: number; took: number; vxid: number } {
  const vxid = width >= 92 ? 11 : 0;
  const body = width >= 72 ? 9 : 0;
  const took = 9;
  return { url: Math.max(8, width - 36 - vxid - body - took - 1), body, took, vxid };
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

export function statusStyle(status: number): StyleName {
  if (status >= 500) return 'bad';
  if (status >= 400) return 'warn';
  if (status >= 300) return 'accent';
  return status >= 200 ? 'good' : 'muted';
}
