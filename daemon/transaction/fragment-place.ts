// The place of a fragment in its page, as the request for it sees it, and what all fragments of a page share.

import type { PageOutput } from '../filters/page-output.ts';
import { turns } from '../turns/turns.ts';

/** A page, or a fragment that is one itself, that may start fragments ahead of their turn. */
export interface StartsAhead {
  /** Starts those that it may. */
  startAhead(): void;
}

/** Most fragments of a page that are begun and not written yet, those that wait for their turn included. */
const HELD = 256;

/** How many fragments are under way for one client's page, at all levels of includes. */
export class FragmentBudget {
  /** Those that may yet need their origin. */
  underway = 0;
  /** All that are begun and not over. */
  held = 0;
  /** What is in turn has left the event loop to others, and waits for nothing else. */
  pauses = false;
  private readonly limit: number;
  private readonly pages = new Set<StartsAhead>();
  private filling = false;

  /** @param limit the parameter esi_parallel */
  constructor(limit: number) {
    this.limit = limit;
  }

  get hasRoom(): boolean {
    return this.underway < this.limit && this.held < HELD;
  }

  /** Goes on with what is in turn in a later turn of the event loop. */
  leaveTurn(goOn: () => void): void {
    this.pauses = true;
    turns.later(() => {
      this.pauses = false;
      goOn();
    });
  }

  add(page: StartsAhead): void {
    this.pages.add(page);
    this.fill();
  }

  remove(page: StartsAhead): void {
    this.pages.delete(page);
  }

  /** Has pages start what there is room for, the first one first. */
  fill(): void {
    if (this.filling || this.pages.size === 0) return;
    this.filling = true;
    for (const page of this.pages) {
      if (!this.hasRoom) break;
      page.startAhead();
    }
    this.filling = false;
  }
}

export interface FragmentPlace {
  readonly budget: FragmentBudget;
  /** Whether all before it is written: only then may its own body be. */
  readonly isInTurn: boolean;
  /** What the page, or the fragment that it is within, is written into; once it is in turn. */
  readonly output: PageOutput;
  /** Something that it includes is waited for. */
  waits(): void;
  /** Has its turn told, once. @param isWhole whether nothing more is to come from its origin */
  awaitTurn(isWhole: boolean, callback: () => void): void;
  /** Its body could not be delivered, or not as a whole. @param reason for the log */
  failed(reason: string): void;
  /** The transaction is over. */
  ended(): void;
}
