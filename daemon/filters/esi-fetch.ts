// The fetch filters of edge-side includes. `esi` parses a body as it comes and keeps what it finds beside it as a plan; the
// bytes are stored as they are, so that a request for the page as it is gets it whole. `esi_gzip` also packs every part
// that goes out on its own, so that a delivery to clients that take gzip has nothing to pack: the parts and the packed
// fragments between them become one stream. What does not go out is packed all the same: together it is the page as it
// is. A piece with very many statements is parsed over several turns of the event loop.

import { crc32, deflateRaw } from 'node:zlib';
import { Tag } from '../../protocol/tables/tags.ts';
import { EsiParser, type EsiPart, type IncludePart } from '../esi/esi-parser.ts';
import {
  GZIP_HEAD,
  GzipSum,
  isShortPart,
  LAST_BLOCK_BITS,
  partOptions,
  TRAILER,
} from '../esi/gzip-stitch.ts';
import { type PlanInclude, PlanMaker, type PlanPart } from '../esi/page-plan.ts';
import type { Room, Sink } from '../flow/flow.ts';
import { buffersOf, copyOf, NOTHING, own, type Piece } from '../flow/piece.ts';
import { weakenEtag } from '../http1/conditional.ts';
import type { MessageLog } from '../http1/message.ts';
import { turns } from '../turns/turns.ts';
import { type FetchedBody, type FetchFilter, FilterFlow } from './filter.ts';
import { isGzip, varyOnEncoding } from './gzip.ts';
import { packInTurn } from './part-packer.ts';

/** Of half a page nobody can say what it includes and what is to be removed. */
const NO_PARTS = 'Attempted ESI on partial (206) response';

/** Bytes that are parsed at a time, before it is asked whether this turn has time for more: a hundred statements, which
 * take a tenth of a millisecond, and ten times as much before the parser's code is compiled. */
const PARSED = 2048;

/** The parser of a fetched page; its complaints are logged and counted. */
function parserOf({ request, esiFeatures, esiColon, log, stats }: FetchedBody): EsiParser {
  const put = (text: string): void =>
    log.put(Tag.ESI_xmlerror, esiColon ? text.replace(/^(ERR|WARN) /, '$1: ') : text);
  return new EsiParser(esiFeatures, request.url, {
    error: (text) => {
      stats.esi_errors++;
      put(text);
    },
    warning: (text) => {
      stats.esi_warnings++;
      put(text);
    },
    note: put,
  });
}

const TOO_LONG = 'The page has more ESI statements than a plan can hold';

/** A stretch of the document that goes out or does not. */
type Stretch = { readonly from: number; readonly to: number; readonly isText: boolean };

/** The includes and stretches of bytes between two places in the document. */
function* stretches(parts: readonly EsiPart[], from: number, to: number): Generator<Stretch | IncludePart> {
  let at = from;
  for (const part of parts) {
    if (part.kind === 'include') {
      yield part;
      continue;
    }
    if (part.from > at) yield { from: at, to: part.from, isText: false };
    yield { from: part.from, to: part.to, isText: true };
    at = part.to;
  }
  if (to > at) yield { from: at, to, isText: false };
}

export const ESI_FETCHED: FetchFilter = {
  name: 'esi',
  side: 'fetch',
  streams: false,
  refusesParts: NO_PARTS,
  wanted: (head, wishes, params) => wishes.doEsi && !staysPacked(head, wishes, params),
  open: (body) => (next) => new EsiParseFlow(next, body),
};

class EsiParseFlow extends FilterFlow {
  private readonly body: FetchedBody;
  private readonly parser: EsiParser;
  private readonly plan = new PlanMaker(false);
  /** The piece taken last, held while its parsing waits for a turn, and how many of its bytes are parsed. */
  private input = NOTHING;
  private at = 0;
  private last = false;
  private taken = 0;
  /** Up to where the plan goes. */
  private planned = 0;
  private readonly proceed = (): void => {
    const { input } = this;
    if (!this.closed && this.read(false) === 'more' && !this.last) this.wantMore();
    input.release();
  };

  constructor(next: Sink, body: FetchedBody) {
    super(next);
    this.body = body;
    this.parser = parserOf(body);
  }

  protected take(piece: Piece, isLast: boolean): Room {
    this.input = piece;
    this.at = 0;
    this.last = isLast;
    return this.read(true);
  }

  protected resume(): void {
    this.wantMore();
  }

  /** Parses on, and passes on what is parsed. */
  private read(inTake: boolean): Room {
    const { input, parser, last } = this;
    const bytes = buffersOf(input)[0] ?? NO_BYTES;
    while (this.at < bytes.length) {
      const piece = bytes.subarray(this.at, this.at + PARSED);
      parser.feed(piece);
      this.at += piece.length;
      this.taken += piece.length;
      this.add(parser.settledTo);
      if (this.plan.isTooLong) break;
      turns.tookLong();
      if (!turns.mayContinue()) {
        input.hold();
        turns.later(this.proceed);
        return 'wait';
      }
    }
    const isPage = last && parser.end();
    if (last) this.add(this.taken);
    if (this.plan.isTooLong) {
      this.body.log.put(Tag.FetchError, TOO_LONG);
      this.fail();
      return 'wait';
    }
    if (isPage) this.body.plan = this.plan.bytes();
    return last ? this.giveLast(input, inTake) : this.give(input);
  }

  /** Puts what was found up to a place into the plan. */
  private add(to: number): void {
    for (const found of stretches(this.parser.take(), this.planned, to)) {
      if ('kind' in found) this.plan.add(found);
      else {
        const stored = found.to - found.from;
        this.plan.add(
          found.isText ? { kind: 'text', stored, plain: stored, crc: 0 } : { kind: 'skip', stored },
        );
      }
    }
    this.planned = to;
  }
}

/** Bytes that are packed on the thread that serves: with more, another one is worth the way there. */
const PACKED_AT_ONCE = 16 * 1024;
/** Bytes that are gathered before they are packed: a part that is cut for it packs a little worse. */
const GATHERED = 128 * 1024;

const NO_BYTES: Buffer = Buffer.alloc(0);

/** Whether a page is stored packed: as it came, or as the program wants it. */
function staysPacked(...[head, wishes, params]: Parameters<FetchFilter['wanted']>): boolean {
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
    return (next) => {
      body.stats.n_gzip++;
      return new EsiPackFlow(next, body);
    };
  },
};

class EsiPackFlow extends FilterFlow {
  private readonly body: FetchedBody;
  private readonly parser: EsiParser;
  private readonly plan = new PlanMaker(true);
  private readonly sum = new GzipSum();
  /** A copy of the bytes taken last, and how many of them are parsed. */
  private input = NO_BYTES;
  private at = 0;
  /** The document from `kept` on, which the parser has not classified yet. */
  private pieces: Buffer[] = [];
  private gathered = 0;
  private kept = 0;
  /** Work on `document`, which begins at `from`; null while there is none. */
  private jobs: Iterator<Stretch | PlanInclude> | null = null;
  private document = NO_BYTES;
  private from = 0;
  private taken = 0;
  private made = 0;
  private isPage = false;
  private last = false;
  private isWhole = false;
  /** Another thread packs, the next sink has no room, or others have their turn. */
  private waits = false;
  private readonly proceed = (): void => {
    if (this.closed) return;
    this.waits = false;
    if ((this.jobs === null ? this.read(false) : this.run(false)) === 'more') this.wantMore();
  };

  constructor(next: Sink, body: FetchedBody) {
    super(next);
    this.body = body;
    this.parser = parserOf(body);
  }

  protected take(piece: Piece, isLast: boolean): Room {
    this.input = copyOf(piece);
    this.at = 0;
    this.last = isLast;
    if (piece.length > 0) this.pieces.push(this.input);
    return this.read(true);
  }

  protected resume(): void {
    this.proceed();
  }

  override report(log: MessageLog): void {
    if (!log.wants(Tag.Gzip)) return;
    // The trailer has the last block of the stream that was put together here.
    const last = (this.made - TRAILER) * 8;
    const places = this.isWhole ? `${GZIP_HEAD.length * 8} ${last} ${last + LAST_BLOCK_BITS}` : '0 0 0';
    log.put(Tag.Gzip, `G F E ${this.taken} ${this.made} ${places}`);
  }

  /** Parses on, and packs what has been gathered. */
  private read(inTake: boolean): Room {
    const { input, parser, last } = this;
    while (this.at < input.length) {
      const piece = input.subarray(this.at, this.at + PARSED);
      parser.feed(piece);
      this.at += piece.length;
      this.taken += piece.length;
      this.gathered += piece.length;
      turns.tookLong();
      if (!this.hasTime()) return 'wait';
    }
    if (!last && this.gathered < GATHERED) return 'more';
    if (last) this.isPage = parser.end();
    else parser.settleAll();
    this.schedule(parser.take(), last ? this.taken : parser.settledTo);
    if (this.plan.isEmpty) this.emit(GZIP_HEAD, { kind: 'skip', stored: GZIP_HEAD.length });
    return this.run(inTake);
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

  private run(inTake: boolean): Room {
    while (!this.waits && !this.closed) {
      const job = this.jobs?.next();
      if (job === undefined || job.done === true) {
        this.jobs = null;
        return this.last ? this.finish(inTake) : 'more';
      }
      const { value } = job;
      if ('kind' in value) this.plan.add(value);
      else this.pack(this.document.subarray(value.from - this.from, value.to - this.from), value.isText);
      if (this.plan.isTooLong) {
        this.body.log.put(Tag.FetchError, TOO_LONG);
        this.fail();
      } else if (!this.waits && !this.hasTime()) return 'wait';
    }
    return 'wait';
  }

  private hasTime(): boolean {
    if (turns.mayContinue()) return true;
    this.waits = true;
    turns.later(this.proceed);
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
    if (bytes.length <= PACKED_AT_ONCE) {
      packed(packInTurn(bytes, gzip_level, gzip_memlevel));
      if (!isShortPart(bytes)) turns.tookLong();
      return;
    }
    this.waits = true;
    deflateRaw(bytes, partOptions(gzip_level, gzip_memlevel), (_error, made) => {
      if (this.closed) return;
      this.waits = false;
      packed(made);
      if (!this.waits) this.proceed();
    });
  }

  private emit(bytes: Buffer, part: PlanPart): void {
    this.plan.add(part);
    this.made += bytes.length;
    if (this.give(own(bytes)) === 'wait') this.waits = true;
  }

  private finish(inTake: boolean): Room {
    const { body } = this;
    const trailer = this.sum.trailer();
    this.plan.add({ kind: 'skip', stored: trailer.length });
    this.made += trailer.length;
    this.isWhole = true;
    body.unpacked = this.taken;
    if (this.isPage) body.plan = this.plan.bytes();
    return this.giveLast(own(trailer), inTake);
  }
}
