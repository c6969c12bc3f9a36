// Whether a backend may be used: by its probe, unless the operator has set its health. It is the backend's row
// of backend.list. Without a probe a backend is taken for healthy.

import type { AdminHealth, DirectorListing } from '../contract/context.ts';
import type { Probe, ProbeOwner } from './probe.ts';

export class BackendHealth implements DirectorListing, ProbeOwner {
  readonly type = 'backend';
  readonly vclName: string;
  admin: AdminHealth = 'auto';
  changedAt: number;
  private readonly probe: Probe | null;
  private readonly now: () => number;
  private readonly happy: (polls: bigint) => void;
  private measuredHealthy = true;

  /**
   * @param since epoch seconds
   * @param now epoch seconds, when a probe changes it
   * @param happy called with the good polls as bits after each poll
   * @param probe makes the probe of this backend, or null
   */
  constructor(
    vclName: string,
    since: number,
    now: () => number,
    happy: (polls: bigint) => void,
    probe: (owner: ProbeOwner) => Probe | null,
  ) {
    this.vclName = vclName;
    this.changedAt = since;
    this.now = now;
    this.happy = happy;
    this.probe = probe(this);
  }

  get usable(): boolean {
    return this.admin === 'auto' ? this.measuredHealthy : this.admin === 'healthy';
  }

  setWarm(warm: boolean): void {
    if (warm) this.probe?.start();
    else this.probe?.stop();
  }

  /** Called by the probe after each poll. */
  probed(healthy: boolean, polls: bigint): void {
    this.happy(polls);
    if (healthy !== this.measuredHealthy) this.changedAt = this.now();
    this.measuredHealthy = healthy;
  }

  measured(): boolean {
    return this.measuredHealthy;
  }

  counts(): { good: number; total: number } | null {
    const { probe } = this;
    return probe === null ? null : { good: probe.window.good, total: probe.settings.window };
  }

  text(): string {
    return this.probe === null ? '' : `${this.probe.window.text()}\n`;
  }

  json(): string {
    return this.probe === null ? '{}' : this.probe.window.json();
  }
}
