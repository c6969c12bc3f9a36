// Headers on responses to an edge network, of two kinds: Edge-Control with the remaining lifetime, where Age is dropped
// by default, and targeted headers (RFC 9213, Surrogate-Control) with the whole lifetime and Age, from which the edge
// computes the rest. In both the edge keeps a response for TTL plus grace, and caches downstream of it for the TTL. A
// response that the proxy does not cache is marked no-store for the edge, which otherwise would follow the origin's
// Cache-Control.

export interface EdgeResponse {
  readonly cacheable: boolean;
  /** Seconds, at the time of the fetch. */
  readonly ttl: number;
  readonly grace: number;
  /** Seconds since the fetch. */
  readonly age: number;
  /** The origin's Cache-Control values, joined with commas; '' for none. */
  readonly cacheControl: string;
}

export interface HeaderSwitches {
  readonly edgeAge: 'drop' | 'keep';
  readonly basis: 'remaining' | 'original';
  readonly downstream: 'ttl' | 'origin';
}

/** Headers to set; null removes one. */
export type HeaderChanges = Readonly<Record<string, string | null>>;

/** A directive with its comma; commas in quotes do not separate. */
const DIRECTIVE = /(?:[^,"]|"(?:[^"\\]|\\.)*(?:"|$))+/g;
const CLOSED = new Set(['private', 'no-store', 'no-cache']);
const LIFETIMES = new Set(['max-age', 's-maxage']);

/** Edge-Control, and post-check in Cache-Control. */
export function edgeControlHeaders(response: EdgeResponse, switches: HeaderSwitches): HeaderChanges {
  // In whole seconds, like Age: a response fetched just now has its full TTL.
  const spent = switches.basis === 'remaining' ? seconds(response.age) : 0;
  const ttl = seconds(response.ttl - spent);
  const age: HeaderChanges = switches.edgeAge === 'drop' ? { Age: null } : {};
  if (!response.cacheable) return { ...age, 'Edge-Control': 'no-store' };
  return {
    ...age,
    'Edge-Control': `max-age=${seconds(response.ttl + response.grace - spent)}`,
    'Cache-Control': `${downstream(response.cacheControl, ttl, switches)}, post-check=${ttl}`,
  };
}

/** A header such as CDN-Cache-Control, called `name`; Age is always kept. */
export function targetedHeaders(
  name: string,
  response: EdgeResponse,
  switches: HeaderSwitches,
): HeaderChanges {
  if (!response.cacheable) return { [name]: 'no-store' };
  return {
    [name]: `max-age=${seconds(response.ttl + response.grace)}`,
    'Cache-Control': downstream(response.cacheControl, seconds(response.ttl), switches),
    Age: String(seconds(response.age)),
  };
}

/** The origin's Cache-Control with the lifetime for caches downstream of the edge. */
function downstream(text: string, ttl: number, switches: HeaderSwitches): string {
  const all = (text.match(DIRECTIVE) ?? []).map((word) => word.trim()).filter((word) => word !== '');
  const kept = all.filter((word) => nameOf(word) !== 'post-check');
  const names = kept.map(nameOf);
  if (names.some((name) => CLOSED.has(name))) return kept.join(', ');
  if (switches.downstream === 'origin' && names.some((name) => LIFETIMES.has(name))) return kept.join(', ');
  const lifetime = `max-age=${ttl}`;
  // Each lifetime once: of duplicates a cache may use either.
  const others = kept.filter((_, i) => !LIFETIMES.has(names[i] as string));
  const shared = names.includes('s-maxage') ? [`s-maxage=${ttl}`] : [];
  return [...others, lifetime, ...shared].join(', ');
}

function nameOf(word: string): string {
  return (word.split('=', 1)[0] as string).trim().toLowerCase();
}

/** Whole seconds, rounded down like those of Age (RFC 9111, 5.1). */
function seconds(value: number): number {
  return Math.max(0, Math.floor(value));
}
