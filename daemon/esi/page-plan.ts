// The delivery plan of a page with edge-side includes: which stored bytes are delivered, and where fragments are
// inserted. It is made once, when the page is fetched, and stored beside the body as bytes; a delivery does not parse
// the page.
//
// Encoding: one byte of flags, then for each part one byte of kind and flags, its numbers (seven bits a byte, lowest
// first) and its texts (Latin-1, length-prefixed). Memory use does not grow with the number of parts: a plan is
// encoded part by part, and decoded in stretches.

/** Stored bytes that are delivered. In a compressed page each text was compressed on its own, and its CRC is known. */
export interface PlanText {
  readonly kind: 'text';
  /** Stored bytes. In a compressed page they are deflate data, and `plain` and `crc` describe the uncompressed
   * bytes. */
  readonly stored: number;
  readonly plain: number;
  readonly crc: number;
}

/** Stored bytes that are dropped. */
export interface PlanSkip {
  readonly kind: 'skip';
  readonly stored: number;
}

export interface PlanInclude {
  readonly kind: 'include';
  /** Of the fragment's request; null for the host of the page. */
  readonly host: string | null;
  readonly url: string;
  /** Whether delivery of the page continues when the fragment fails. */
  readonly onerrorContinue: boolean;
}

export type PlanPart = PlanText | PlanSkip | PlanInclude;

/** Largest plan in bytes: a plan must fit in one storage block. */
const MOST = 4 << 20;
/** Initial buffer size in bytes. */
const FEW = 256;
/** Parts of a stretch. Plans with no more parts than this stay decoded (a guess). */
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

/** A plan being encoded. A page with more statements than can be stored is abandoned as soon as that is known. */
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

  /** The encoded bytes; the caller must copy them before it adds more. */
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

/** Consecutive parts, and the position of the next stretch. */
interface PlanStretch {
  readonly parts: readonly PlanPart[];
  readonly end: number;
}

/** A stored plan. */
export class PagePlan {
  /** Whether the stored page is compressed. */
  readonly gzip: boolean;
  /** All parts are in the first stretch, and the bytes are no longer needed. */
  readonly isShort: boolean;
  readonly first: PlanStretch;
  private readonly bytes: Buffer;

  /** @param bytes the output of a PlanMaker; for a plan that is not short they must not change while it is used */
  constructor(bytes: Buffer) {
    this.gzip = ((bytes[0] as number) & GZIP) !== 0;
    this.first = new PlanReader(bytes, 1, this.gzip).stretch();
    this.isShort = this.first.end === bytes.length;
    this.bytes = this.isShort ? NOTHING : bytes;
  }

  /** The stretch after another; null after the last. */
  next({ end }: PlanStretch): PlanStretch | null {
    return end >= this.bytes.length ? null : new PlanReader(this.bytes, end, this.gzip).stretch();
  }
}

const NOTHING = Buffer.alloc(0);

/** A cursor in a plan. */
export class PlanCursor {
  private readonly plan: PagePlan;
  private stretch: PlanStretch;
  private at = 0;

  constructor(plan: PagePlan) {
    this.plan = plan;
    this.stretch = plan.first;
  }

  /** Returns the part at the cursor and advances past it; undefined at the end. */
  next(): PlanPart | undefined {
    if (this.at === this.stretch.parts.length && !this.toNextStretch()) return undefined;
    return this.stretch.parts[this.at++];
  }

  /** The next include; null when a whole stretch contained none and the search must continue; undefined at the end. */
  nextInclude(): PlanInclude | null | undefined {
    if (this.at === this.stretch.parts.length && !this.toNextStretch()) return undefined;
    const { parts } = this.stretch;
    while (this.at < parts.length) {
      const part = parts[this.at++] as PlanPart;
      if (part.kind === 'include') return part;
    }
    return null;
  }

  /** Moves to the position of another cursor of the same plan. */
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
