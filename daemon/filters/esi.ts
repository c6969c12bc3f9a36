// esi on the way to a client: puts a page of edge-side includes together from the text that is stored and the bodies of
// its fragments. It walks the plan that was made when the page was fetched, as far in a turn of the event loop as others
// can wait; what delivers the fragments is given to it.

import { GZIP_HEAD, GzipSum } from '../esi/gzip-stitch.ts';
import type { PlanInclude, PlanPart } from '../esi/page-plan.ts';
import { weakenEtag } from '../http1/conditional.ts';
import { turns } from '../turns/turns.ts';
import type { DeliveryFilter, Outlet, Page, Processor } from './filter.ts';
import { PageOutput } from './page-output.ts';

const NOTHING = Buffer.alloc(0);

export const ESI: DeliveryFilter = {
  name: 'esi',
  side: 'delivery',
  wanted: ({ isPage }) => isPage,
  open(body) {
    const { openPage } = body;
    if (openPage === null) return null;
    // Nobody knows how long it will be, nor what it will be the next time.
    weakenEtag(body.head);
    body.length = -1;
    return (outlet) => new PageProcessor(outlet, openPage());
  },
};

class PageProcessor implements Processor {
  private readonly outlet: Outlet;
  private readonly page: Page;
  private readonly output: PageOutput;
  /** Whether the stream's head and end are written here: not within another packed page. */
  private readonly frames: boolean;
  /** The part that is passing, and stored bytes left of it; undefined between parts. */
  private part: PlanPart | undefined = undefined;
  private left = 0;
  private begun = false;
  private ending = false;
  private closed = false;
  /** The bytes given last, and how many of them are used. */
  private input: Buffer = NOTHING;
  private at = 0;
  private last = false;
  private readonly goOn = (): void => {
    if (this.walk()) this.outlet.ready();
  };

  constructor(outlet: Outlet, page: Page) {
    const { gzip, within } = page;
    this.outlet = outlet;
    this.page = page;
    const shares = gzip && within !== null && within.sum !== null && page.isBare;
    this.frames = gzip && !shares;
    const sum = !gzip ? null : shares ? within.sum : new GzipSum();
    this.output = new PageOutput(outlet, sum, within);
  }

  data(bytes: Buffer, last: boolean): boolean {
    this.input = bytes;
    this.at = 0;
    this.last = last;
    // Not before: the next filter takes nothing until all are there.
    if (this.frames && !this.begun) this.output.put(GZIP_HEAD);
    this.begun = true;
    return this.walk();
  }

  resume(): void {
    this.output.resume();
  }

  close(): void {
    this.closed = true;
    this.page.close();
    this.output.close();
  }

  report(): void {}

  /** Goes on as far as it can; true when all that was given is used and more is wanted. */
  private walk(): boolean {
    const { output, page } = this;
    while (!this.closed) {
      if (output.blocked) {
        output.drained(this.goOn);
        return false;
      }
      let { part } = this;
      if (part === undefined) {
        part = page.walk.next();
        if (part === undefined) return this.finish();
        if (part.kind === 'include') {
          if (this.include(part)) {
            if (turns.mayGoOn()) continue;
            return this.goOnLater();
          }
          // The client is not to wait for what it could have already.
          if (!this.closed) output.flush();
          return false;
        }
        this.part = part;
        this.left = part.stored;
        if (part.kind === 'text') output.sum?.add({ crc: part.crc, length: part.plain });
      }
      const used = Math.min(this.left, this.input.length - this.at);
      this.left -= used;
      if (part.kind === 'text' && used > 0) output.put(this.input.subarray(this.at, this.at + used));
      this.at += used;
      if (this.left === 0) {
        this.part = undefined;
        if (!turns.mayGoOn()) return this.goOnLater();
      } else if (!output.blocked && this.at === this.input.length) {
        if (!this.last) return true;
        // The stored page is not what its plan says.
        this.outlet.fail();
        return false;
      }
    }
    return false;
  }

  /** Others have their turn first. */
  private goOnLater(): boolean {
    if (this.closed) return false;
    // A page that waits needs no buffer.
    this.output.flush();
    this.page.later(this.goOn);
    return false;
  }

  /** All parts are through. */
  private finish(): boolean {
    const { output } = this;
    if (!this.last) return true;
    if (this.frames && !this.ending) {
      this.ending = true;
      output.put((output.sum as GzipSum).trailer());
      if (output.blocked) {
        output.drained(this.goOn);
        return false;
      }
    }
    output.end();
    return false;
  }

  /** Whether the fragment is written, and all that is to be waited for. */
  private include(part: PlanInclude): boolean {
    let atOnce = true;
    let written = false;
    this.page.include(part, this.output, (goesOn) => {
      if (this.closed) return;
      if (!goesOn) this.outlet.fail();
      else if (atOnce) written = true;
      else this.goOn();
    });
    atOnce = false;
    return written;
  }
}
