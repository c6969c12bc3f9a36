// What is to be done with the stored bytes of a page of edge-side includes: which of them go out, and what is included
// where. Made once, when the page is fetched, and kept beside its body as bytes; a delivery does not parse the page.
//
// The bytes: one of flags, then for each part one of its kind and flags, its numbers, seven bits a byte and the lowest
// first, and its texts (Latin-1, with their length before them). A plan of very many parts is never more than that: it
// is made part by part, and read in stretches by whoever walks it.

/** Stored bytes that go out. Of a packed page each text was packed on its own, and its sum is known. */
export interface PlanText {
  readonly kind: 'text';
  /** Stored bytes; of a packed page those are deflate data, and `plain` and `crc` are of what they unpack to. */
  readonly stored: number;
  readonly plain: number;
  readonly crc: number;
}

/** Stored bytes that do not. */
export interface PlanSkip {
  readonly kind: 'skip';
  readonly stored: number;
}

export interface PlanInclude {
  readonly kind: 'include';
  /** Of the fragment's request; null is that of the page's. */
  readonly host: string | null;
  readonly url: string;
  /** Whether the page goes on where the fragment fails. */
  readonly onerrorContinue: boolean;
}

export type PlanPart = PlanText | PlanSkip | PlanInclude;

/** Bytes of a plan that no storage takes: it lies in one block, and larger ones there are none. */
const MOST = 4 << 20;
/** Bytes to begin with. */
const FEW = 256;
/** Parts of a stretch. Plans of no more are kept ready for use (a guess). */
const STRETCH = 256;

const GZIP = 1;
const KIND = 3;
const TEXT = 1;
const SKIP = 2;
const INCLUDE = 3;
const CONTINUE = 4;
const HAS_HOST = 8;
/** Most bytes of a number: 53 bits. */
const NUMBER = 8;
const CRC = 4;

/** A plan on its way: what has more statements than could be kept is given up as soon as that shows. */
export class PlanMaker {
  private readonly gzip: boolean;
  private out = Buffer.allocUnsafe(FEW);
  private at = 1;

  constructor(gzip: boolean) {
    this.gzip = gzip;
  }

  get isEmpty(): boolean {
    return this.at === 1;
  }

  get isTooLong(): boolean {
    return this.at > MOST;
  }

  add(part: PlanPart): void {
    if (part.kind === 'include') {
      const { host, url, onerrorContinue } = part;
      this.makeRoom(1 + 2 * NUMBER + (host ?? '').length + url.length);
      this.out[this.at++] = INCLUDE | (onerrorContinue ? CONTINUE : 0) | (host === null ? 0 : HAS_HOST);
      if (host !== null) this.text(host);
      this.text(url);
      return;
    }
    this.makeRoom(1 + 2 * NUMBER + CRC);
    this.out[this.at++] = part.kind === 'text' ? TEXT : SKIP;
    this.number(part.stored);
    if (part.kind === 'skip' || !this.gzip) return;
    this.number(part.plain);
    this.at = this.out.writeUInt32LE(part.crc >>> 0, this.at);
  }

  /** What is kept; to be copied before anything more is added. */
  bytes(): Buffer {
    this.out[0] = this.gzip ? GZIP : 0;
    return this.out.subarray(0, this.at);
  }

  private makeRoom(bytes: number): void {
    if (this.at + bytes <= this.out.length) return;
    const more = Buffer.allocUnsafe(Math.max(2 * this.out.length, this.at + bytes));
    this.out.copy(more, 0, 0, this.at);
    this.out = more;
  }

  private number(value: number): void {
    let left = value;
    while (left > 127) {
      this.out[this.at++] = 128 | (left % 128);
      left = Math.floor(left / 128);
    }
    this.out[this.at++] = left;
  }

  private text(text: string): void {
    this.number(text.length);
    this.at += this.out.write(text, this.at, 'latin1');
  }
}

/** Parts that follow one another, and where the next stretch begins. */
interface PlanStretch {
  readonly parts: readonly PlanPart[];
  readonly end: number;
}

/** A plan that is kept. */
export class PagePlan {
  /** Whether the stored page is packed. */
  readonly gzip: boolean;
  /** All its parts are in the first stretch, and nothing of the bytes is needed any more. */
  readonly isShort: boolean;
  readonly first: PlanStretch;
  private readonly bytes: Buffer;

  /** @param bytes what a PlanMaker made; of a plan that is not short they stay as they are while it is used */
  constructor(bytes: Buffer) {
    this.gzip = ((bytes[0] as number) & GZIP) !== 0;
    this.first = new PlanReader(bytes, 1, this.gzip).stretch();
    this.isShort = this.first.end === bytes.length;
    this.bytes = this.isShort ? NOTHING : bytes;
  }

  /** The one behind another; null where that is the last. */
  next({ end }: PlanStretch): PlanStretch | null {
    return end >= this.bytes.length ? null : new PlanReader(this.bytes, end, this.gzip).stretch();
  }
}

const NOTHING = Buffer.alloc(0);

/** A place in a plan. */
export class PlanCursor {
  private readonly plan: PagePlan;
  private stretch: PlanStretch;
  private at = 0;

  constructor(plan: PagePlan) {
    this.plan = plan;
    this.stretch = plan.first;
  }

  /** The part that is there, of which it goes behind; undefined at the end. */
  next(): PlanPart | undefined {
    if (this.at === this.stretch.parts.length && !this.toNextStretch()) return undefined;
    return this.stretch.parts[this.at++];
  }

  /** The next include, null when there was none in a whole stretch and there is more to look through, undefined at the
   * end. */
  nextInclude(): PlanInclude | null | undefined {
    if (this.at === this.stretch.parts.length && !this.toNextStretch()) return undefined;
    const { parts } = this.stretch;
    while (this.at < parts.length) {
      const part = parts[this.at++] as PlanPart;
      if (part.kind === 'include') return part;
    }
    return null;
  }

  /** Goes where another one in the same plan is. */
  goTo(other: PlanCursor): void {
    this.stretch = other.stretch;
    this.at = other.at;
  }

  private toNextStretch(): boolean {
    const next = this.plan.next(this.stretch);
    if (next === null) return false;
    this.stretch = next;
    this.at = 0;
    return true;
  }
}

class PlanReader {
  private readonly bytes: Buffer;
  private readonly gzip: boolean;
  private at: number;

  constructor(bytes: Buffer, at: number, gzip: boolean) {
    this.bytes = bytes;
    this.at = at;
    this.gzip = gzip;
  }

  stretch(): PlanStretch {
    const parts: PlanPart[] = [];
    while (this.at < this.bytes.length && parts.length < STRETCH) parts.push(this.part());
    return { parts, end: this.at };
  }

  private part(): PlanPart {
    const first = this.bytes[this.at++] as number;
    if ((first & KIND) === INCLUDE) {
      const host = (first & HAS_HOST) === 0 ? null : this.text();
      return { kind: 'include', host, url: this.text(), onerrorContinue: (first & CONTINUE) !== 0 };
    }
    const stored = this.number();
    if (first === SKIP) return { kind: 'skip', stored };
    if (!this.gzip) return { kind: 'text', stored, plain: stored, crc: 0 };
    const plain = this.number();
    this.at += CRC;
    return { kind: 'text', stored, plain, crc: this.bytes.readUInt32LE(this.at - CRC) };
  }

  private number(): number {
    let byte = this.bytes[this.at++] as number;
    let value = byte & 127;
    for (let unit = 128; byte > 127; unit *= 128) {
      byte = this.bytes[this.at++] as number;
      value += (byte & 127) * unit;
    }
    return value;
  }

  private text(): string {
    const length = this.number();
    this.at += length;
    return this.bytes.toString('latin1', this.at - length, this.at);
  }
}
