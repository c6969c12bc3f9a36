// What a worker knows of edge-side includes: the settings, the plans of pages that were delivered last, and buffers of
// requests for fragments, which are as many as a page has and live as short.

import type { EsiFeatures } from '../esi/esi-parser.ts';
import { PagePlan } from '../esi/page-plan.ts';
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
