// esi on the way into the store: the body is parsed for edge-side includes as it comes, and what is found is kept beside
// it as a plan. The bytes are stored as they are: whoever asks for the page as it is gets it whole.

import type { EsiParser } from '../esi/esi-parser.ts';
import type { PlanPart } from '../esi/page-plan.ts';
import { staysPacked } from './esi-pack.ts';
import { NO_PARTS, parserOf, stretches } from './esi-stretches.ts';
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
  private taken = 0;

  constructor(outlet: Outlet, body: FetchedBody) {
    this.outlet = outlet;
    this.body = body;
    this.parser = parserOf(body);
  }

  data(bytes: Buffer, last: boolean): boolean {
    this.parser.feed(bytes);
    this.taken += bytes.length;
    if (last && this.parser.end()) this.body.plan = { gzip: false, parts: this.plan() };
    return this.outlet.data(bytes, last);
  }

  private plan(): PlanPart[] {
    const parts: PlanPart[] = [];
    for (const found of stretches(this.parser.take(), 0, this.taken)) {
      if ('kind' in found) parts.push(found);
      else {
        const stored = found.to - found.from;
        parts.push(found.isText ? { kind: 'text', stored, plain: stored, crc: 0 } : { kind: 'skip', stored });
      }
    }
    return parts;
  }

  resume(): void {
    this.outlet.ready();
  }

  close(): void {}

  report(): void {}
}
