// The shard director: hosts on a consistent hashing ring, the key of a task, and the host for it. Its methods in
// programs are in shard.ts.
//
// Used as a backend of a request it resolves when the fetch begins, with the parameters which that fetch set last.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { Director, DirectorListing, VclContext } from '../../contract/context.ts';
import { taskPriv } from '../../contract/priv.ts';
import { Membership } from './healthy-members.ts';
import { DirectorRow, healthWord, type MemberRow, type RowSource } from './row.ts';
import { type ShardChange, type ShardHost, ShardHosts } from './shard-hosts.ts';
import { DEFAULTS, keyBy, type ParamValues, type ShardParam } from './shard-param.ts';
import { pickHost } from './shard-pick.ts';
import { RingWalk } from './shard-ring.ts';

export const DEFAULT_REPLICAS = 67;

/** Arguments of a call of backend(): its own values take precedence over a parameter set. */
export interface ShardArguments {
  readonly own: ParamValues;
  readonly param: ShardParam | null;
  /** The call named the set. As in Varnish, values that the fetch has set there are then ignored. */
  readonly named: boolean;
}

export class ShardDirector implements Director, RowSource {
  readonly vclName: string;
  readonly type = 'shard';
  readonly columns = ['Ident', 'Health', 'Rampup  Remaining'];
  readonly listed: DirectorListing;
  /** Share of requests that go to the next alternative. */
  warmup = 0;
  /** Seconds. */
  rampup = 0;
  associated: ShardParam | null = null;
  private readonly state = new ShardHosts();
  private readonly membership = new Membership(() => this.state.hosts);
  /** Key of a task's pending changes; the director itself is the key of its arguments. */
  private readonly changes = {};
  private asked = false;

  /** @param now epoch seconds */
  constructor(name: string, now: number) {
    this.vclName = name;
    this.listed = new DirectorRow(this, now);
  }

  /** Prefix of log messages. */
  get prefix(): string {
    return `vmod_directors: shard ${this.vclName}:`;
  }

  healthy(now: number, ctx: VclContext | null = null): boolean {
    const { admin } = this.listed;
    if (admin !== 'auto') return admin === 'healthy';
    if (this.asked) return false;
    this.asked = true;
    const any = this.membership.any(now, ctx);
    this.asked = false;
    return any;
  }

  get isSteady(): boolean {
    return this.membership.isSteady;
  }

  /** Continues building the ring; false when it is finished. */
  prepare(): boolean {
    return this.state.step();
  }

  setWarm(): void {
    // Its backends belong to the same program, which sets their temperature itself.
  }

  get inUse(): number {
    if (this.asked) return 0;
    this.asked = true;
    const all = new Set(this.directors());
    let sum = 0;
    for (const director of all) sum += director.inUse;
    this.asked = false;
    return sum;
  }

  resolve(ctx: VclContext): Director | null {
    if (this.asked) return null;
    const chosen = this.choose(ctx, this.keptWith(ctx, {}));
    this.asked = true;
    const found = chosen?.resolve(ctx) ?? null;
    this.asked = false;
    return found;
  }

  /** Stores arguments for the fetch of this task. */
  keep(ctx: VclContext, args: ShardArguments): void {
    taskPriv(ctx, this).value = args;
  }

  /** Values of a call merged over those the task has stored; without these, over the associated set. */
  keptWith(ctx: VclContext, own: ParamValues): ShardArguments {
    const kept = ctx.priv?.get(this)?.value as ShardArguments | undefined;
    if (kept === undefined) return { own, param: this.associated, named: false };
    return { ...kept, own: { ...kept.own, ...own } };
  }

  /** Queues a change; it is applied by reconfigure() or at the end of the task. */
  change(ctx: VclContext, change: ShardChange): void {
    const cell = taskPriv(ctx, this.changes);
    cell.value ??= [];
    (cell.value as ShardChange[]).push(change);
    cell.end = (left) => this.make(ctx, left as ShardChange[], DEFAULT_REPLICAS);
  }

  /** Applies the changes of the task; false (and an Error record) if there is no ring afterwards. */
  reconfigure(ctx: VclContext, replicas: number): boolean {
    const cell = ctx.priv?.get(this.changes);
    if (cell === undefined) return true;
    const changes = cell.value as ShardChange[];
    cell.value = [];
    return this.make(ctx, changes, replicas);
  }

  /** The host's director for the key of this task. */
  choose(ctx: VclContext, args: ShardArguments): Director | null {
    const { hosts, ring } = this.state;
    if (ring === null) {
      ctx.log.put(Tag.Error, `${this.prefix} no backends`);
      return null;
    }
    const set = args.named ? args.param?.program : args.param?.current(ctx);
    const p = { ...DEFAULTS, ...set, ...args.own };
    let { alt } = p;
    if (alt >= hosts.length) {
      ctx.log.put(Tag.Error, `${this.prefix} parameter alt=${alt} limited to ${hosts.length - 1}`);
      alt = hosts.length - 1;
    }
    // If all members are steady, the number of healthy ones is known.
    const healthy = this.membership.isSteady ? this.membership.healthy(ctx.now, ctx).count : hosts.length;
    const at = pickHost({
      walk: new RingWalk(ring, hosts.length, keyBy(ctx, p.by, p.key)),
      alt,
      healthy: p.healthy,
      healthyLeft: healthy,
      warmup: p.warmup < 0 ? this.warmup : p.warmup,
      isHealthy: (host) => (hosts[host] as ShardHost).director.healthy(ctx.now, ctx),
      rampup: p.rampup,
      ramped: (host) => this.ramped(hosts[host] as ShardHost, ctx.now).share,
      chance: Math.random,
    });
    return hosts[at]?.director ?? null;
  }

  private make(ctx: VclContext, changes: readonly ShardChange[], replicas: number): boolean {
    if (changes.length === 0) return true;
    const problem = this.state.apply(changes, replicas, (text) =>
      ctx.log.put(Tag.Notice, `${this.prefix} ${text}`),
    );
    if (problem !== null) ctx.log.put(Tag.Error, `${this.prefix} ${problem}`);
    return problem === null;
  }

  directors(): Director[] {
    return this.state.hosts.map((h) => h.director);
  }

  facts(): string[] {
    return [`"warmup": ${this.warmup.toFixed(6)}`, `"rampup_duration": ${this.rampup.toFixed(6)}`];
  }

  counts(now: number): { good: number; total: number } {
    return { good: this.membership.healthy(now, null).count, total: this.state.hosts.length };
  }

  *rows(now: number): Generator<MemberRow> {
    for (const h of this.state.hosts) {
      const health = healthWord(h.director, now);
      const { share, left } = health === 'healthy' ? this.ramped(h, now) : { share: 0, left: 0 };
      const percent = (share * 100).toFixed(2).padStart(6);
      yield {
        director: h.director,
        cells: [h.ident, health, `${percent}% ${left.toFixed(3).padStart(8)}s`],
        json: [
          `"ident": ${JSON.stringify(h.ident)}`,
          `"health": "${health}"`,
          `"rampup": ${share.toFixed(6)}`,
          `"rampup_remaining": ${left.toFixed(3)}`,
        ],
      };
    }
  }

  /** Progress of a host's rampup (1 outside it), and the seconds left. */
  private ramped(host: ShardHost, now: number): { share: number; left: number } {
    const rampup = host.rampup ?? this.rampup;
    if (rampup <= 0) return { share: 1, left: 0 };
    const since = Math.max(0, now - (host.director.listed?.changedAt ?? 0));
    return since >= rampup ? { share: 1, left: 0 } : { share: since / rampup, left: rampup - since };
  }
}
