// esi on the way into the store: the body is parsed for edge-side includes as it comes, and what is found is kept beside
// it as a plan. The bytes are stored as they are: whoever asks for the page as it is gets it whole.

import type { EsiParser } from '../esi/esi-parser.ts';
import { PlanMaker } from '../esi/page-plan.ts';
import { staysPacked } from './esi-pack.ts';
import { NO_PARTS, parserOf, refuseLong, stretches } from './esi-stretches.ts';
import type { FetchedBody, FetchFilter, Outlet, Processor } from './filter.ts';

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
  private readonly plan = new PlanMaker();
  private taken = 0;
  /** Up to where the plan goes. */
  private planned = 0;

  constructor(outlet: Outlet, body: FetchedBody) {
    this.outlet = outlet;
    this.body = body;
    this.parser = parserOf(body);
  }

  data(bytes: Buffer, last: boolean): boolean {
    this.parser.feed(bytes);
    this.taken += bytes.length;
    const isPage = last && this.parser.end();
    this.add(last ? this.taken : this.parser.settledTo);
    if (this.plan.isTooLong) {
      refuseLong(this.body, this.outlet);
      return false;
    }
    if (isPage) this.body.plan = { gzip: false, parts: this.plan.parts };
    return this.outlet.data(bytes, last);
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

  close(): void {}

  report(): void {}
}
