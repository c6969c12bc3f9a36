// HPACK for tests (RFC 7541), independent of the daemon's: reads any block slowly, and writes literals that no table
// remembers. Wrong blocks are exceptions here.

export type Field = readonly [name: string, value: string];

/** First value of a field, or undefined. */
export function fieldOf({ fields }: { readonly fields: readonly Field[] }, name: string): string | undefined {
  return fields.find(([each]) => each === name)?.[1];
}

/** Bits of each octet's code, 'a' for 5 (appendix B); the last is the end's. Codes count up within a length. */
const BITS =
  'isxxxxxxxtzxxzxxxxxxxxzxxxxxxxxxbffhibdgffdgdbbbaaabbbbbbbcdkbhfibccccccccccccccccccccccdcdioijbkabababbbaccbbbabcbaabccccckgjix' +
  'prpprrrsrssssststtrstssssqrsrsstrqprrssqsrrtqrssqqrqsrssprrrsrrsvvporsruvvvwwvtuoqvwwvwtqqvvxwwwptpqrqqsrruuttvsvwvvwwwwwxwwwwwvz';
const FEWEST_BITS = 5;
const END = 256;

/** Appendix A, from index 1. */
const STATIC: readonly Field[] = (
  ':authority;:method=GET;:method=POST;:path=/;:path=/index.html;:scheme=http;:scheme=https;:status=200;:status=204;' +
  ':status=206;:status=304;:status=400;:status=404;:status=500;accept-charset;accept-encoding=gzip, deflate;' +
  'accept-language;accept-ranges;accept;access-control-allow-origin;age;allow;authorization;cache-control;' +
  'content-disposition;content-encoding;content-language;content-length;content-location;content-range;content-type;' +
  'cookie;date;etag;expect;expires;from;host;if-match;if-modified-since;if-none-match;if-range;if-unmodified-since;' +
  'last-modified;link;location;max-forwards;proxy-authenticate;proxy-authorization;range;referer;refresh;retry-after;' +
  'server;set-cookie;strict-transport-security;transfer-encoding;user-agent;vary;via;www-authenticate'
)
  .split(';')
  .map((entry) => {
    const [name = '', value = ''] = entry.split('=');
    return [name, value];
  });

/** Symbols by their codes, written as '0' and '1'. */
const SYMBOLS: ReadonlyMap<string, number> = new Map(
  [...BITS]
    .map((letter, symbol) => ({ symbol, bits: letter.charCodeAt(0) - 'a'.charCodeAt(0) + FEWEST_BITS }))
    .sort((a, b) => a.bits - b.bits || a.symbol - b.symbol)
    .reduce<{ entries: [string, number][]; next: number; bits: number }>(
      (so, { symbol, bits }) => {
        const code = so.next * 2 ** (bits - so.bits);
        so.entries.push([code.toString(2).padStart(bits, '0'), symbol]);
        return { entries: so.entries, next: code + 1, bits };
      },
      { entries: [], next: 0, bits: 0 },
    ).entries,
);

function unpacked(bytes: Uint8Array): string {
  let text = '';
  let code = '';
  for (const byte of bytes) {
    for (const bit of byte.toString(2).padStart(8, '0')) {
      code += bit;
      const symbol = SYMBOLS.get(code);
      if (symbol === END) throw new Error('the end of a Huffman code inside of a text');
      if (symbol === undefined) continue;
      text += String.fromCharCode(symbol);
      code = '';
    }
  }
  if (code.length > 7 || code.includes('0')) throw new Error(`a Huffman code ends with ${code}`);
  return text;
}

export class HpackReader {
  /** The newest first. */
  private table: Field[] = [];
  private most = 4096;
  private at = 0;
  private block: Uint8Array = new Uint8Array(0);
  private readonly allowed: number;

  /** @param allowed SETTINGS_HEADER_TABLE_SIZE of this side */
  constructor(allowed = 4096) {
    this.allowed = allowed;
  }

  read(block: Uint8Array): Field[] {
    const fields: Field[] = [];
    this.block = block;
    this.at = 0;
    while (this.at < block.length) {
      const first = block[this.at] as number;
      if (first >= 0x80) fields.push(this.entry(this.integer(7)));
      else if (first >= 0x40) {
        const field = this.literal(6);
        fields.push(field);
        this.table.unshift(field);
      } else if (first >= 0x20) {
        this.most = this.integer(5);
        if (this.most > this.allowed || fields.length > 0) throw new Error('an update of the table size');
      } else fields.push(this.literal(4));
      this.evict();
    }
    return fields;
  }

  private evict(): void {
    const size = (): number =>
      this.table.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
    while (size() > this.most) this.table.pop();
  }

  private entry(index: number): Field {
    const field = STATIC[index - 1] ?? this.table[index - 1 - STATIC.length];
    if (field === undefined) throw new Error(`no entry ${index}`);
    return field;
  }

  private literal(bits: number): Field {
    const index = this.integer(bits);
    const name = index === 0 ? this.text() : this.entry(index)[0];
    return [name, this.text()];
  }

  private text(): string {
    const isPacked = (this.octet(this.at) & 0x80) !== 0;
    const length = this.integer(7);
    const end = this.at + length;
    if (end > this.block.length) throw new Error('a text reaches beyond its block');
    const bytes = this.block.subarray(this.at, end);
    this.at = end;
    return isPacked ? unpacked(bytes) : Buffer.from(bytes).toString('latin1');
  }

  private integer(bits: number): number {
    const most = 2 ** bits - 1;
    let value = this.octet(this.at++) & most;
    if (value < most) return value;
    for (let factor = 1; ; factor *= 128) {
      const octet = this.octet(this.at++);
      value += (octet & 0x7f) * factor;
      if (octet < 0x80) return value;
    }
  }

  private octet(at: number): number {
    const octet = this.block[at];
    if (octet === undefined) throw new Error('a block ends in the middle of a field');
    return octet;
  }
}

/** An integer with `bits` bits of its first octet, whose other bits are `first`. */
export function hpackInteger(value: number, bits: number, first = 0): Buffer {
  const most = 2 ** bits - 1;
  if (value < most) return Buffer.from([first | value]);
  const octets = [first | most];
  let rest = value - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) octets.push((rest % 128) | 0x80);
  return Buffer.from([...octets, rest]);
}

/** Literals without indexing: the same bytes for the same fields, whatever came before. */
export function hpackLiterals(fields: readonly Field[]): Buffer {
  const text = (latin1: string): Buffer[] => [hpackInteger(latin1.length, 7), Buffer.from(latin1, 'latin1')];
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), ...text(name), ...text(value)]));
}
