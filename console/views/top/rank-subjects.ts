// What a row of a ranking stands for: itself first, then what is wider. Rows are named as clients sent them; in the cache is
// what the program made of that, so it is what the newest request of the row was looked up as.

import { pathOf, prefixOf, type RankingName } from '../../model/rankings.ts';
import type { Subject, SubjectKind } from '../../model/row-subject.ts';

export interface RankedRow {
  key: string;
  /** Of the newest, as it was sent. */
  url: string;
  host: string;
  /** As the lookup had them. */
  lookupUrl: string;
  lookupHost: string;
}

type Stands = (row: RankedRow) => readonly Subject[];

const one =
  (kind: SubjectKind): Stands =>
  ({ key }) => [{ kind, key, of: '' }];

const url: Stands = ({ key, host, lookupUrl, lookupHost }) => [
  { kind: 'url', key: lookupUrl, of: lookupHost, sent: { url: key, host } },
  ...(lookupHost === '' ? [] : [{ kind: 'url', key: lookupUrl, of: '' } as const]),
];

export const STANDS_FOR: Readonly<Record<RankingName, Stands>> = {
  url,
  fragment: url,
  // Asked for again is the newest URL of it: under the path alone there may be nothing.
  page: (row) => [
    { kind: 'path', key: pathOf(row.lookupUrl), of: row.lookupHost },
    { kind: 'url', key: row.lookupUrl, of: row.lookupHost, sent: { url: row.url, host: row.host } },
  ],
  // What else the program puts below the other prefix is not this row's.
  prefix: ({ key, lookupUrl }) => [
    { kind: prefixOf(lookupUrl) === key ? 'prefix' : 'rewritten', key, of: '' },
  ],
  host: ({ lookupHost }) => [{ kind: 'host', key: lookupHost, of: '' }],
  status: one('status'),
  client: one('client'),
  network: one('client'),
  forwarded: one('client'),
  agent: one('agent'),
  method: one('method'),
  backend: one('backend'),
};

/** A sentence on what the program makes of a row's name, if it changes that. */
export function asLookedUp(ranking: RankingName, row: RankedRow): string[] {
  const [first] = STANDS_FOR[ranking](row);
  switch (first?.kind) {
    case 'url':
      return first.key === row.key ? [] : [lookedUpAs(first.of + first.key)];
    case 'path':
    case 'host':
      return first.of + first.key === row.key ? [] : [lookedUpAs(first.of + first.key)];
    case 'rewritten':
      return [lookedUpAs(row.lookupHost + row.lookupUrl)];
    default:
      return [];
  }
}

function lookedUpAs(name: string): string {
  return `The newest was looked up as ${name}.`;
}
