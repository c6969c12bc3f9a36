// Reads an ESI tag after its name: attributes, and how the tag ends. Only the attribute values that an include needs
// are kept.

/** A tag that was read to its end. */
export interface Attributes {
  /** Whether the tag ends in "/>". */
  readonly isEmpty: boolean;
  /** Latin-1; null if absent. */
  readonly src: string | null;
  readonly onerror: string | null;
}

type State = 'first' | 'between' | 'name' | 'delimiter' | 'value' | 'slash';

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const DOUBLE = 0x22;
const SINGLE = 0x27;
const SLASH = 0x2f;
const EQUALS = 0x3d;
const GT = 0x3e;
/** Longest value that is kept; Varnish is limited by its workspace. */
const VALUE_MAX = 64 * 1024;
/** Longer names match no known attribute. */
const NAME_MAX = 16;

export class TagReader implements Attributes {
  isEmpty = false;
  src: string | null = null;
  onerror: string | null = null;
  isOver = false;
  /** The error in the tag, which is then skipped. */
  fault: string | null = null;
  private readonly keeps: boolean;
  private state: State = 'first';
  private attribute = '';
  private value: string[] = [];
  private valueLength = 0;
  /** The quote that ends the value; 0 if whitespace does. */
  private quote = 0;

  /** @param keeps whether the values of src= and onerror= are kept */
  constructor(keeps = false) {
    this.keeps = keeps;
  }

  /** Continues at bytes[at]; returns the offset at which it stopped: after the tag, at the invalid byte, or at the
   * end of the input. */
  read(bytes: Uint8Array, at: number): number {
    let i = at;
    while (i < bytes.length && !this.isOver && this.fault === null) i = this.step(bytes, i);
    return i;
  }

  private step(bytes: Uint8Array, at: number): number {
    const c = bytes[at] as number;
    switch (this.state) {
      case 'first':
        if (!isBlank(c) && c !== SLASH && c !== GT)
          return this.wrong('XML 1.0 Illegal attribute start char', at);
        this.state = 'between';
        return at;
      case 'between':
        return this.between(c, at);
      case 'name':
        return this.name(c, at);
      case 'delimiter':
        return this.delimiter(c, at);
      case 'value':
        return this.readValue(bytes, at);
      case 'slash':
        if (c !== GT) return this.wrong("XML 1.0 '>' does not follow '/' in tag", at);
        this.isEmpty = true;
        this.isOver = true;
        return at + 1;
    }
  }

  private between(c: number, at: number): number {
    if (isBlank(c)) return at + 1;
    if (c === SLASH) this.state = 'slash';
    else if (c === GT) this.isOver = true;
    else if (isNameStart(c)) {
      this.state = 'name';
      this.attribute = String.fromCharCode(c);
    } else return this.wrong('XML 1.0 Illegal attribute start char', at);
    return at + 1;
  }

  private name(c: number, at: number): number {
    if (isNameChar(c)) {
      if (this.attribute.length < NAME_MAX) this.attribute += String.fromCharCode(c);
      return at + 1;
    }
    if (c === EQUALS) {
      this.state = 'delimiter';
      return at + 1;
    }
    if (c !== SPACE && c !== TAB && c !== SLASH && c !== GT)
      return this.wrong('XML 1.0 Illegal attr char', at);
    this.state = 'between';
    return at;
  }

  private delimiter(c: number, at: number): number {
    if (c === SPACE || c === TAB) return this.wrong('XML 1.0 Illegal attribute delimiter', at);
    this.value = [];
    this.valueLength = 0;
    this.state = 'value';
    this.quote = c === DOUBLE || c === SINGLE ? c : 0;
    return this.quote === 0 ? at : at + 1;
  }

  private readValue(bytes: Uint8Array, at: number): number {
    const { quote } = this;
    for (let i = at; i < bytes.length; i++) {
      const c = bytes[i] as number;
      if (quote === 0 ? c === SPACE || c === TAB : c === quote) {
        this.keep(bytes, at, i);
        this.state = 'between';
        this.valueRead();
        return i + 1;
      }
      if (c === GT) {
        this.keep(bytes, at, i);
        return this.wrong(this.fault ?? 'XML 1.0 Missing end attribute delimiter', i);
      }
    }
    this.keep(bytes, at, bytes.length);
    return bytes.length;
  }

  private keep(bytes: Uint8Array, from: number, to: number): void {
    if (!this.keeps || (this.attribute !== 'src' && this.attribute !== 'onerror')) return;
    this.valueLength += to - from;
    if (this.valueLength <= VALUE_MAX) this.value.push(latin1(bytes, from, to));
    else
      this.fault = `ESI 1.0 <esi:include> has more than ${VALUE_MAX} bytes in ${this.attribute}= attribute`;
  }

  private valueRead(): void {
    if (!this.keeps || this.fault !== null) return;
    // NUL terminates it.
    const text = this.value.join('').split('\0', 1)[0] as string;
    if (this.attribute === 'onerror') this.onerror = text;
    if (this.attribute !== 'src') return;
    if (this.src !== null) this.fault = 'ESI 1.0 <esi:include> has multiple src= attributes';
    else if (/[ \t\r\n]/.test(text)) this.fault = 'ESI 1.0 <esi:include> has whitespace in src= attribute';
    this.src = text;
  }

  private wrong(fault: string, at: number): number {
    this.fault = fault;
    return at;
  }
}

function isBlank(c: number): boolean {
  return c === SPACE || c === TAB || c === CR || c === LF;
}

/** XML 1.0 section 2.3, for single-byte characters. */
function isNameStart(c: number): boolean {
  if (c >= 0xc0) return c !== 0xd7 && c !== 0xf7;
  return (c >= 0x61 && c <= 0x7a) || (c >= 0x41 && c <= 0x5a) || c === 0x5f || c === 0x3a;
}

function isNameChar(c: number): boolean {
  return isNameStart(c) || (c >= 0x30 && c <= 0x39) || c === 0x2d || c === 0x2e || c === 0xb7;
}

function latin1(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1');
}
