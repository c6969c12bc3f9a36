// Why a response is not kept: the headers and lifetimes of the backend's transaction that say so.

import { duration } from '../../../model/numbers.ts';
import type { Evidence, Facts } from './request-facts.ts';

export interface Cause {
  /** Goes after "because". */
  because: string;
  evidence: readonly Evidence[];
}

interface HeaderRow {
  header: string;
  pattern: RegExp;
  because: string;
}

/** In the order in which the builtin program looks. */
const HEADERS: readonly HeaderRow[] = [
  { header: 'set-cookie', pattern: /./, because: 'it has a Set-Cookie' },
  {
    header: 'surrogate-control',
    pattern: /no-store/i,
    because: 'its Surrogate-Control says no-store',
  },
  { header: 'cache-control', pattern: /\bno-store\b/i, because: 'its Cache-Control says no-store' },
  { header: 'cache-control', pattern: /\bprivate\b/i, because: 'its Cache-Control says private' },
  { header: 'cache-control', pattern: /\bno-cache\b/i, because: 'its Cache-Control says no-cache' },
  { header: 'vary', pattern: /\*/, because: 'its Vary is *' },
];

/** Of other statuses nothing is kept, whatever the headers say, unless the program has it so. */
const KEPT: ReadonlySet<number> = new Set([200, 203, 204, 300, 301, 302, 304, 307, 404, 410, 414]);

/** A failure after the response had its lifetime: its body broke off. One before that made the lifetime an error's. */
function brokeOff({ records }: Facts): boolean {
  const last = (tag: string): number => records.findLastIndex(({ name }) => name === tag);
  return last('FetchError') > last('TTL');
}

/** Null when the response was kept. */
export function uncacheable(fetch: Facts): Cause | null {
  const last = fetch.lifetimes.at(-1);
  const failed = fetch.first('FetchError');
  if (last === undefined)
    return failed === undefined ? null : { because: 'the fetch failed', evidence: [failed] };
  if (failed !== undefined && brokeOff(fetch))
    return { because: 'the fetch failed', evidence: [failed, last.evidence] };
  if (last.source === 'HFP')
    return {
      because: `the program returned pass for it (for ${duration(last.ttl)})`,
      evidence: [last.evidence],
    };
  if (last.cacheable && last.ttl + last.grace + last.keep > 0) return null;
  const rfc = fetch.lifetimes.find((l) => l.source === 'RFC');
  for (const row of HEADERS) {
    const value = fetch.response.get(row.header);
    const evidence = fetch.header('response', row.header);
    if (value !== undefined && evidence !== undefined && row.pattern.test(value))
      return { because: row.because, evidence: [evidence, last.evidence] };
  }
  if (rfc !== undefined && rfc.ttl <= 0) {
    const status = fetch.first('BerespStatus');
    if (status !== undefined && !KEPT.has(Number(status.text)))
      return { because: `its status is ${status.text}`, evidence: [status, rfc.evidence] };
    const evidence = fetch.header('response', 'cache-control') ?? fetch.header('response', 'expires');
    return {
      because: 'its headers give it no lifetime',
      evidence: evidence === undefined ? [rfc.evidence] : [evidence, rfc.evidence],
    };
  }
  return {
    because: last.cacheable ? 'the program gave it no lifetime' : 'the program marked it uncacheable',
    evidence: [last.evidence],
  };
}
