// The query of the log that shows only what a row of a ranking stands for.

import type { RankingName } from '../../model/rankings.ts';
import { quoted } from '../log/written-query.ts';

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
  // One that got no connection is named by the error alone.
  backend: (key) => `BackendOpen[2] eq ${quoted(key)} or FetchError ~ ${begin(`backend ${key}: `)}`,
  fragment: (key) => `Begin[3] eq "esi" and ReqURL eq ${quoted(key)}`,
};

export function rankQuery(ranking: RankingName, key: string): string {
  return QUERIES[ranking](key);
}

function v4(key: string): string {
  return `^(::ffff:)?${escaped(key.replace(/0\/24$/, ''))}`;
}

/** Groups of zeros at the end of the prefix may be left out of an address. */
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
