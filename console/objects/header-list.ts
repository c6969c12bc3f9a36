// Header fields of a message as its log records tell them: set, removed, and in the end an object with a member a name.

/** Fields in the order of the log; names in lower case. */
export class HeaderList {
  private fields: { name: string; value: string }[] = [];

  /** A record of a field that came or was set: `Name: value`. */
  add(text: string): void {
    const field = parseField(text);
    if (field !== null) this.fields.push(field);
  }

  /** A record of a field that was removed, which has its value as well; without it all of the name go. */
  remove(text: string): void {
    const field = parseField(text);
    if (field === null) return;
    const { name, value } = field;
    const at = this.fields.findIndex((f) => f.name === name && f.value === value);
    if (at >= 0) this.fields.splice(at, 1);
    else this.fields = this.fields.filter((f) => f.name !== name);
  }

  clear(): void {
    this.fields = [];
  }

  /** Values of one name, in order. */
  all(name: string): string[] {
    return this.fields.filter((f) => f.name === name).map((f) => f.value);
  }

  /**
   * Values by name. Those of a repeated name are joined as RFC 9110 section 5.3 allows; the exception of section 5.3,
   * Set-Cookie, is left out.
   */
  joined(): Record<string, string> {
    const values = new Map<string, string>();
    for (const { name, value } of this.fields) {
      if (name === SET_COOKIE) continue;
      const former = values.get(name);
      // Cookie has a separator of its own (RFC 9113 section 8.2.3).
      const separator = name === 'cookie' ? '; ' : ', ';
      values.set(name, former === undefined ? value : `${former}${separator}${value}`);
    }
    return Object.fromEntries(values);
  }
}

export const SET_COOKIE = 'set-cookie';

function parseField(text: string): { name: string; value: string } | null {
  const colon = text.indexOf(':');
  if (colon <= 0) return null;
  return { name: text.slice(0, colon).toLowerCase(), value: text.slice(colon + 1).trim() };
}
