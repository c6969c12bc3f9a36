// Edge-side includes as a worker and a request know them: the settings and the plans of pages that were delivered last,
// the place of a fragment in its page, and the budget that all fragments of a page share.

import type { EsiFeatures } from '../esi/esi-parser.ts';
import { PagePlan } from '../esi/page-plan.ts';
import type { PageOutput } from '../filters/page-output.ts';
import { turns } from '../turns/turns.ts';
import type { RequestBuffers } from './request-buffers.ts';

/** Short plans that are kept ready for use: a guess. */
const PLANS = 256;

type EsiBit =
  | 'esi_ignore_https'
  | 'esi_disable_xml_check'
  | 'esi_ignore_other_elements'
  | 'esi_remove_bom'
  | 'esi_include_onerror';

export class EsiState implements EsiFeatures {
  ignoreHttps = false;
  disableXmlCheck = false;
  ignoreOtherElements = false;
  removeBom = false;
  /** Whether a page ends where a fragment fails, unless its include says otherwise. */
  includeOnerror = false;
  /** Whether there has been any page: requests then keep their heads for the sake of fragments. */
  pages = false;
  readonly spareBuffers: RequestBuffers[] = [];
  /** By the transaction id of the page's fetch, which no other object has. */
  private readonly plans = new Map<number, PagePlan>();

  /** @param feature whether a bit of the parameter `feature` is set */
  set(feature: (bit: EsiBit) => boolean): void {
    this.ignoreHttps = feature('esi_ignore_https');
    this.disableXmlCheck = feature('esi_disable_xml_check');
    this.ignoreOtherElements = feature('esi_ignore_other_elements');
    this.removeBom = feature('esi_remove_bom');
    this.includeOnerror = feature('esi_include_onerror');
  }

  /** @param encoded gives what is kept of the plan */
  planOf(vxid: number, encoded: () => Buffer): PagePlan {
    const known = this.plans.get(vxid);
    if (known !== undefined) return known;
    const plan = new PagePlan(encoded());
    if (!plan.isShort) return plan;
    if (this.plans.size >= PLANS) this.plans.clear();
    this.plans.set(vxid, plan);
    return plan;
  }
}

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
  /** The fragment in turn has left the event loop to others, and waits for nothing else. */
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
  leaveTurn(proceed: () => void): void {
    this.pauses = true;
    turns.later(() => {
      this.pauses = false;
      proceed();
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
  /** The output of the page, or of the fragment that it is within; once it is in turn. */
  readonly output: PageOutput;
  /** Something that it includes is waited for. */
  waits(): void;
  /** Calls back once, when its turn comes. @param isWhole whether nothing more is to come from its origin */
  awaitTurn(isWhole: boolean, callback: () => void): void;
  /** Its body could not be delivered, or not as a whole. @param reason for the log */
  failed(reason: string): void;
  /** The transaction is over. */
  ended(): void;
}
