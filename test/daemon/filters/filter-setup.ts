// Chains of filters as tests make them: from names, around a head, with the log and the counters at hand.

import type { Extension } from '../../../daemon/contract/extension.ts';
import { DeliveryChain, FetchChain } from '../../../daemon/filters/chain.ts';
import type { Outlet } from '../../../daemon/filters/filter.ts';
import { namedDeliveryFilters, namedFetchFilters } from '../../../daemon/filters/filter-table.ts';
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
    esiFeatures: {
      ...{ ignoreHttps: false, disableXmlCheck: false },
      ...{ ignoreOtherElements: false, removeBom: false },
    },
    params: {
      ...{ gzip_buffer: 32768, gzip_level: 6, gzip_memlevel: 8 },
      ...{ http_gzip_support: support ? 1 : 0, http_range_support: 1 },
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
    chain: new DeliveryChain({ ...made, request, gzipped, length, unpacked, openPage: null }, list),
  };
}

/** Takes what comes out of a chain; a slow one only after a while, and never more than one piece until then. */
export class Taking implements Outlet {
  readonly got: Buffer[] = [];
  outcome: 'whole' | 'broken' | null = null;
  readonly done: Promise<this>;
  /** The most that was made to wait at one time. */
  most = 0;
  private waiting = false;
  private readonly chain: { resume(): void; close(): void; data(b: Buffer, last: boolean): boolean };
  private readonly slow: boolean;
  private settle: (self: this) => void = () => undefined;
  private taken: (() => void) | null = null;

  constructor(chain: Taking['chain'] & { connect(owner: Outlet): void }, slow = false) {
    this.chain = chain;
    this.slow = slow;
    this.done = new Promise((resolve) => {
      this.settle = resolve;
    });
    chain.connect(this);
  }

  data(bytes: Buffer, last: boolean): boolean {
    if (this.outcome !== null) throw new Error('bytes after the end');
    if (this.waiting && !(last && bytes.length === 0)) throw new Error('bytes after a refusal');
    this.got.push(Buffer.from(bytes));
    this.most = Math.max(this.most, bytes.length);
    if (last) this.end('whole');
    if (!this.slow || last) return true;
    this.waiting = true;
    setImmediate(() => {
      this.waiting = false;
      if (this.outcome === null) this.chain.resume();
    });
    return false;
  }

  ready(): void {
    if (this.outcome !== null) throw new Error('a wish after the end');
    const go = this.taken;
    this.taken = null;
    go?.();
  }

  fail(): void {
    this.end('broken');
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
      const last = i === all.length - 1;
      if (!this.chain.data(piece, last) && !last) await Promise.race([ready, this.done]);
    }
    return this.done;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.got);
  }

  private end(outcome: 'whole' | 'broken'): void {
    if (this.outcome !== null) throw new Error('two ends');
    this.outcome = outcome;
    this.chain.close();
    this.settle(this);
  }
}
