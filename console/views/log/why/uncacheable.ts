// Why a response is not stored, with the headers and lifetimes of the backend request that show it.

import { EXPLICIT_STATUSES, HEURISTIC_STATUSES } from '../../../../protocol/tables/kept-statuses.ts';
import { duration } from '../../../model/ui/numbers.ts';
import type { Evidence, Facts, Lifetime } from './request-facts.ts';

export interface Cause {
  /** Put after "because". */
  because: string;
  evidence: readonly Evidence[];
}

interface HeaderRow {
  header: string;
  pattern: RegExp;
  because: string;
}

/** In the order of checks in the builtin program. */
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

function mayBeKept(status: number): boolean {
  return HEURISTIC_STATUSES.has(status) || EXPLICIT_STATUSES.has(status);
}

const FETCH_STATE = /^BACKEND_(FETCH|RESPONSE|ERROR)$/;

/** A fetch without a response to store: it failed, or the program abandoned it. Lifetimes before that belong to a
 * discarded response; an error has one only from vcl_backend_error. Null if there is a response. */
function noResponse(fetch: Facts): Cause | null {
  const { records } = fetch;
  const lastOf = (tag: string, text = /./): number =>
    records.findLastIndex((r) => r.name === tag && text.test(r.text));
  const lifetime = lastOf('TTL');
  const failed = fetch.first('FetchError');
  const left = fetch.steps.findLast(({ state }) => FETCH_STATE.test(state));
  const isAbandoned = left !== undefined && /^(fail|abandon)$/.test(left.returned);
  const isError = lastOf('VCL_call', /^BACKEND_ERROR$/) > lifetime;
  if (failed !== undefined && (isAbandoned || isError || lastOf('FetchError') > lifetime))
    return { because: 'the fetch failed', evidence: [failed] };
  if (isAbandoned)
    return {
      because: `the program ${left.returned === 'fail' ? 'failed' : 'abandoned'} its fetch in vcl_${left.state.toLowerCase()}`,
      evidence: [left.evidence],
    };
  if (!isError) return null;
  const before = fetch.steps.findLast(({ state }) => FETCH_STATE.test(state) && state !== 'BACKEND_ERROR');
  const evidence = [(before ?? left)?.evidence].filter((e) => e !== undefined);
  return before?.returned === 'retry'
    ? { because: 'its fetch was retried as often as max_retries allows', evidence }
    : { because: 'the program made it an error', evidence };
}

/** Lookups skip objects that never were fresh, grace or not, as in Varnish. Under http_profile=rfc9111 responses
 * without a lifetime are stored for revalidation, visible by their keep. */
function isKept({ cacheable, source, ttl, keep }: Lifetime): boolean {
  return cacheable && (ttl > 0 || (source === 'RFC' && ttl === 0 && keep > 0));
}

/** Null if the response was stored. */
export function uncacheable(fetch: Facts): Cause | null {
  const none = noResponse(fetch);
  const last = fetch.lifetimes.at(-1);
  if (none !== null || last === undefined) return none;
  if (last.source === 'HFP')
    return {
      because: `the program returned pass for it (for ${duration(last.ttl)})`,
      evidence: [last.evidence],
    };
  if (isKept(last)) return null;
  const rfc = fetch.lifetimes.find((l) => l.source === 'RFC');
  for (const row of HEADERS) {
    const value = fetch.response.get(row.header);
    const evidence = fetch.header('response', row.header);
    if (value !== undefined && evidence !== undefined && row.pattern.test(value))
      return { because: row.because, evidence: [evidence, last.evidence] };
  }
  if (rfc !== undefined && rfc.ttl <= 0) {
    const status = fetch.first('BerespStatus');
    if (status !== undefined && !mayBeKept(Number(status.text)))
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
