// Priorities of responses (RFC 9218): what a client asks for, by the `priority` header of its request and by PRIORITY_UPDATE
// frames, and what a response says in a header of the same name. The text is a dictionary of structured fields (RFC 9651),
// of which two members mean something. Text that is no dictionary says nothing, nor does a member of another type or out of
// its range.

export interface Priority {
  /** From 0, the most urgent, to 7. */
  readonly urgency: number;
  /** The client can use the response in parts, so that several may share the connection. */
  readonly incremental: boolean;
}

/** The members of one text; null for a member that it does not have. */
export interface PriorityText {
  readonly urgency: number | null;
  readonly incremental: boolean | null;
}

/** Of a request whose priority leaves a member out (RFC 9218 section 4). */
export const DEFAULT_PRIORITY: Priority = { urgency: 3, incremental: false };
const NOTHING_SAID: PriorityText = { urgency: null, incremental: null };
const URGENCY = /^(?:0*[0-7]|-0+)$/;

/** @param text the header's value, of several headers joined by commas, or the field value of a PRIORITY_UPDATE */
export function parsePriority(text: string): PriorityText {
  const scanner = new DictionaryScanner(text);
  let urgency: number | null = null;
  let incremental: boolean | null = null;
  // Of members with the same name the last one counts (RFC 9651 section 3.2).
  while (scanner.next()) {
    const { key, value } = scanner;
    if (key === 'u') urgency = URGENCY.test(value) ? Math.abs(Number(value)) : null;
    else if (key === 'i') incremental = value === '?1' ? true : value === '?0' ? false : null;
  }
  return scanner.isWhole ? { urgency, incremental } : NOTHING_SAID;
}

/** The members of a text, and those of `otherwise` where it has none: of a response over what its client has asked for (section 8). */
export function mergePriority(said: PriorityText, otherwise: Priority): Priority {
  return {
    urgency: said.urgency ?? otherwise.urgency,
    incremental: said.incremental ?? otherwise.incremental,
  };
}

/** The tokens of RFC 9651 section 3, each of which is found in one pass. */
const KEY = /[a-z*][a-z0-9_\-.*]*/y;
const BARE_ITEM = [
  // An integer, a decimal or a date.
  /@?-?\d{1,15}(?:\.\d{1,3})?/y,
  /\?[01]/y,
  /"(?:[ !#-[\]-~]|\\["\\])*"/y,
  /[A-Za-z*][!#$%&'*+\-.^_`|~\w:/]*/y,
  /:[A-Za-z\d+/=]*:/y,
  /%"(?:[ !#$&-~]|%[\da-f]{2})*"/y,
] as const;
const BLANKS = / */y;
const BREAK = /[ \t]*,[ \t]*/y;

/** Reads one member of a dictionary after the other. */
class DictionaryScanner {
  key = '';
  /** The bare item as it stands there; '' for an inner list. */
  value = '';
  private readonly text: string;
  private at = 0;
  private failed = false;

  constructor(text: string) {
    this.text = text;
    this.take(BLANKS);
  }

  /** The text was a dictionary, and all of it has been read. */
  get isWhole(): boolean {
    return !this.failed && this.at === this.text.length;
  }

  /** Reads the next member; false when there is none, or it is malformed. */
  next(): boolean {
    if (this.failed || this.at === this.text.length) return false;
    const key = this.take(KEY);
    this.failed = key === '' || !this.memberValue() || !this.parameters();
    if (this.failed) return false;
    this.key = key;
    if (this.take(BREAK) !== '') {
      this.failed = this.at === this.text.length;
    } else {
      this.take(BLANKS);
      this.failed = this.at < this.text.length;
    }
    return true;
  }

  /** The text of a token that stands here, or ''. */
  private take(token: RegExp): string {
    token.lastIndex = this.at;
    if (!token.test(this.text)) return '';
    const from = this.at;
    this.at = token.lastIndex;
    return this.text.slice(from, this.at);
  }

  private takeCharacter(c: string): boolean {
    if (this.text[this.at] !== c) return false;
    this.at++;
    return true;
  }

  private memberValue(): boolean {
    this.value = '?1';
    if (!this.takeCharacter('=')) return true;
    if (this.takeCharacter('(')) {
      this.value = '';
      return this.innerList();
    }
    this.value = this.bareItem();
    return this.value !== '';
  }

  private bareItem(): string {
    for (const token of BARE_ITEM) {
      const item = this.take(token);
      if (item !== '') return item;
    }
    return '';
  }

  private innerList(): boolean {
    this.take(BLANKS);
    while (!this.takeCharacter(')')) {
      if (this.bareItem() === '' || !this.parameters()) return false;
      // Items are apart.
      if (this.take(BLANKS) === '' && this.text[this.at] !== ')') return false;
    }
    return true;
  }

  private parameters(): boolean {
    while (this.takeCharacter(';')) {
      this.take(BLANKS);
      if (this.take(KEY) === '') return false;
      if (this.takeCharacter('=') && this.bareItem() === '') return false;
    }
    return true;
  }
}
