// Queries that the selected row suggests: the record under the cursor first, then what the request is known by.

import type { LogEntry } from '../../model/log-entry.ts';
import { decodeRecords, type LogRecord } from '../../model/transaction.ts';
import type { RowPlace } from './log-tree.ts';
import { quoted } from './written-query.ts';

export interface SuggestedQuery {
  query: string;
  note: string;
}

export function likeThis(entry: LogEntry, place: RowPlace): SuggestedQuery[] {
  const out: SuggestedQuery[] = [];
  const add = (query: string, note: string): void => {
    if (!out.some((s) => s.query === query)) out.push({ query, note });
  };
  const tx = entry.transactions[Math.max(0, place.tx)];
  if (tx === undefined) return out;
  const records = decodeRecords(tx.records);
  const here = place.record < 0 ? undefined : records[place.record];
  if (here !== undefined) recordQueries(here, add);
  const find = (name: string): string | undefined => records.find((r) => r.name === name)?.text;
  const url = find('ReqURL') ?? find('BereqURL');
  const tag = find('ReqURL') === undefined ? 'BereqURL' : 'ReqURL';
  if (url !== undefined) {
    add(`${tag} eq ${quoted(url)}`, 'this URL');
    const folder = /^(\/[^/?]+)\//.exec(url)?.[1];
    if (folder !== undefined) add(`${tag} ~ ${quoted(`^${folder}/`)}`, `below ${folder}`);
  }
  const status = find('RespStatus') ?? find('BerespStatus');
  if (status !== undefined)
    add(`${find('RespStatus') === undefined ? 'BerespStatus' : 'RespStatus'} == ${status}`, 'this status');
  if (entry.summary.handling !== '') {
    const call =
      entry.summary.handling.startsWith('hit') && entry.summary.handling !== 'hit'
        ? null
        : entry.summary.handling;
    add(
      call === null
        ? entry.summary.handling === 'hitmiss'
          ? 'HitMiss'
          : 'HitPass'
        : `VCL_call eq ${quoted(call.toUpperCase())}`,
      'handled like this',
    );
  }
  const host =
    records.find((r) => /^host:/i.test(r.text) && r.name.endsWith('reqHeader'))?.text ??
    records.find((r) => r.name === 'ReqHeader' && /^host:/i.test(r.text))?.text;
  if (host !== undefined) add(`ReqHeader:Host eq ${quoted(host.slice(5).trim())}`, 'this host');
  const client = find('ReqStart')?.split(' ')[0];
  if (client !== undefined) add(`ReqStart[1] eq ${quoted(client)}`, 'this client');
  const backend = find('BackendOpen')?.split(' ')[1];
  if (backend !== undefined) add(`BackendOpen[2] eq ${quoted(backend)}`, 'this backend');
  const took = entry.summary.seconds;
  if (took > 0) add(`Timestamp:Resp[2] >= ${took.toPrecision(2)}`, 'as slow or slower');
  add(`vxid == ${tx.vxid}`, 'this transaction');
  return out;
}

function recordQueries(record: LogRecord, add: (query: string, note: string) => void): void {
  const { name, text } = record;
  if (/Header$/.test(name)) {
    const colon = text.indexOf(':');
    const header = text.slice(0, colon);
    if (colon > 0 && /^[\w-]+$/.test(header)) {
      add(`${name}:${header} eq ${quoted(text.slice(colon + 1).trim())}`, 'this header');
      add(`${name}:${header}`, 'any value of it');
      return;
    }
  }
  if (text === '') add(name, 'this record');
  else add(`${name} eq ${quoted(text)}`, 'this record');
}
