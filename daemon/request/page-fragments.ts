// The fragments of one page of edge-side includes, or of a fragment that is one itself. They are written in their order.
// When one is not there at once, those after it are started ahead, so that their origins work at the same time: they
// come as far as their body, which waits for its turn where every fetched body is, in the store. Nothing is kept here.

import { includeFailureText } from '../../protocol/esi-notes.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { PlanCursor, type PlanInclude } from '../esi/page-plan.ts';
import type { Page } from '../filters/filter.ts';
import type { PageOutput } from '../filters/page-output.ts';
import { FragmentBudget, type FragmentPlace, type StartsAhead } from '../transaction/fragment-place.ts';
import type { Request } from '../transaction/request.ts';
import { turns } from '../turns/turns.ts';
import { beginFragment } from './fragment-request.ts';

export class PageFragments implements Page, StartsAhead {
  readonly gzip: boolean;
  readonly walk: PlanCursor;
  isBare = false;
  private readonly req: Request;
  private readonly budget: FragmentBudget;
  private readonly started = new Map<number, Fragment>();
  /** The include that is in turn next, and the first that is not started: `ahead` is before it. */
  private turn = 0;
  private next = 0;
  private readonly ahead: PlanCursor;
  /** Starting ahead continues in a later turn of the event loop. */
  private startsLater = false;
  private closed = false;
  private onOver: (() => void) | null = null;

  constructor(req: Request) {
    const { core, attempt } = req;
    const { reading, facts } = core.cache;
    this.req = req;
    const plan = core.esi.planOf(facts.vxidOf(attempt.oc), () => reading.annex(attempt.oc) as Buffer);
    this.gzip = plan.gzip;
    this.walk = new PlanCursor(plan);
    this.ahead = new PlanCursor(plan);
    this.budget = req.fragment?.budget ?? new FragmentBudget(core.params.esi_parallel);
  }

  /** Known once it is in turn itself. */
  get within(): PageOutput | null {
    return this.req.fragment?.output ?? null;
  }

  include(part: PlanInclude, output: PageOutput, done: (goesOn: boolean) => void): void {
    const { req } = this;
    const n = this.turn++;
    if (this.isTooDeep) {
      const { changes } = req.ctx.vcl;
      req.log.put(
        Tag.VCL_Error,
        `ESI depth limit ${changes.esiDepthWords ? 'reached' : 'reach'} (param max_esi_depth = ${req.core.params.max_esi_depth})`,
      );
      done(!changes.depthFails || !req.core.esi.includeOnerror || part.onerrorContinue);
      return;
    }
    const ahead = this.started.get(n);
    const fragment = ahead ?? this.make(n);
    fragment.takeTurn(output, (reason) => done(reason === null || this.forgives(part, reason)));
    if (ahead === undefined) beginFragment(fragment, req, part, this.gzip);
    // One that only leaves the event loop to others is there, as far as it is asked for more.
    if (fragment.over || this.closed || this.budget.pauses) return;
    // The client has what there is before others are asked for more.
    output.flush();
    this.waits();
  }

  startAhead(): void {
    const { ahead, budget, req } = this;
    if (this.next < this.turn) {
      this.next = this.turn;
      ahead.goTo(this.walk);
    }
    while (!this.closed && !this.startsLater && budget.hasRoom && !this.isTooDeep) {
      const part = ahead.nextInclude();
      if (part === undefined) {
        budget.remove(this);
        return;
      }
      if (part !== null) beginFragment(this.make(this.next++), req, part, this.gzip);
      if (!turns.mayContinue()) {
        this.startsLater = true;
        turns.later(() => {
          this.startsLater = false;
          if (!this.closed) budget.fill();
        });
      }
    }
  }

  /** Starts fragments ahead: this page waits for something, and so do the pages that it is part of. */
  waits(): void {
    this.budget.add(this);
    const { fragment } = this.req;
    if (fragment?.isInTurn === true) fragment.waits();
  }

  later(proceed: () => void): void {
    this.budget.leaveTurn(proceed);
  }

  close(): void {
    this.closed = true;
    this.budget.remove(this);
    for (const fragment of [...this.started.values()]) fragment.giveUp();
  }

  /** Calls when no fragment is under way any more, perhaps at once. */
  over(callback: () => void): void {
    if (this.started.size === 0) callback();
    else this.onOver = callback;
  }

  private get isTooDeep(): boolean {
    return this.req.esiLevel >= this.req.core.params.max_esi_depth;
  }

  private make(n: number): Fragment {
    const fragment = new Fragment(this, this.budget, () => {
      this.started.delete(n);
      if (this.started.size > 0 || !this.closed) return;
      const { onOver } = this;
      this.onOver = null;
      onOver?.();
    });
    this.started.set(n, fragment);
    return fragment;
  }

  /** Logs that a fragment failed; whether the page continues without it. */
  private forgives(part: PlanInclude, reason: string): boolean {
    const { core, log } = this.req;
    log.put(Tag.Error, includeFailureText({ url: part.url, reason }));
    return !core.esi.includeOnerror || part.onerrorContinue;
  }
}

class Fragment implements FragmentPlace {
  readonly budget: FragmentBudget;
  private readonly page: PageFragments;
  /** The request, once it is begun. */
  req: Request | null = null;
  isInTurn = false;
  over = false;
  private into: PageOutput | null = null;
  private readonly leave: () => void;
  private wake: (() => void) | null = null;
  private written: ((reason: string | null) => void) | null = null;
  private reason: string | null = null;
  private counts = true;

  /** @param leave called when it is over, before its page is */
  constructor(page: PageFragments, budget: FragmentBudget, leave: () => void) {
    this.page = page;
    this.budget = budget;
    this.leave = leave;
    budget.underway++;
    budget.held++;
  }

  get output(): PageOutput {
    return this.into as PageOutput;
  }

  /** @param written called when the body is written, with the reason when it is not */
  takeTurn(output: PageOutput, written: (reason: string | null) => void): void {
    this.into = output;
    this.isInTurn = true;
    this.written = written;
    if (this.over) written(this.reason);
    const { wake } = this;
    this.wake = null;
    wake?.();
  }

  awaitTurn(isWhole: boolean, callback: () => void): void {
    this.wake = callback;
    if (isWhole) this.release();
  }

  waits(): void {
    this.page.waits();
  }

  failed(reason: string): void {
    this.reason ??= reason;
  }

  ended(): void {
    this.over = true;
    this.budget.held--;
    if (this.counts) this.budget.underway--;
    this.counts = false;
    this.leave();
    // The page may end with it: then nothing more is to be started.
    this.written?.(this.reason);
    this.budget.fill();
  }

  giveUp(): void {
    this.written = null;
    this.req?.abort();
  }

  /** It needs its origin no more: another may be started. */
  private release(): void {
    if (!this.counts) return;
    this.counts = false;
    this.budget.underway--;
    this.budget.fill();
  }
}
