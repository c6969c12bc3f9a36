// Access log lines of transaction groups: selects transactions and formats them. As in varnishncsa, with grouping by
// request all transactions of a group have lines, whatever sides were selected.

import { recordSide } from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { isSubtask } from '../../protocol/subtask.ts';
import { gatherFacts } from './facts.ts';
import { accessLine } from './line.ts';
import type { Template } from './template.ts';

export interface LineOptions {
  /** Sides that have lines. */
  client: boolean;
  backend: boolean;
  /** Includes ESI subrequests. */
  esi: boolean;
  /** Whole groups: sides do not matter. */
  whole: boolean;
  /** JSON-compatible values. */
  json: boolean;
  /** Headers and handling as since Varnish 7.7. */
  newer: boolean;
}

/** The lines, latin1. */
export function groupLines(
  groups: readonly LogTransaction[][],
  template: Template,
  options: LineOptions,
): string {
  let out = '';
  for (const group of groups) {
    for (const tx of group) {
      if (tx.type !== 'request' && tx.type !== 'bereq') continue;
      if (!options.whole && !isWanted(tx, options)) continue;
      const facts = gatherFacts(tx, template, options.json, options.newer);
      if (facts !== null) out += accessLine(template, facts, options.json);
    }
  }
  return out;
}

function isWanted(tx: LogTransaction, options: LineOptions): boolean {
  if (tx.records.length === 0 || (!options.esi && isSubtask(tx))) return false;
  return options.client === options.backend || recordSide(tx.records, 0) === (options.client ? 'c' : 'b');
}
