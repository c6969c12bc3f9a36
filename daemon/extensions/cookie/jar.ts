// The cookies of one task, in the order they came: the parser and the list behind the cookie extension. A name
// occurs once; a later value takes the place of an earlier one. Names are case-sensitive and are not validated:
// what the client sent comes out again byte by byte.

const BLANK = /[ \t\n\v\f\r]/;

export class CookieJar {
  #cookies = new Map<string, string>();

  /**
   * Adds what a Cookie header holds; returns how many pairs it saw. A pair is everything up to "=", then
   * everything up to ";". What has no "=" before the end is dropped; what has none before ";" becomes a part of
   * the next name, as in Varnish.
   */
  parse(text: string): number {
    let pairs = 0;
    let at = 0;
    while (at < text.length) {
      while (at < text.length && BLANK.test(text.charAt(at))) at++;
      const equals = text.indexOf('=', at);
      if (equals < 0) break;
      let end = text.indexOf(';', equals + 1);
      if (end < 0) end = text.length;
      this.set(text.slice(at, equals), text.slice(equals + 1, end));
      pairs++;
      at = end + 1;
    }
    return pairs;
  }

  clear(): void {
    this.#cookies.clear();
  }

  /** Ignored when the name or the value is empty. */
  set(name: string, value: string): void {
    if (name !== '' && value !== '') this.#cookies.set(name, value);
  }

  get(name: string): string | null {
    return this.#cookies.get(name) ?? null;
  }

  entries(): IterableIterator<[name: string, value: string]> {
    return this.#cookies.entries();
  }

  /** Drops every cookie that `keep` does not want. */
  retain(keep: (name: string, value: string) => boolean): void {
    for (const [name, value] of this.#cookies) if (!keep(name, value)) this.#cookies.delete(name);
  }

  /** Puts the cookies in the order of their names' bytes. */
  sort(): void {
    this.#cookies = new Map([...this.#cookies].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  }

  /** "a=1; b=2;", or the empty string. */
  text(): string {
    let out = '';
    for (const [name, value] of this.#cookies) out += `${out === '' ? '' : ' '}${name}=${value};`;
    return out;
  }
}

/** Names of a comma-separated list; blanks before a name do not belong to it, blanks behind it do. */
export function namesIn(list: string): Set<string> {
  const names = list.split(',').map((n) => n.replace(/^[ \t\n\v\f\r]+/, ''));
  return new Set(names.filter((n) => n !== ''));
}
