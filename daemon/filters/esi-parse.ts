// esi on the way into the store: the body is parsed for edge-side includes as it comes, and what is found is kept beside
// it as a plan. The bytes are stored as they are: whoever asks for the page as it is gets it whole. A piece of very many
// statements is parsed over several turns of the event loop.

import type { EsiParser } from '../esi/esi-parser.ts';
import { PlanMaker } from '../esi/page-plan.ts';
import { turns } from '../turns/turns.ts';
import { staysPacked } from './esi-pack.ts';
import { NO_PARTS, PARSED, parserOf, refuseLong, stretches } from './esi-stretches.ts';
import type { FetchedBody, FetchFilter, Outlet, Processor } from './filter.ts';

const NOTHING: Buffer = Buffer.alloc(0);

export const ESI_FETCHED: FetchFilter = {
  name: 'esi',
  side: 'fetch',
  streams: false,
  refusesParts: NO_PARTS,
  wanted: (head, wishes, params) => wishes.doEsi && !staysPacked(head, wishes, params),
  open: (body) => (outlet) => new EsiTaker(outlet, body),
};

class EsiTaker implements Processor {
  private readonly outlet: Outlet;
  private readonly body: FetchedBody;
  private readonly parser: EsiParser;
  private readonly plan = new PlanMaker(false);
  /** The bytes taken last, and how many of them are parsed. */
  private input = NOTHING;
  private at = 0;
  private last = false;
  private taken = 0;
  /** Up to where the plan goes. */
  private planned = 0;
  private closed = false;
  private readonly goOn = (): void => {
    if (!this.closed && this.read() && !this.last) this.outlet.ready();
  };

  constructor(outlet: Outlet, body: FetchedBody) {
    this.outlet = outlet;
    this.body = body;
    this.parser = parserOf(body);
  }

  data(bytes: Buffer, last: boolean): boolean {
    this.input = bytes;
    this.at = 0;
    this.last = last;
    return this.read();
  }

  /** Parses on, and passes on what is parsed. */
  private read(): boolean {
    const { input, parser, last } = this;
    while (this.at < input.length) {
      const piece = input.subarray(this.at, this.at + PARSED);
      parser.feed(piece);
      this.at += piece.length;
      this.taken += piece.length;
      this.add(parser.settledTo);
      if (this.plan.isTooLong) break;
      turns.tookLong();
      if (!turns.mayGoOn()) {
        turns.later(this.goOn);
        return false;
      }
    }
    const isPage = last && parser.end();
    if (last) this.add(this.taken);
    if (this.plan.isTooLong) {
      refuseLong(this.body, this.outlet);
      return false;
    }
    if (isPage) this.body.plan = this.plan.bytes();
    return this.outlet.data(input, last);
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

  resume(): void {
    this.outlet.ready();
  }

  close(): void {
    this.closed = true;
  }

  report(): void {}
}
