// The subjects of a ranking's row, the row itself first and wider ones after it, and the log query for its requests.
// Rows have the names that clients sent; the cache has those that the program made of them, taken from the newest request.

import { pathOf, prefixOf, type RankingName } from '../../model/traffic/rankings.ts';
import type { Subject, SubjectKind } from '../../model/ui/row-subject.ts';
import { quoted } from '../log/written-query.ts';

export interface RankedRow {
  key: string;
  /** Of the newest request, as sent. */
  url: string;
  host: string;
  /** As the lookup saw them. */
  lookupUrl: string;
  lookupHost: string;
}

type SubjectsOf = (row: RankedRow) => readonly Subject[];

const one =
  (kind: SubjectKind): SubjectsOf =>
  ({ key }) => [{ kind, key, of: '' }];

const url: SubjectsOf = ({ key, host, lookupUrl, lookupHost }) => [
  { kind: 'url', key: lookupUrl, of: lookupHost, sent: { url: key, host } },
  ...(lookupHost === '' ? [] : [{ kind: 'url', key: lookupUrl, of: '' } as const]),
];

export const RANK_SUBJECTS: Readonly<Record<RankingName, SubjectsOf>> = {
  url,
  fragment: url,
  // A refetch uses the newest full URL: the bare path may not exist.
  page: (row) => [
    { kind: 'path', key: pathOf(row.lookupUrl), of: row.lookupHost },
    { kind: 'url', key: row.lookupUrl, of: row.lookupHost, sent: { url: row.url, host: row.host } },
  ],
  // Other URLs that the program maps to that prefix do not belong to this row.
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

/** A sentence on how the program rewrites a row's name, if it does. */
export function asLookedUp(ranking: RankingName, row: RankedRow): string[] {
  const [first] = RANK_SUBJECTS[ranking](row);
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
  return `The last one was looked up as ${name}.`;
}

const QUERIES: Readonly<Record<RankingName, (key: string) => string>> = {
  url: (key) => `ReqURL eq ${quoted(key)}`,
  page: (key) => {
    const slash = key.indexOf('/');
    return `ReqHeader:Host eq ${quoted(key.slice(0, slash))} and ReqURL ~ ${begin(key.slice(slash), '([?#]|$)')}`;
  },
  prefix: (key) => `ReqURL ~ ${key === '/' ? quoted('^/[^/]*([?#]|$)') : begin(key)}`,
  host: (key) => `ReqHeader:Host eq ${quoted(key)}`,
  client: (key) => `ReqStart[1] eq ${quoted(key)}`,
  network: (key) => `ReqStart[1] ~ ${quoted(key.endsWith('/64') ? v6(key) : v4(key))}`,
  forwarded: (key) => `ReqHeader:X-Forwarded-For ~ ${begin(key, '(,|$)')}`,
  status: (key) => `RespStatus == ${key}`,
  method: (key) => `ReqMethod eq ${quoted(key)}`,
  agent: (key) => `ReqHeader:User-Agent eq ${quoted(key)}`,
  // Without a connection, only the error names the backend.
  backend: (key) => `BackendOpen[2] eq ${quoted(key)} or FetchError ~ ${begin(`backend ${key}: `)}`,
  fragment: (key) => `Begin[3] eq "esi" and ReqURL eq ${quoted(key)}`,
};

export function rankQuery(ranking: RankingName, key: string): string {
  return QUERIES[ranking](key);
}

function v4(key: string): string {
  return `^(::ffff:)?${escaped(key.replace(/0\/24$/, ''))}`;
}

/** Trailing groups of zeros may be omitted in an address. */
function v6(key: string): string {
  const [, head = '', zeros = ''] = /^(.*?)((?::0)*)::\/64$/.exec(key) ?? [];
  return `^${head}${zeros === '' ? ':' : `(::|${zeros}:)`}`;
}

function begin(text: string, end = ''): string {
  return quoted(`^${escaped(text)}${end}`);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
