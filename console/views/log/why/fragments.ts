// The fragments of a page, from a log group: a fragment is a request with reason esi whose parent is the including
// request. Works for logs of any product. The first request is the page, even if it is a fragment itself, cut out by
// partOf(). A restarted fragment is one fragment, with its last response.

import type { LogTransaction } from '../../../../protocol/messages.ts';
import { isFragment } from '../../../model/log/request-group.ts';
import { type Handling, summarise } from '../../../model/log/transaction.ts';
import { duration } from '../../../model/ui/numbers.ts';
import { type Evidence, Facts } from './request-facts.ts';
import { uncacheable } from './uncacheable.ts';

export interface Fragment {
  /** As requested by the page. */
  url: string;
  /** Its request after restarts, and its fetch. */
  request: Facts;
  fetch: Facts | null;
  /** The including fragment; null for the page. */
  within: Fragment | null;
  handling: Handling;
  /** Epoch seconds: start, and arrival of its last byte and of all fragments in it. Its Resp may be later, because
   * delivery is in page order. */
  from: number;
  to: number;
  /** Seconds until its own body arrived, without those spent on fragments in it. */
  own: number;
}

/** In order of their ids in the group: the order of includes, level by level. */
export function fragmentsOf(group: readonly LogTransaction[]): Fragment[] {
  if (!group.some(isFragment)) return [];
  const out: Fragment[] = [];
  const page = group.find((tx) => tx.type === 'request');
  /** The fragment of a transaction, by vxid. */
  const owner = new Map<number, Fragment>();
  for (const tx of group) {
    const above = owner.get(tx.parent);
    if (tx.type === 'bereq') {
      // Background fetches are not part of the page; of retries the last counts.
      if (above === undefined || tx.reason === 'bgfetch') continue;
      above.fetch = new Facts(tx);
      owner.set(tx.vxid, above);
      continue;
    }
    if (tx.type !== 'request' || tx === page) continue;
    const request = new Facts(tx);
    if (isFragment(tx)) {
      const url = request.first('ReqURL')?.text ?? '';
      const { handling } = summarise(tx);
      const from = request.at;
      const made = { url, request, fetch: null, within: above ?? null, handling, from, to: from, own: 0 };
      out.push(made);
      owner.set(tx.vxid, made);
    } else if (above !== undefined) {
      above.request = request;
      above.fetch = null;
      above.handling = summarise(tx).handling;
      owner.set(tx.vxid, above);
    }
  }
  // From the end: nested fragments come after the one that includes them.
  for (const fragment of out.toReversed()) {
    const came = cameAt(fragment);
    const inner = out.filter((f) => f.within === fragment);
    fragment.to = Math.max(came, ...inner.map((f) => f.to));
    fragment.own = Math.max(0, came - fragment.from - covered(inner, came));
  }
  return out;
}

/** When the last byte of a fragment arrived. Its Resp may be much later, as it waits for its turn or the client. */
function cameAt({ from, request, fetch }: Fragment): number {
  const ready = request.times.get('Process')?.at ?? request.until;
  return Math.max(from, Math.min(request.until, Math.max(ready, fetch?.until ?? 0)));
}

/** The fragment of a transaction with all its descendants; the whole group if it belongs to none. */
export function partOf(group: readonly LogTransaction[], index: number): readonly LogTransaction[] {
  const byId = new Map(group.map((tx) => [tx.vxid, tx]));
  let root = group[index];
  while (root !== undefined && !isFragment(root)) root = byId.get(root.parent);
  return root === undefined ? group : below(group, root);
}

/** The requests of a group that had this URL at some point, with their descendants: the page, fragments. */
export function partsFor(group: readonly LogTransaction[], url: string): (readonly LogTransaction[])[] {
  const page = group.find((tx) => tx.type === 'request');
  const ofFragments = idsBelow(group);
  const asks = (tx: LogTransaction): boolean => new Facts(tx).all('ReqURL').some((e) => e.text === url);
  const lives = group.filter((tx) => tx.type === 'request' && !ofFragments.has(tx.vxid));
  const parts = page !== undefined && lives.some(asks) ? [group] : [];
  return [
    ...parts,
    ...group.filter((tx) => tx !== page && isFragment(tx) && asks(tx)).map((tx) => below(group, tx)),
  ];
}

/** Ids of all transactions that belong to fragments. */
export function idsBelow(group: readonly LogTransaction[]): Set<number> {
  const page = group.find((tx) => tx.type === 'request');
  const found = new Set<number>();
  for (const tx of group) if (tx !== page && (isFragment(tx) || found.has(tx.parent))) found.add(tx.vxid);
  return found;
}

function below(group: readonly LogTransaction[], root: LogTransaction): LogTransaction[] {
  const ids = new Set([root.vxid]);
  return group.filter((tx) => {
    if (ids.has(tx.parent)) ids.add(tx.vxid);
    return ids.has(tx.vxid);
  });
}

/** Seconds before `end` covered by the fragments; overlaps count once. */
function covered(spans: readonly Fragment[], end: number): number {
  let total = 0;
  let until = 0;
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    total += Math.max(0, Math.min(to, end) - Math.max(from, until));
    until = Math.max(until, to);
  }
  return total;
}

/** Shortest time of a fragment worth mentioning, in seconds (chosen). */
const SEEN = 0.001;

/** The fragment with the longest own time; null if none is measurable. */
export function slowestOf(fragments: readonly Fragment[]): Fragment | null {
  const slowest = fragments.reduce<Fragment | null>((a, b) => (a === null || b.own > a.own ? b : a), null);
  return slowest === null || slowest.own < SEEN ? null : slowest;
}

export interface Uncached {
  /** Put in brackets after its URL. */
  because: string;
  evidence: readonly Evidence[];
}

/** Why the next page must fetch this fragment again; null if it is cached, or the fetch failed. */
export function uncachedBecause(f: Fragment): Uncached | null {
  if (failureOf(f) !== null) return null;
  const returned = f.request.steps.find((step) => step.returned === 'pass');
  if (f.handling === 'pass' || f.handling === 'hitpass') {
    const mark = f.request.first('HitPass') ?? returned?.evidence;
    const evidence = mark === undefined ? [] : [mark];
    if (f.handling === 'hitpass') return { because: 'hit-for-pass', evidence };
    const name = ['authorization', 'cookie'].find((header) => f.request.request.has(header));
    const header = name === undefined ? undefined : f.request.header('request', name);
    if (header === undefined) return { because: 'pass', evidence };
    return {
      because: name === 'cookie' ? 'pass, it has a Cookie' : 'pass, it has Authorization',
      evidence: [header, ...evidence],
    };
  }
  const cause = f.fetch === null ? null : uncacheable(f.fetch);
  if (cause === null) return null;
  return {
    because: `${f.handling === 'hitmiss' ? 'hit-for-miss' : f.handling}, ${cause.because}`,
    evidence: cause.evidence,
  };
}

export interface Failure {
  because: string;
  evidence: readonly Evidence[];
}

/** The error in an included fragment, or null. */
export function failureOf(f: Fragment): Failure | null {
  const status = f.request.first('RespStatus');
  const error =
    f.fetch?.first('FetchError') ??
    f.request.first('Error') ??
    f.request.first('VCL_Error', /^(?!ESI depth)/);
  if (f.request.status < 400 && error === undefined) return null;
  const because = [f.request.status < 400 ? '' : String(f.request.status), error?.text ?? ''];
  return {
    because: because.filter((text) => text !== '').join(', '),
    evidence: [error, status].filter((e) => e !== undefined),
  };
}

/** The tree's line next to the page. */
export function fragmentsLine(fragments: readonly Fragment[]): string {
  const parts = [`${fragments.length} ${fragments.length === 1 ? 'fragment' : 'fragments'}`];
  const slowest = slowestOf(fragments);
  if (slowest !== null)
    parts.push(`slowest ${slowest.url} ${duration(slowest.own)} (${handlingName(slowest.handling)})`);
  const failed = fragments.flatMap((f) =>
    failureOf(f) === null ? [] : [`${f.url} (${f.request.status < 400 ? 'cut' : f.request.status})`],
  );
  if (failed.length > 0) parts.push(`${failed.length} failed: ${some(failed)}`);
  const uncached = fragments.flatMap((f) =>
    uncachedBecause(f) === null ? [] : [`${f.url} (${handlingName(f.handling)})`],
  );
  if (uncached.length > 0) parts.push(`${uncached.length} not cacheable: ${some(uncached)}`);
  return parts.join(', ');
}

export function handlingName(handling: Handling): string {
  if (handling === 'hitmiss') return 'hit-for-miss';
  return handling === 'hitpass' ? 'hit-for-pass' : handling;
}

/** The first few distinct items, and the number of the rest. */
export function some(texts: readonly string[], most = 3): string {
  const distinct = [...new Set(texts)];
  const more = distinct.length > most ? ` and ${distinct.length - most} more` : '';
  return `${distinct.slice(0, most).join(', ')}${more}`;
}
