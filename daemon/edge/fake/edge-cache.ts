// The cache of the fake edge. A copy is served until its lifetime ends; after that, or once invalidated, it is only
// revalidated. A response that was requested before a purge and arrives after it is not stored: the proxy may have sent it
// before it purged its own cache.
//
// Lifetimes come from Edge-Control, as at Akamai, else from Cache-Control as for any shared cache (RFC 9111, 4.2.1, 5.2). Age
// counts in both, since a server that sends Age sends whole lifetimes.

import type { EdgeKind } from '../providers/provider.ts';

/** The cached object that a request asks for. */
export interface EdgeSubject {
  /** Lower case, without a port. */
  readonly host: string;
  /** Including the query. */
  readonly path: string;
}

export interface EdgeReply {
  readonly status: number;
  /** As received: alternating names and values. */
  readonly rawHeaders: readonly string[];
  readonly fields: ReplyFields;
  readonly body: Buffer;
}

export interface EdgeCopy extends EdgeSubject {
  readonly reply: EdgeReply;
  readonly tags: ReadonlySet<string>;
  /** Milliseconds. */
  readonly since: number;
  /** Milliseconds; 0 after an invalidation. */
  readonly until: number;
}

/** Identifies the start of a fetch. */
export type Ticket = { readonly clearings: number };

interface Clearing {
  readonly number: number;
  readonly matches: (copy: EdgeCopy) => boolean;
}

/** A variant of a URL. */
interface Variant {
  /** Names and values of the request headers named in Vary. */
  readonly varies: readonly (readonly [string, string])[];
  copy: EdgeCopy;
}

export class EdgeCache {
  readonly #now: () => number;
  readonly #most: number;
  #bytes = 0;
  /** Least recently used first. */
  readonly #urls = new Map<string, Variant[]>();
  readonly #fetches = new Set<Ticket>();
  #clearings: Clearing[] = [];
  #cleared = 0;

  /** @param most bytes of stored bodies */
  constructor(now: () => number, most: number) {
    this.#now = now;
    this.#most = most;
  }

  get size(): number {
    let count = 0;
    for (const variants of this.#urls.values()) count += variants.length;
    return count;
  }

  find(subject: EdgeSubject, request: ReplyFields): EdgeCopy | null {
    const key = keyOf(subject);
    const variants = this.#urls.get(key);
    const found = variants?.find(({ varies }) => varies.every(([name, value]) => request[name] === value));
    if (variants === undefined || found === undefined) return null;
    this.#urls.delete(key);
    this.#urls.set(key, variants);
    return found.copy;
  }

  isFresh(copy: EdgeCopy): boolean {
    return this.#now() < copy.until;
  }

  /** Seconds. */
  age(copy: EdgeCopy): number {
    return ageOf(copy.reply.fields) + Math.floor((this.#now() - copy.since) / 1000);
  }

  /** Call before the proxy is asked; return the ticket with over(). */
  fetchBegins(): Ticket {
    const ticket = { clearings: this.#cleared };
    this.#fetches.add(ticket);
    return ticket;
  }

  over(ticket: Ticket): void {
    this.#fetches.delete(ticket);
    if (this.#fetches.size === 0) this.#clearings = [];
  }

  /** Stores a reply if allowed; returns a copy for the response in any case. */
  keep(ticket: Ticket, subject: EdgeSubject, request: ReplyFields, reply: EdgeReply): EdgeCopy {
    const lifetime = edgeLifetime(reply.status, reply.fields);
    const since = this.#now();
    const tags = new Set((reply.fields['edge-cache-tag'] ?? '').split(',').map((tag) => tag.trim()));
    const copy = { ...subject, reply, tags, since, until: since + (lifetime ?? 0) * 1000 };
    const overtaken = this.#clearings.some((c) => c.number > ticket.clearings && c.matches(copy));
    const varies = (reply.fields.vary ?? '')
      .split(',')
      .map((name) => name.trim().toLowerCase())
      .filter((name) => name !== '')
      .map((name) => [name, request[name] as string] as const);
    this.#drop(subject, (variant) => variant.varies.every(([name, value]) => request[name] === value));
    if (lifetime === null || overtaken) return copy;
    const key = keyOf(subject);
    this.#urls.set(key, [...(this.#urls.get(key) ?? []), { varies, copy }]);
    this.#bytes += reply.body.length;
    for (const [oldest, variants] of this.#urls) {
      if (this.#bytes <= this.#most) break;
      this.#forget(oldest, variants, () => true);
    }
    return copy;
  }

  /** Deletes or invalidates matching copies; returns their number. */
  clear(kind: EdgeKind, matches: (copy: EdgeCopy) => boolean): number {
    this.#cleared++;
    if (this.#fetches.size > 0) this.#clearings.push({ number: this.#cleared, matches });
    let count = 0;
    for (const [key, variants] of this.#urls) {
      const hit = variants.filter(({ copy }) => matches(copy));
      count += hit.length;
      if (kind === 'delete') this.#forget(key, variants, (variant) => hit.includes(variant));
      else for (const variant of hit) variant.copy = { ...variant.copy, until: 0 };
    }
    return count;
  }

  #drop(subject: EdgeSubject, which: (variant: Variant) => boolean): void {
    const key = keyOf(subject);
    const variants = this.#urls.get(key);
    if (variants !== undefined) this.#forget(key, variants, which);
  }

  #forget(key: string, variants: readonly Variant[], which: (variant: Variant) => boolean): void {
    const rest = variants.filter((variant) => !which(variant));
    for (const variant of variants)
      if (!rest.includes(variant)) this.#bytes -= variant.copy.reply.body.length;
    if (rest.length === 0) this.#urls.delete(key);
    else this.#urls.set(key, rest);
  }
}

function keyOf({ host, path }: EdgeSubject): string {
  return `${host}${path}`;
}

/** The host in the form that cache and purge API compare. */
export function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, '');
}

/** Names in lower case, values joined with commas. */
export type ReplyFields = Readonly<Record<string, string>>;

/** Seconds per unit of Edge-Control. */
const UNITS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };
const KEPT = new Set([200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]);

/** Seconds for which a response may be served from the cache from now on; null if it is not stored. */
export function edgeLifetime(status: number, fields: ReplyFields): number | null {
  if (!KEPT.has(status) || fields.vary?.includes('*') === true) return null;
  const whole = fields['edge-control'] === undefined ? shared(fields) : edgeControl(fields['edge-control']);
  return whole === null ? null : whole - ageOf(fields);
}

/** The Age of the response in seconds. */
function ageOf(fields: ReplyFields): number {
  return /^\d{1,9}$/.test(fields.age ?? '') ? Number(fields.age) : 0;
}

function edgeControl(text: string): number | null {
  const words = directives(text);
  if (words.has('no-store') || words.has('bypass-cache')) return null;
  const [, number, unit = ''] = /^(\d{1,9})([smhd]?)$/.exec(words.get('max-age') ?? '') ?? [];
  return number === undefined ? null : Number(number) * (UNITS[unit] as number);
}

function shared(fields: ReplyFields): number | null {
  const words = directives(fields['cache-control'] ?? '');
  if (words.has('private') || words.has('no-store') || words.has('no-cache')) return null;
  if (fields['set-cookie'] !== undefined) return null;
  const lifetime = words.get('s-maxage') ?? words.get('max-age') ?? '';
  return /^\d{1,9}$/.test(lifetime) ? Number(lifetime) : null;
}

function directives(text: string): Map<string, string> {
  return new Map(
    text.split(',').map((word) => {
      const [name = '', value = ''] = word.trim().split('=', 2);
      return [name.toLowerCase(), value.replaceAll('"', '')];
    }),
  );
}
