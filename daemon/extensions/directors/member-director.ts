// Base class of the directors with a plain list of members: the list with its weights, health (that of any member,
// unless set by the operator) and the row of backend.list. A member may be a director itself.
//
// The same backend may be a member several times; removing takes out the first one. A program may add a director to
// itself, so every recursive question stops where it began.

import type { Director, DirectorListing, VclContext } from '../../contract/context.ts';
import { ExtensionError } from '../../contract/failure.ts';
import { healthEpoch } from '../../contract/health-epoch.ts';
import { type HealthyMembers, Membership, type Weighed } from './healthy-members.ts';
import { DirectorRow, healthWord, type MemberRow, type RowSource } from './row.ts';
import type { SharedPosition } from './shared-position.ts';

export abstract class MemberDirector implements Director, RowSource {
  readonly vclName: string;
  readonly listed: DirectorListing;
  readonly type: string;
  readonly columns: readonly string[] | null;
  protected readonly members: Weighed[] = [];
  private asked = false;
  private choosing = false;
  private readonly membership = new Membership(() => this.members);

  /**
   * @param type the type in backend.list -j
   * @param column title of the column filled by memberCells(); null if the row has no table
   * @param now epoch seconds
   */
  constructor(type: string, name: string, column: string | null, now: number) {
    this.type = type;
    this.vclName = name;
    this.columns = column === null ? null : [column, 'Health'];
    this.listed = new DirectorRow(this, now);
  }

  healthy(now: number, ctx: VclContext | null = null): boolean {
    const { admin } = this.listed;
    if (admin !== 'auto') return admin === 'healthy';
    if (this.asked) return false;
    this.asked = true;
    const found = this.measured(now, ctx);
    this.asked = false;
    return found;
  }

  get isSteady(): boolean {
    return this.membership.isSteady;
  }

  resolve(ctx: VclContext): Director | null {
    if (this.choosing) return null;
    this.choosing = true;
    const found = this.pick(ctx)?.resolve(ctx) ?? null;
    this.choosing = false;
    return found;
  }

  /** The first of its members that may know more. */
  pending(ctx: VclContext): Promise<void> | null {
    if (this.choosing) return null;
    this.choosing = true;
    const waits = this.members.flatMap(({ director }) => director.pending?.(ctx) ?? []);
    this.choosing = false;
    return waits.length === 0 ? null : Promise.race(waits);
  }

  setWarm(): void {
    // Its members belong to the same program, which sets their temperature itself.
  }

  /** Connections in use by its members. */
  get inUse(): number {
    if (this.asked) return 0;
    this.asked = true;
    const sum = this.members.reduce((n, m) => n + m.director.inUse, 0);
    this.asked = false;
    return sum;
  }

  add(director: Director | null, weight = 1): void {
    if (director === null) throw new ExtensionError(`${this.vclName}: None backend cannot be added`);
    this.members.push({ director, weight });
    healthEpoch.changed();
  }

  remove(director: Director | null): void {
    if (director === null) throw new ExtensionError(`${this.vclName}: None backend cannot be removed`);
    const at = this.members.findIndex((m) => m.director === director);
    if (at < 0) return;
    this.members.splice(at, 1);
    healthEpoch.changed();
    this.removed(at);
  }

  directors(): Director[] {
    return this.members.map((m) => m.director);
  }

  facts(_now: number): string[] {
    return [];
  }

  counts(now: number): { good: number; total: number } {
    return { good: this.healthyMembers(now, null).count, total: this.members.length };
  }

  *rows(now: number): Generator<MemberRow> {
    const cells = this.memberCells(now);
    for (const [i, { director }] of [...this.members].entries()) {
      const health = healthWord(director, now);
      const json = this.memberJson(i);
      yield { director, cells: [cells(i), health], json: [...json, `"health": "${health}"`] };
    }
  }

  /** Chooses a member, which may be a director. */
  protected abstract pick(ctx: VclContext): Director | null;

  /** Health without the operator's override. */
  protected measured(now: number, ctx: VclContext | null): boolean {
    return this.membership.any(now, ctx);
  }

  protected healthyMembers(now: number, ctx: VclContext | null): HealthyMembers {
    return this.membership.healthy(now, ctx);
  }

  /** The first column of the member table. */
  protected memberCells(_now: number): (at: number) => string {
    return () => '-';
  }

  protected memberJson(_at: number): string[] {
    return [];
  }

  /** Called after a member was removed. */
  protected removed(_at: number): void {}

  /** The member that `find` returns, searching from the shared position, which then moves past it; null if `find`
   * returns -1. */
  protected memberInTurn(next: SharedPosition, find: (from: number) => number): Director | null {
    for (;;) {
      const from = next.now;
      const at = find(from);
      if (at < 0) return null;
      // Otherwise another thread has moved the position.
      if (next.move(from, (at + 1) % this.members.length)) return this.members[at]?.director ?? null;
    }
  }

  /** The first healthy member from `start` on, wrapping around; -1 if there is none. */
  protected healthyFrom(start: number, ctx: VclContext): number {
    const { members } = this;
    if (this.membership.isSteady) return this.healthyMembers(ctx.now, ctx).from(start % members.length);
    for (let i = 0; i < members.length; i++) {
      const at = (start + i) % members.length;
      if (members[at]?.director.healthy(ctx.now, ctx) === true) return at;
    }
    return -1;
  }
}
