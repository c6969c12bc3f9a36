// What a view shows as a file: text as the one-shot tools print it, or NDJSON. The rows that the filter lets through,
// all of them, not only those on screen.

import { groupJson } from '../format/log-json.ts';
import { groupText } from '../format/log-text.ts';
import { asText } from './actions/copy-actions.ts';
import type { Controller } from './controller.ts';
import { shownRows } from './list-view.ts';
import { listDefinition } from './lists/list-definitions.ts';
import type { LogEntry } from './log-entry.ts';
import { visibleCounters } from './stat-view.ts';

export function exportView(c: Controller, json: boolean): string {
  const { state, session } = c;
  if (c.listView !== null) {
    const { columns } = listDefinition(c.listView);
    const rows = shownRows(state.lists[c.listView], c.listRows(c.listView));
    if (json) return rows.map((row) => `${JSON.stringify(row.facts)}\n`).join('');
    const lines = [columns.map((col) => col.title), ...rows.map((row) => row.cells.map((cell) => cell.text))];
    return lines.map((cells) => `${cells.join('\t')}\n`).join('');
  }
  if (state.view === 'log') {
    let out = '';
    for (let i = 0; i < session.log.size; i++) {
      const { transactions } = session.log.at(i) as LogEntry;
      if (transactions.length > 0) out += json ? groupJson(transactions) : groupText(transactions, false);
    }
    return json ? out : asText(out);
  }
  const counters =
    state.view === 'stats' ? visibleCounters(state.stat, session.counters.all()) : session.counters.all();
  return counters
    .map((counter) =>
      json
        ? `{"name":${JSON.stringify(counter.info.name)},"value":${counter.current},"change":${counter.change}}\n`
        : `${counter.info.name}\t${counter.current}\t${counter.change.toFixed(2)}\n`,
    )
    .join('');
}
