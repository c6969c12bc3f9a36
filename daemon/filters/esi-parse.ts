// esi and esi_gzip on the way into the store: the body is parsed for edge-side includes as it comes, and what is found is
// kept beside it as a plan. esi stores the bytes as they are. esi_gzip packs every part that goes out on its own, so
// that a delivery to clients that take gzip has nothing to pack: the parts and the packed fragments between them become
// one stream. Bytes that do not go out are stored all the same: whoever asks for the page as it is gets it whole.

import { crc32, deflateRaw } from 'node:zlib';
import { Tag } from '../../protocol/tables/tags.ts';
import { EsiParser, type EsiPart } from '../esi/esi-parser.ts';
import { GZIP_HEAD, GzipSum, packPart, partOptions } from '../esi/gzip-stitch.ts';
import type { PlanPart } from '../esi/page-plan.ts';
import { weakenEtag } from '../http1/conditional.ts';
import type { MessageLog } from '../http1/message.ts';
import { PackedPieces } from './deflate-places.ts';
import type { FetchedBody, FetchFilter, Outlet, Processor } from './filter.ts';
import { isGzip } from './gunzip.ts';
import { varyOnEncoding } from './gzip.ts';

/** Bytes that are packed on the thread that serves: with more, another one is worth the way there. */
const AT_ONCE = 16 * 1024;

/** Whether a page is stored packed: as it came, or as the program wants it. */
function stayPacked(...[head, { doGzip, doGunzip }, params]: Parameters<FetchFilter['wanted']>): boolean {
  const supported = params.http_gzip_support !== 0;
  if (isGzip(head)) return !(doGunzip && supported);
  return doGzip && supported && !head.has('content-encoding');
}

export const ESI_FETCHED: FetchFilter = {
  name: 'esi',
  side: 'fetch',
  streams: false,
  wanted: (head, wishes, params) => wishes.doEsi && !stayPacked(head, wishes, params),
  open: (body) => (outlet) => new EsiTaker(outlet, body),
};

export const ESI_GZIP: FetchFilter = {
  name: 'esi_gzip',
  side: 'fetch',
  streams: false,
  wanted: (head, wishes, params) => wishes.doEsi && stayPacked(head, wishes, params),
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

/** The parser of a fetched page; its complaints are logged and counted. */
function parserOf({ request, esiFeatures, log, stats }: FetchedBody): EsiParser {
  return new EsiParser(esiFeatures, request.url, {
    error: (text) => {
      stats.esi_errors++;
      log.put(Tag.ESI_xmlerror, `ERR ${text}`);
    },
    warning: (text) => {
      stats.esi_warnings++;
      log.put(Tag.ESI_xmlerror, `WARN ${text}`);
    },
  });
}

/** Calls with each stretch of the document, in order, and the includes between them. */
function walk(
  parts: readonly EsiPart[],
  from: number,
  to: number,
  stretch: (from: number, to: number, isText: boolean) => void,
  include: (part: PlanPart) => void,
): void {
  let at = from;
  for (const part of parts) {
    if (part.kind === 'include') {
      include(part);
      continue;
    }
    if (part.from > at) stretch(at, part.from, false);
    stretch(part.from, part.to, true);
    at = part.to;
  }
  if (to > at) stretch(at, to, false);
}

class EsiTaker implements Processor {
  private readonly outlet: Outlet;
  private readonly body: FetchedBody;
  private readonly parser: EsiParser;
  private taken = 0;

  constructor(outlet: Outlet, body: FetchedBody) {
    this.outlet = outlet;
    this.body = body;
    this.parser = parserOf(body);
  }

  data(bytes: Buffer, last: boolean): boolean {
    this.parser.feed(bytes);
    this.taken += bytes.length;
    if (last) this.plan();
    return this.outlet.data(bytes, last);
  }

  private plan(): void {
    const found = this.parser.end();
    if (found === null) return;
    const parts: PlanPart[] = [];
    walk(
      found,
      0,
      this.taken,
      (from, to, isText) =>
        parts.push(
          isText
            ? { kind: 'text', stored: to - from, plain: to - from, crc: 0 }
            : { kind: 'skip', stored: to - from },
        ),
      (part) => parts.push(part),
    );
    this.body.plan = { gzip: false, parts };
  }

  resume(): void {
    this.outlet.ready();
  }

  close(): void {}

  report(): void {}
}

/** Bytes of the document that are packed together, or an include between such. */
type Job = { bytes: Buffer; isText: boolean } | { part: PlanPart };

class EsiPacker implements Processor {
  private readonly outlet: Outlet;
  private readonly body: FetchedBody;
  private readonly parser: EsiParser;
  private readonly pieces: Buffer[] = [];
  private readonly jobs: Job[] = [];
  private readonly parts: PlanPart[] = [];
  private readonly sum = new GzipSum();
  private readonly places: PackedPieces | null;
  private taken = 0;
  private made = 0;
  private isPage = false;
  private ending = false;
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
    // Whoever gave them may use their memory again.
    if (bytes.length > 0) this.pieces.push(Buffer.from(bytes));
    if (!last) return true;
    const found = this.parser.end();
    this.isPage = found !== null;
    const document = Buffer.concat(this.pieces);
    this.pieces.length = 0;
    walk(
      found ?? [],
      0,
      document.length,
      (from, to, isText) => this.jobs.push({ bytes: document.subarray(from, to), isText }),
      (part) => this.jobs.push({ part }),
    );
    this.jobs.reverse();
    this.emit(GZIP_HEAD, { kind: 'skip', stored: GZIP_HEAD.length });
    this.run();
    return false;
  }

  /** Does what is to be done, up to the first wait. */
  private run(): void {
    while (!this.waits && !this.closed) {
      const job = this.jobs.pop();
      if (job === undefined) {
        this.finish();
        return;
      }
      if ('part' in job) this.parts.push(job.part);
      else this.pack(job);
    }
  }

  private pack({ bytes, isText }: { bytes: Buffer; isText: boolean }): void {
    const { gzip_level: level, gzip_memlevel: memLevel } = this.body.params;
    const packed = (made: Buffer, crc: number): void => {
      this.sum.add({ crc, length: bytes.length });
      this.emit(
        made,
        isText
          ? { kind: 'text', stored: made.length, plain: bytes.length, crc }
          : { kind: 'skip', stored: made.length },
      );
    };
    if (bytes.length <= AT_ONCE) {
      packed(packPart(bytes, level, memLevel), crc32(bytes));
      return;
    }
    this.waits = true;
    deflateRaw(bytes, partOptions(level, memLevel), (_error, made) => {
      if (this.closed) return;
      this.waits = false;
      packed(made, crc32(bytes));
      this.run();
    });
  }

  private emit(bytes: Buffer, part: PlanPart): void {
    this.parts.push(part);
    this.made += bytes.length;
    this.places?.add(bytes);
    if (!this.outlet.data(bytes, false)) this.waits = true;
  }

  private finish(): void {
    if (this.ending) return;
    this.ending = true;
    const { body } = this;
    const trailer = this.sum.trailer();
    this.parts.push({ kind: 'skip', stored: trailer.length });
    this.made += trailer.length;
    this.places?.add(trailer);
    body.unpacked = this.taken;
    if (this.isPage) body.plan = { gzip: true, parts: this.parts };
    this.outlet.data(trailer, true);
  }

  resume(): void {
    this.waits = false;
    this.run();
  }

  close(): void {
    this.closed = true;
  }

  report(log: MessageLog): void {
    if (this.places !== null) log.put(Tag.Gzip, `G F E ${this.taken} ${this.made} ${this.places.places()}`);
  }
}
