// The log as text: what is copied, exported and spoken of it.

import { groupJson } from '../../format/log-json.ts';
import { groupText } from '../../format/log-text.ts';
import type { Controller } from '../../model/controller.ts';
import type { LogEntry } from '../../model/log-entry.ts';
import { decodeRecords } from '../../model/transaction.ts';
import { LOG_STATE, selectedEntry, selectedPlace } from './log-state.ts';
import { placeOf } from './log-tree.ts';

export function copySelected(c: Controller) {
  const state = c.stateOf(LOG_STATE);
  const entry = selectedEntry(state, c.session.log);
  if (entry === undefined || entry.gap !== '') return c.notify('warn', 'nothing to copy');
  const place = placeOf(state, entry, state.offset);
  const tx = entry.transactions[place.tx];
  if (tx !== undefined && place.record >= 0) {
    const record = decodeRecords(tx.records)[place.record];
    return c.copy(record === undefined ? '' : record.text, 'the record');
  }
  c.copy(asText(groupText(tx === undefined ? entry.transactions : [tx], false)), 'the transaction');
}

/** As proxylog prints it. */
export function exportLog(c: Controller, json: boolean): string {
  const { log } = c.session;
  let out = '';
  for (let i = 0; i < log.size; i++) {
    const { transactions } = log.at(i) as LogEntry;
    if (transactions.length > 0) out += json ? groupJson(transactions) : groupText(transactions, false);
  }
  return json ? out : asText(out);
}

export function spokenRow(c: Controller): string {
  const state = c.stateOf(LOG_STATE);
  if (state.follow) return '';
  const entry = selectedEntry(state, c.session.log);
  if (entry === undefined) return '';
  if (entry.gap !== '') return entry.gap;
  const place = selectedPlace(state, c.session.log);
  const tx = entry.transactions[place.tx];
  if (tx !== undefined && place.record >= 0) {
    const record = decodeRecords(tx.records)[place.record];
    return record === undefined ? '' : `${record.name} ${record.text}`;
  }
  const s = entry.summary;
  return tx === undefined ? `${s.handling} ${s.status} ${s.method} ${s.url}` : `${tx.type} ${tx.vxid}`;
}

/** Log text holds one byte a character. */
function asText(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8');
}
