// obj_stale.*: the object that a 304 confirms, as the program sees it.

import type { VclStaleObject } from '../contract/context.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { Core } from '../transaction/core.ts';
import { ObjectView } from '../transaction/request-buffers.ts';

/** The parts of a fetch (BusyObj) that it reads. */
interface Revalidating {
  readonly core: Core;
  readonly staleOc: number;
  readonly bereq: HttpMessage;
  readonly ctx: { readonly now: number };
}

export class StaleView extends ObjectView implements VclStaleObject {
  private readonly bo: Revalidating;

  constructor(bo: Revalidating) {
    super(bo.core.cache);
    this.bo = bo;
  }

  get isValid(): boolean {
    return !isInvalidated(this.bo);
  }
}

/** Whether a purge or a ban has removed the stale object since it was looked up. */
export function isInvalidated({ core, staleOc, bereq }: Revalidating): boolean {
  return core.cache.invalidation.isInvalidated(staleOc, bereq, core.clock.now());
}
