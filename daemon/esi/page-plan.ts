// What is to be done with the stored bytes of a page of edge-side includes: which of them go out, and what is included
// where. Made once, when the page is fetched, and kept beside its body as bytes; a delivery does not parse the page.
//
// The bytes: one of flags, then for each part its kind and its numbers (little endian, lengths of 48 bits) and texts
// (Latin-1, with their length before them).

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

export interface PagePlan {
  /** Whether the stored page is packed. */
  readonly gzip: boolean;
  readonly parts: readonly PlanPart[];
}

/** Bytes of a plan that no storage takes: it lies in one block, and larger ones there are none. */
const MOST = 4 << 20;

/** A plan on its way: what has more statements than could be kept is given up as soon as that shows. */
export class PlanMaker {
  readonly parts: PlanPart[] = [];
  private size = 1;

  add(part: PlanPart): void {
    this.parts.push(part);
    this.size += sizeOf(part);
  }

  get isTooLong(): boolean {
    return this.size > MOST;
  }
}

const GZIP = 1;
const TEXT = 1;
const SKIP = 2;
const INCLUDE = 3;
const CONTINUE = 1;
const HAS_HOST = 2;
const LENGTH = 6;

export function encodePlan({ gzip, parts }: PagePlan): Buffer {
  let size = 1;
  for (const part of parts) size += sizeOf(part);
  const out = Buffer.allocUnsafe(size);
  let at = out.writeUInt8(gzip ? GZIP : 0, 0);
  for (const part of parts) {
    if (part.kind === 'text') {
      at = out.writeUInt8(TEXT, at);
      at = out.writeUIntLE(part.stored, at, LENGTH);
      at = out.writeUIntLE(part.plain, at, LENGTH);
      at = out.writeUInt32LE(part.crc >>> 0, at);
    } else if (part.kind === 'skip') {
      at = out.writeUInt8(SKIP, at);
      at = out.writeUIntLE(part.stored, at, LENGTH);
    } else {
      const { host, url, onerrorContinue } = part;
      at = out.writeUInt8(INCLUDE, at);
      at = out.writeUInt8((onerrorContinue ? CONTINUE : 0) | (host === null ? 0 : HAS_HOST), at);
      for (const text of [host ?? '', url]) {
        at = out.writeUInt32LE(text.length, at);
        at += out.write(text, at, 'latin1');
      }
    }
  }
  return out;
}

function sizeOf(part: PlanPart): number {
  if (part.kind === 'text') return 1 + 2 * LENGTH + 4;
  if (part.kind === 'skip') return 1 + LENGTH;
  return 2 + 4 + (part.host ?? '').length + 4 + part.url.length;
}

/** @param bytes what encodePlan() made */
export function decodePlan(bytes: Buffer): PagePlan {
  const parts: PlanPart[] = [];
  let at = 1;
  const text = (): string => {
    const end = at + 4 + bytes.readUInt32LE(at);
    const found = bytes.toString('latin1', at + 4, end);
    at = end;
    return found;
  };
  while (at < bytes.length) {
    const kind = bytes[at++];
    if (kind === TEXT) {
      const stored = bytes.readUIntLE(at, LENGTH);
      const plain = bytes.readUIntLE(at + LENGTH, LENGTH);
      const crc = bytes.readUInt32LE(at + 2 * LENGTH);
      parts.push({ kind: 'text', stored, plain, crc });
      at += 2 * LENGTH + 4;
    } else if (kind === SKIP) {
      parts.push({ kind: 'skip', stored: bytes.readUIntLE(at, LENGTH) });
      at += LENGTH;
    } else {
      const flags = bytes[at++] as number;
      const host = text();
      const url = text();
      const onerrorContinue = (flags & CONTINUE) !== 0;
      parts.push({ kind: 'include', host: (flags & HAS_HOST) === 0 ? null : host, url, onerrorContinue });
    }
  }
  return { gzip: ((bytes[0] as number) & GZIP) !== 0, parts };
}
