// The fleet's bucket of certificates, before and after the node has joined: it is empty until then, and certificates of
// earlier runs are presented.

import type { FleetStore, SharedResult } from '../../acme/fleet-store.ts';
import type { BucketFollower } from '../../fleet/bucket-follower.ts';

export class LateBucket implements FleetStore {
  private bucket: BucketFollower | null = null;
  private changed: () => void = () => {};

  /** The node has joined. */
  bind(bucket: BucketFollower): void {
    this.bucket = bucket;
    bucket.follow(this.changed);
  }

  get node(): string {
    return this.bucket?.node ?? '';
  }

  get contents(): FleetStore['contents'] {
    return this.bucket?.contents ?? null;
  }

  others(): readonly string[] {
    return this.bucket?.others() ?? [];
  }

  async store(key: string, data: Uint8Array | null, revision: number): Promise<SharedResult> {
    return (
      this.bucket?.store(key, data, revision) ?? { state: 'refused', detail: 'the fleet is not joined yet' }
    );
  }

  follow(changed: () => void): void {
    this.changed = changed;
  }
}
