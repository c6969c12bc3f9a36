// What `y` and `Y` take from each view, as plain text.

import { groupText } from '../../format/log-text.ts';
import type { Controller } from '../controller.ts';
import { shownRows } from '../list-view.ts';
import { placeOf } from '../log-tree.ts';
import { selectedEntry } from '../log-view.ts';
import { cursorIndex, visibleCounters } from '../stat-view.ts';
import { decodeRecords } from '../transaction.ts';

export function copySelected(c: Controller) {
  const { view } = c.state;
  if (c.listView !== null) {
    const row = c.selected(c.listView);
    const text = row === undefined ? '' : row.cells.map((cell) => cell.text).join('\t');
    return c.copy(text, 'the row');
  }
  if (view === 'stats') {
    const visible = visibleCounters(c.state.stat, c.session.counters.all());
    const counter = visible[cursorIndex(c.state.stat, visible)];
    return c.copy(counter === undefined ? '' : `${counter.info.name} ${counter.current}`, 'the counter');
  }
  if (view !== 'log') return c.copy(shownText(c), 'the figures');
  const entry = selectedEntry(c.state.log, c.session.log);
  if (entry === undefined || entry.gap !== '') return c.notify('warn', 'nothing to copy');
  const place = placeOf(c.state.log, entry, c.state.log.offset);
  const tx = entry.transactions[place.tx];
  if (tx !== undefined && place.record >= 0) {
    const record = decodeRecords(tx.records)[place.record];
    return c.copy(record === undefined ? '' : record.text, 'the record');
  }
  c.copy(asText(groupText(tx === undefined ? entry.transactions : [tx], false)), 'the transaction');
}

export function copyAll(c: Controller) {
  const view = c.listView;
  if (view === null) return c.notify('warn', 'X exports this view to a file');
  const rows = shownRows(c.state.lists[view], c.listRows(view));
  const text = rows.map((row) => row.cells.map((cell) => cell.text).join('\t')).join('\n');
  c.copy(text, rows.length === 1 ? '1 row' : `${rows.length} rows`);
}

/** Counters that stand behind the figures of a view without rows. */
function shownText(c: Controller): string {
  const { latency } = c.session.sample;
  if (c.state.view === 'latency')
    return [0.5, 0.9, 0.95, 0.99].map((p) => `p${p * 100}\t${latency.percentile(p) ?? ''}`).join('\n');
  const counters = c.session.counters.all().filter((one) => one.info.level === 'info' && one.seen);
  return counters.map((one) => `${one.info.name}\t${one.current}`).join('\n');
}

/** Log text holds one byte a character. */
export function asText(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8');
}

export function panelText(c: Controller): string {
  const { panel } = c.state;
  if (panel?.kind === 'text') return panel.lines.map((line) => line.map((s) => s.text).join('')).join('\n');
  if (panel?.kind === 'choices') return panel.choices.map((choice) => choice.label).join('\n');
  return '';
}
