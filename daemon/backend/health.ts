// Whether a backend may be used: by its probe, unless the operator has set its health. It is also the backend's row of
// backend.list. A backend without a probe counts as healthy. With several threads the first one decides for all, and
// publishes the health in the backend's shared row.

import type { AdminHealth, DirectorListing } from '../contract/context.ts';
import { healthEpoch } from '../contract/health-epoch.ts';
import { addressFamily, type OriginAddress } from './address.ts';
import type { Probe, ProbeOwner } from './probe.ts';
import type { BackendRow } from './shared-backends.ts';

export class BackendHealth implements DirectorListing, ProbeOwner {
  readonly type = 'backend';
  readonly vclName: string;
  private readonly probe: Probe | null;
  private readonly now: () => number;
  /** Addresses of the backend as they are now. */
  places: () => readonly OriginAddress[] = () => [];
  private readonly happy: (polls: bigint) => void;
  private readonly row: BackendRow | null;
  private ownAdmin: AdminHealth = 'auto';
  private ownChange: number;
  private measuredHealthy = true;
  private isCooling = false;

  /**
   * @param since epoch seconds of the initial state
   * @param now returns epoch seconds, for changes by a probe
   * @param happy called after each poll with the good polls as bits
   * @param probe makes the probe of this backend, or returns null
   * @param row shared with other threads; null with one thread
   */
  constructor(
    vclName: string,
    since: number,
    now: () => number,
    happy: (polls: bigint) => void,
    probe: (owner: ProbeOwner) => Probe | null,
    row: BackendRow | null = null,
  ) {
    this.vclName = vclName;
    this.row = row;
    this.ownChange = since;
    if (row?.follows === false) row.changedAt = since;
    this.now = now;
    this.happy = happy;
    this.probe = probe(this);
  }

  get usable(): boolean {
    const { admin } = this;
    return admin === 'auto' ? this.measured() : admin === 'healthy';
  }

  get admin(): AdminHealth {
    return this.row === null ? this.ownAdmin : this.row.admin;
  }

  /** No effect in a thread that follows: the first thread gets the command, too, and there the name may mean another
   * backend when both were made at run time. */
  set admin(admin: AdminHealth) {
    if (this.row === null) this.ownAdmin = admin;
    else if (!this.row.follows) this.row.admin = admin;
    healthEpoch.changed();
  }

  get changedAt(): number {
    return this.row?.changedAt || this.ownChange;
  }

  set changedAt(seconds: number) {
    this.ownChange = seconds;
    if (this.row?.follows === false) this.row.changedAt = seconds;
  }

  setWarm(warm: boolean): void {
    this.isCooling = !warm;
    if (warm) this.probe?.start();
    else this.probe?.stop();
  }

  /** Called by the probe after each poll. */
  probed(healthy: boolean, polls: bigint): void {
    this.happy(polls);
    const { row } = this;
    const isNews = healthy !== this.measuredHealthy;
    if (isNews) this.changedAt = this.now();
    this.measuredHealthy = healthy;
    // The reset window of a cooling program must not be published: other threads may still run the program.
    const isPublished = row !== null && !row.follows && !this.isCooling && row.healthy !== healthy;
    if (isPublished) row.healthy = healthy;
    if (isNews || isPublished) healthEpoch.changed();
  }

  measured(): boolean {
    const shared = this.row === null || !this.row.follows ? null : this.row.healthy;
    return shared ?? this.measuredHealthy;
  }

  counts(): { good: number; total: number } | null {
    const { probe } = this;
    return probe === null ? null : { good: probe.window.good, total: probe.settings.window };
  }

  text(): string[] {
    return this.probe === null ? [] : this.probe.window.text().split('\n');
  }

  json(): string[] {
    return [this.probe === null ? '{}' : this.probe.window.json()];
  }

  addresses(): { ipv4?: string; ipv6?: string } {
    const [ipv4, ipv6] = (['4', '6'] as const).map((family) => {
      const at = this.places().find((place) => addressFamily(place) === family);
      return at?.kind === 'tcp' ? at.address : undefined;
    });
    return { ...(ipv4 !== undefined && { ipv4 }), ...(ipv6 !== undefined && { ipv6 }) };
  }
}
