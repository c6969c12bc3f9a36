// esi_gzip: parses a body as esi does, and packs every part of it that goes out on its own, so that a delivery to clients
// that take gzip has nothing to pack: the parts and the packed fragments between them become one stream. What does not go
// out is packed all the same: together it is the page as it is.

import { crc32, deflateRaw } from 'node:zlib';
import { Tag } from '../../protocol/tables/tags.ts';
import type { EsiParser, EsiPart } from '../esi/esi-parser.ts';
import { GZIP_HEAD, GzipSum, isShortPart, packPart, partOptions } from '../esi/gzip-stitch.ts';
import { type PlanInclude, PlanMaker, type PlanPart } from '../esi/page-plan.ts';
import { weakenEtag } from '../http1/conditional.ts';
import type { MessageLog } from '../http1/message.ts';
import { turns } from '../turns/turns.ts';
import { PackedPieces } from './deflate-places.ts';
import { NO_PARTS, PARSED, parserOf, refuseLong, type Stretch, stretches } from './esi-stretches.ts';
import type { FetchedBody, FetchFilter, Outlet, Processor } from './filter.ts';
import { isGzip } from './gunzip.ts';
import { varyOnEncoding } from './gzip.ts';

/** Bytes that are packed on the thread that serves: with more, another one is worth the way there. */
const AT_ONCE = 16 * 1024;
/** Bytes that are gathered before they are packed: a part that is cut for it packs a little worse. */
const GATHERED = 128 * 1024;

const NOTHING: Buffer = Buffer.alloc(0);

/** Whether a page is stored packed: as it came, or as the program wants it. */
export function staysPacked(...[head, wishes, params]: Parameters<FetchFilter['wanted']>): boolean {
  const supported = params.http_gzip_support !== 0;
  if (isGzip(head)) return !(wishes.doGunzip && supported);
  return wishes.doGzip && supported && !head.has('content-encoding');
}

export const ESI_GZIP: FetchFilter = {
  name: 'esi_gzip',
  side: 'fetch',
  streams: false,
  refusesParts: NO_PARTS,
  wanted: (head, wishes, params) => wishes.doEsi && staysPacked(head, wishes, params),
  open(body) {
    const { head } = body;
    head.unset('content-length');
    weakenEtag(head);
    head.set('Content-Encoding', 'gzip');
    varyOnEncoding(head);
    body.gzipped = true;
    body.recoded = true;
    return (outlet) => {
      body.stats.n_gzip++;
      return new EsiPacker(outlet, body);
    };
  },
};

class EsiPacker implements Processor {
  private readonly outlet: Outlet;
  private readonly body: FetchedBody;
  private readonly parser: EsiParser;
  private readonly plan = new PlanMaker(true);
  private readonly sum = new GzipSum();
  private readonly places: PackedPieces | null;
  /** The bytes taken last, and how many of them are parsed. */
  private input = NOTHING;
  private at = 0;
  /** The document from `kept` on, of which the parser has not said what it is. */
  private pieces: Buffer[] = [];
  private gathered = 0;
  private kept = 0;
  /** What is to be done of `document`, which begins at `from`; null while there is nothing. */
  private jobs: Iterator<Stretch | PlanInclude> | null = null;
  private document = NOTHING;
  private from = 0;
  private taken = 0;
  private made = 0;
  private isPage = false;
  private last = false;
  /** Another thread packs, the outlet is not done, or others have their turn. */
  private waits = false;
  private closed = false;
  private readonly goOn = (): void => {
    if (this.closed) return;
    this.waits = false;
    if (this.jobs === null ? this.read() : this.run()) this.outlet.ready();
  };

  constructor(outlet: Outlet, body: FetchedBody) {
    this.outlet = outlet;
    this.body = body;
    this.parser = parserOf(body);
    this.places = body.log.wants(Tag.Gzip) ? new PackedPieces() : null;
  }

  data(bytes: Buffer, last: boolean): boolean {
    this.input = bytes;
    this.at = 0;
    this.last = last;
    // Whoever gave them may use their memory again.
    if (bytes.length > 0) this.pieces.push(Buffer.from(bytes));
    return this.read();
  }

  /** Parses on, and packs what has been gathered. */
  private read(): boolean {
    const { input, parser, last } = this;
    while (this.at < input.length) {
      const piece = input.subarray(this.at, this.at + PARSED);
      parser.feed(piece);
      this.at += piece.length;
      this.taken += piece.length;
      this.gathered += piece.length;
      turns.tookLong();
      if (!this.mayGoOn()) return false;
    }
    if (!last && this.gathered < GATHERED) return true;
    if (last) this.isPage = parser.end();
    else parser.settleAll();
    this.schedule(parser.take(), last ? this.taken : parser.settledTo);
    if (this.plan.isEmpty) this.emit(GZIP_HEAD, { kind: 'skip', stored: GZIP_HEAD.length });
    return this.run();
  }

  /** Puts the document up to a place among the jobs. */
  private schedule(found: readonly EsiPart[], to: number): void {
    const document = Buffer.concat(this.pieces);
    this.document = document;
    this.from = this.kept;
    this.jobs = stretches(found, this.kept, to);
    this.pieces = to < this.taken ? [document.subarray(to - this.kept)] : [];
    this.gathered = this.taken - to;
    this.kept = to;
  }

  /** Does what is to be done; true when more is wanted, false at a wait or the end. */
  private run(): boolean {
    while (!this.waits && !this.closed) {
      const job = this.jobs?.next();
      if (job === undefined || job.done === true) {
        this.jobs = null;
        if (this.last) this.finish();
        return !this.last;
      }
      const { value } = job;
      if ('kind' in value) this.plan.add(value);
      else this.pack(this.document.subarray(value.from - this.from, value.to - this.from), value.isText);
      if (this.plan.isTooLong) refuseLong(this.body, this.outlet);
      else if (!this.waits && !this.mayGoOn()) return false;
    }
    return false;
  }

  private mayGoOn(): boolean {
    if (turns.mayGoOn()) return true;
    this.waits = true;
    turns.later(this.goOn);
    return false;
  }

  private pack(bytes: Buffer, isText: boolean): void {
    const { gzip_level, gzip_memlevel } = this.body.params;
    const packed = (made: Buffer): void => {
      const crc = crc32(bytes);
      const stored = made.length;
      this.sum.add({ crc, length: bytes.length });
      this.emit(made, isText ? { kind: 'text', stored, plain: bytes.length, crc } : { kind: 'skip', stored });
    };
    if (bytes.length <= AT_ONCE) {
      packed(packPart(bytes, gzip_level, gzip_memlevel));
      if (!isShortPart(bytes)) turns.tookLong();
      return;
    }
    this.waits = true;
    deflateRaw(bytes, partOptions(gzip_level, gzip_memlevel), (_error, made) => {
      if (this.closed) return;
      this.waits = false;
      packed(made);
      if (!this.waits) this.goOn();
    });
  }

  private emit(bytes: Buffer, part: PlanPart): void {
    this.plan.add(part);
    this.made += bytes.length;
    this.places?.add(bytes);
    if (!this.outlet.data(bytes, false)) this.waits = true;
  }

  private finish(): void {
    const { body } = this;
    const trailer = this.sum.trailer();
    this.plan.add({ kind: 'skip', stored: trailer.length });
    this.made += trailer.length;
    this.places?.add(trailer);
    body.unpacked = this.taken;
    if (this.isPage) body.plan = this.plan.bytes();
    this.outlet.data(trailer, true);
  }

  resume(): void {
    this.goOn();
  }

  close(): void {
    this.closed = true;
  }

  report(log: MessageLog): void {
    if (this.places !== null) log.put(Tag.Gzip, `G F E ${this.taken} ${this.made} ${this.places.places()}`);
  }
}
