// Named queries: of the configuration file, saved from the console into the same file, and built in.

export interface SavedQueries {
  all(): Readonly<Record<string, string>>;
  /** Null removes. Rejects when the file cannot be written; the query then lasts for this session. */
  save(name: string, query: string | null): Promise<void>;
}

/** Queries of this session alone. */
export function volatileQueries(initial: Readonly<Record<string, string>> = {}): SavedQueries {
  let kept: Record<string, string> = { ...initial };
  return {
    all: () => kept,
    save: (name, query) => {
      const { [name]: _former, ...rest } = kept;
      kept = query === null ? rest : { ...rest, [name]: query };
      return Promise.resolve();
    },
  };
}

export interface NamedQuery {
  name: string;
  query: string;
  /** A description that fits on the smallest screen; of an operator's query the query itself. */
  help: string;
}

export const BUILTIN_QUERIES: readonly NamedQuery[] = [
  { name: 'errors', query: 'RespStatus >= 500 or FetchError', help: '5xx and failed fetches' },
  { name: 'refused', query: 'RespStatus >= 400 and RespStatus < 500', help: 'client errors (4xx)' },
  { name: 'slow', query: 'Timestamp:Process[2] > 1.0', help: 'over a second to first byte' },
  { name: 'slow-fetch', query: 'Timestamp:Beresp[2] > 1.0', help: 'backends over a second' },
  { name: 'backend-errors', query: 'FetchError or BerespStatus >= 500', help: 'backend failures' },
  { name: 'misses', query: 'VCL_call eq "MISS"', help: 'fetched after a lookup' },
  { name: 'passes', query: 'VCL_call eq "PASS"', help: 'passed: not cached' },
  { name: 'marked', query: 'HitMiss or HitPass', help: 'marked as uncacheable' },
  { name: 'cookies', query: 'ReqHeader:Cookie and VCL_call eq "PASS"', help: 'passed with a Cookie' },
  { name: 'set-cookie', query: 'BerespHeader:Set-Cookie', help: 'responses that set a Cookie' },
  { name: 'stale', query: 'Hit[2] < 0', help: 'served in grace' },
  { name: 'purges', query: 'ReqMethod ~ "PURGE$|BAN$|^REFRESH$"', help: 'purges and bans over HTTP' },
  { name: 'restarts', query: 'Begin[3] eq "restart"', help: 'restarted by the VCL' },
  { name: 'fragments', query: 'Begin[3] eq "esi"', help: 'pages with fragments' },
  { name: 'large', query: 'ReqAcct[5] > 1000000', help: 'bodies over a megabyte' },
];

/** All of them, the operator's own first: a built-in query of the same name is hidden. */
export function namedQueries(saved: SavedQueries): NamedQuery[] {
  const own = Object.entries(saved.all()).map(([name, query]): NamedQuery => ({ name, query, help: query }));
  const names = new Set(own.map((one) => one.name));
  return [...own, ...BUILTIN_QUERIES.filter((one) => !names.has(one.name))];
}
