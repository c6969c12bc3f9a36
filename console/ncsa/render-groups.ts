// Access log lines for groups of transactions: which transactions have a line at all, and their lines.

import { recordSide } from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { gatherFacts } from './facts.ts';
import { accessLine } from './line.ts';
import type { Template } from './template.ts';

export interface LineOptions {
  /** Which sides have lines. */
  client: boolean;
  backend: boolean;
  /** ESI subrequests too. */
  esi: boolean;
  /** JSON-compatible values. */
  json: boolean;
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
      if (tx.type === 'bereq' ? !options.backend : tx.type !== 'request' || !options.client) continue;
      if ((tx.reason === 'esi' && !options.esi) || tx.records.length === 0) continue;
      if (options.client !== options.backend && recordSide(tx.records, 0) !== (options.client ? 'c' : 'b')) {
        continue;
      }
      const facts = gatherFacts(tx, template, options.json);
      if (facts !== null) out += accessLine(template, facts, options.json);
    }
  }
  return out;
}
