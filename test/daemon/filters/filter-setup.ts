// Chains of filters as tests make them: from names, around a head, with the log and the counters at hand.

import type { Extension } from '../../../daemon/contract/extension.ts';
import { DeliveryChain, FetchChain } from '../../../daemon/filters/chain.ts';
import { namedDeliveryFilters, namedFetchFilters } from '../../../daemon/filters/filter-table.ts';
import { DISCARD, Flow, type Room, type Sink, type Source, type Writer } from '../../../daemon/flow/flow.ts';
import { copyOf, NOTHING, own, type Piece } from '../../../daemon/flow/piece.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { Tag } from '../../../protocol/tables/tags.ts';

type Fields = Record<string, string>;

export function message(base: number, fields: Fields): HttpMessage {
  const made = new HttpMessage(base);
  for (const [name, value] of Object.entries(fields)) made.set(name, value);
  return made;
}

function scope(head: HttpMessage, support: boolean) {
  const records: string[] = [];
  const put = (tag: number, text: string): void => {
    records.push(`${Object.entries(Tag).find(([, id]) => id === tag)?.[0]} ${text}`);
  };
  return {
    records,
    head,
    log: { put, putBytes: () => undefined, putConstant: () => undefined, wants: () => true },
    stats: { n_gzip: 0, n_gunzip: 0, n_test_gunzip: 0, esi_errors: 0, esi_warnings: 0 },
    request: message(Tag.BereqMethod, {}),
    esiColon: false,
    esiFeatures: {
      ...{ ignoreHttps: false, disableXmlCheck: false },
      ...{ ignoreOtherElements: false, removeBom: false },
    },
    params: {
      ...{ gzip_buffer: 32768, gzip_level: 6, gzip_memlevel: 8 },
      ...{ http_gzip_support: support ? 1 : 0, http_range_support: 1 },
      ...{ http_multi_range: 1, http_profile: 0 },
    },
  };
}

/** The chain of a fetched body with this head. */
export function fetchChain(names: string, fields: Fields, support = true, own: readonly Extension[] = []) {
  const made = scope(message(Tag.BerespMethod, fields), support);
  const list = namedFetchFilters(names, own);
  if ('unknown' in list) throw new Error(list.unknown);
  return { ...made, chain: new FetchChain(made, list) };
}

/** The chain of a 200 to a GET. */
export function deliveryChain(
  names: string,
  body: { gzipped?: boolean; length?: number; unpacked?: number; request?: Fields; head?: Fields },
  own: readonly Extension[] = [],
) {
  const head = message(Tag.RespMethod, body.head ?? {});
  head.status = 200;
  const request = message(Tag.ReqMethod, body.request ?? {});
  request.method = 'GET';
  const made = scope(head, true);
  const list = namedDeliveryFilters(names, own);
  if ('unknown' in list) throw new Error(list.unknown);
  const { gzipped = false, length = -1, unpacked = -1 } = body;
  return {
    ...made,
    chain: new DeliveryChain(
      { ...made, request, gzipped, length, unpacked, openPage: null, isSeekable: true },
      list,
    ),
  };
}

/** A chain, as far as a body that passes it needs one. */
export interface Passed {
  connect(sink: Sink, asserts?: boolean): Sink;
}

/** Both ends of a chain: gives it a body and takes what comes out; a slow one only after a while, and never more than one
 * piece until then. The contract is asserted at each edge. */
export class Taking implements Sink, Source {
  readonly gathers = 0;
  readonly got: Buffer[] = [];
  outcome: 'whole' | 'broken' | null = null;
  readonly done: Promise<this>;
  /** The most that was made to wait at one time. */
  most = 0;
  /** How often the chain has asked for more. */
  asked = 0;
  private waiting = false;
  private writer: Writer | null = null;
  private readonly slow: boolean;
  private readonly flow: Flow;
  private into: Sink = DISCARD;
  private settle: (self: this) => void = () => undefined;
  private taken: (() => void) | null = null;

  constructor(chain: Passed, slow = false) {
    this.slow = slow;
    this.done = new Promise((resolve) => {
      this.settle = resolve;
    });
    this.flow = new Flow(this, chain.connect(this, true), true, (reason) => {
      this.outcome = reason === null ? 'whole' : 'broken';
      this.settle(this);
    });
    this.flow.start();
  }

  start(sink: Sink): void {
    sink.connect(this.source);
    this.into = sink;
  }

  connect(writer: Writer): void {
    this.writer = writer;
  }

  write(piece: Piece): Room {
    this.take(piece);
    if (!this.slow) return 'more';
    this.waitATurn();
    return 'wait';
  }

  end(piece: Piece): Room {
    this.take(piece);
    if (!this.slow) return 'more';
    this.waitATurn();
    return 'wait';
  }

  flush(): void {}

  abort(): void {}

  room(): void {
    this.source.room();
  }

  stop(): void {}

  /** Ends it from outside. */
  cancel(): void {
    this.flow.cancel('left');
  }

  /** Gives the chain one piece. */
  put(bytes: Buffer, isLast = false): Room {
    const piece = bytes.length === 0 ? NOTHING : own(bytes);
    return isLast ? this.into.end(piece) : this.into.write(piece);
  }

  /** Gives the chain these pieces in its own time, then the end: with the last piece or by itself. */
  async give(pieces: Iterable<Buffer>, endApart: boolean): Promise<this> {
    const all = [...pieces];
    if (endApart || all.length === 0) all.push(Buffer.alloc(0));
    for (const [i, piece] of all.entries()) {
      if (this.outcome !== null) break;
      const ready = new Promise<void>((resolve) => {
        this.taken = resolve;
      });
      const isLast = i === all.length - 1;
      if (this.put(piece, isLast) === 'wait' && !isLast) await Promise.race([ready, this.done]);
    }
    return this.done;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.got);
  }

  private readonly source: Writer = {
    room: () => {
      this.asked++;
      const go = this.taken;
      this.taken = null;
      go?.();
    },
    stop: () => undefined,
  };

  private take(piece: Piece): void {
    if (this.outcome !== null) throw new Error('bytes after the end');
    if (this.waiting) throw new Error('bytes after a wait');
    if (piece.length > 0) this.got.push(copyOf(piece));
    this.most = Math.max(this.most, piece.length);
  }

  private waitATurn(): void {
    this.waiting = true;
    setImmediate(() => {
      this.waiting = false;
      if (this.outcome === null) this.writer?.room();
    });
  }
}
