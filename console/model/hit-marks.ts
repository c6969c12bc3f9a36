// Which URLs have been hits, by the host and the URL of their lookups: a hit says that the cache has it, also where the fetch
// was never seen. Bounded: what was first seen as a hit longest ago falls out.

interface Mark {
  host: string;
  url: string;
  /** Epoch seconds of the first and of the last hit. */
  first: number;
  last: number;
}

const KEPT = 5000;
/** Seconds for which a hit says that the object is still there (chosen). */
const FRESH = 60;

export class HitMarks {
  private readonly marks = new Map<string, Mark>();
  private readonly byPath = new Map<string, Set<Mark>>();

  add(host: string, url: string, at: number): void {
    const key = keyOf(host, url);
    const known = this.marks.get(key);
    if (known !== undefined) {
      known.first = Math.min(known.first, at);
      known.last = Math.max(known.last, at);
      return;
    }
    this.put(key, { host, url, first: at, last: at });
    if (this.marks.size > KEPT) this.drop(this.marks.keys().next().value as string);
  }

  /** Had it been a hit by then? */
  before(host: string, url: string, at: number): boolean {
    return (this.marks.get(keyOf(host, url))?.first ?? Number.POSITIVE_INFINITY) <= at;
  }

  /** A hit shortly before on the same path with another query string, or on the same URL under another host. */
  beside(host: string, url: string, at: number): { host: string; url: string } | null {
    for (const mark of this.byPath.get(pathOf(url)) ?? []) {
      const near = (mark.host === host) !== (mark.url === url);
      if (near && mark.first <= at && mark.last >= at - FRESH) return mark;
    }
    return null;
  }

  /** Puts what such a collection holds in front, as far as there is room. */
  prepend(part: HitMarks): void {
    for (const [key, { host, url, first, last }] of part.marks)
      if (this.marks.has(key) || this.marks.size < KEPT) {
        this.add(host, url, first);
        this.add(host, url, last);
      }
  }

  clear(): void {
    this.marks.clear();
    this.byPath.clear();
  }

  private put(key: string, mark: Mark): void {
    this.marks.set(key, mark);
    const path = pathOf(mark.url);
    const same = this.byPath.get(path) ?? new Set();
    this.byPath.set(path, same.add(mark));
  }

  private drop(key: string): void {
    const mark = this.marks.get(key);
    this.marks.delete(key);
    if (mark === undefined) return;
    const same = this.byPath.get(pathOf(mark.url));
    same?.delete(mark);
    if (same?.size === 0) this.byPath.delete(pathOf(mark.url));
  }
}

function keyOf(host: string, url: string): string {
  return `${host} ${url}`;
}

export function pathOf(url: string): string {
  return url.replace(/\?.*$/s, '');
}
