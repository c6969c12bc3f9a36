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
import { PackedPieces } from './deflate-places.ts';
import { NO_PARTS, parserOf, refuseLong, stretches } from './esi-stretches.ts';
import type { FetchedBody, FetchFilter, Outlet, Processor } from './filter.ts';
import { isGzip } from './gunzip.ts';
import { varyOnEncoding } from './gzip.ts';

/** Bytes that are packed on the thread that serves: with more, another one is worth the way there. */
const AT_ONCE = 16 * 1024;
/** What is done there in a row before another thread packs a part and the event loop turns, about ten milliseconds: so
 * many parts that are not packed, each of which takes some five microseconds. One that is packed takes so many times as
 * much, however short it is. */
const IN_A_ROW = 2048;
const PACKED = 16;
/** Bytes that are gathered before they are packed: a part that is cut for it packs a little worse. */
const GATHERED = 128 * 1024;

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

/** Bytes of the document that are packed together, or an include between such. */
type Job = { readonly bytes: Buffer; readonly isText: boolean } | PlanInclude;

class EsiPacker implements Processor {
  private readonly outlet: Outlet;
  private readonly body: FetchedBody;
  private readonly parser: EsiParser;
  private readonly plan = new PlanMaker();
  private readonly sum = new GzipSum();
  private readonly places: PackedPieces | null;
  /** The document from `kept` on, of which the parser has not said what it is. */
  private pieces: Buffer[] = [];
  private gathered = 0;
  private kept = 0;
  /** What is to be done next, the first last. */
  private jobs: Job[] = [];
  private taken = 0;
  private made = 0;
  private isPage = false;
  private last = false;
  /** What was done without a wait. */
  private inARow = 0;
  /** Another thread packs, or the outlet is not done. */
  private waits = false;
  private closed = false;

  constructor(outlet: Outlet, body: FetchedBody) {
    this.outlet = outlet;
    this.body = body;
    this.parser = parserOf(body);
    this.places = body.log.wants(Tag.Gzip) ? new PackedPieces() : null;
  }

  data(bytes: Buffer, last: boolean): boolean {
    this.parser.feed(bytes);
    this.taken += bytes.length;
    this.gathered += bytes.length;
    // Whoever gave them may use their memory again.
    if (bytes.length > 0) this.pieces.push(Buffer.from(bytes));
    if (!last && this.gathered < GATHERED) return true;
    this.last = last;
    if (last) this.isPage = this.parser.end();
    else this.parser.settleAll();
    this.schedule(this.parser.take(), last ? this.taken : this.parser.settledTo);
    if (this.plan.parts.length === 0) this.emit(GZIP_HEAD, { kind: 'skip', stored: GZIP_HEAD.length });
    return this.run();
  }

  /** Puts the document up to a place among the jobs. */
  private schedule(found: readonly EsiPart[], to: number): void {
    const document = Buffer.concat(this.pieces);
    const { kept } = this;
    for (const stretch of stretches(found, kept, to)) {
      if ('kind' in stretch) this.jobs.push(stretch);
      else {
        const { from, to: end, isText } = stretch;
        this.jobs.push({ bytes: document.subarray(from - kept, end - kept), isText });
      }
    }
    this.jobs.reverse();
    this.pieces = to < this.taken ? [document.subarray(to - kept)] : [];
    this.gathered = this.taken - to;
    this.kept = to;
  }

  /** Does what is to be done; true when more is wanted, false at a wait or the end. */
  private run(): boolean {
    while (!this.waits && !this.closed) {
      const job = this.jobs.pop();
      if (job === undefined) {
        if (this.last) this.finish();
        return !this.last;
      }
      if ('kind' in job) this.plan.add(job);
      else this.pack(job);
      if (this.plan.isTooLong) refuseLong(this.body, this.outlet);
    }
    return false;
  }

  private pack({ bytes, isText }: { bytes: Buffer; isText: boolean }): void {
    const { gzip_level, gzip_memlevel } = this.body.params;
    const packed = (made: Buffer): void => {
      const crc = crc32(bytes);
      const stored = made.length;
      this.sum.add({ crc, length: bytes.length });
      this.emit(made, isText ? { kind: 'text', stored, plain: bytes.length, crc } : { kind: 'skip', stored });
    };
    this.inARow += isShortPart(bytes) ? 1 : PACKED;
    if (bytes.length <= AT_ONCE && this.inARow <= IN_A_ROW) {
      packed(packPart(bytes, gzip_level, gzip_memlevel));
      return;
    }
    this.inARow = 0;
    this.waits = true;
    deflateRaw(bytes, partOptions(gzip_level, gzip_memlevel), (_error, made) => {
      if (this.closed) return;
      this.waits = false;
      packed(made);
      this.goOn();
    });
  }

  private goOn(): void {
    if (this.run()) this.outlet.ready();
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
    if (this.isPage) body.plan = { gzip: true, parts: this.plan.parts };
    this.outlet.data(trailer, true);
  }

  resume(): void {
    this.waits = false;
    this.goOn();
  }

  close(): void {
    this.closed = true;
  }

  report(log: MessageLog): void {
    if (this.places !== null) log.put(Tag.Gzip, `G F E ${this.taken} ${this.made} ${this.places.places()}`);
  }
}
