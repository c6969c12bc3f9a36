// The bucket of certificates on one node: its values as they are known here, followed while the bus is connected, and
// changed by compare-and-set. The node never looks into a value.

import type { Bus, StoredEntry, StoreResult } from './bus.ts';
import { LONGEST_CERTIFICATE } from './fleet-names.ts';
import type { NodeRow } from './fleet-rows.ts';

export interface BucketFollowerParts {
  readonly bus: Bus;
  readonly node: string;
  nodes(): readonly NodeRow[];
  report(level: 'info' | 'warning', text: string): void;
}

/** Milliseconds between attempts to read the bucket. */
const RETRY = 500;

export class BucketFollower {
  /** All values by key; null while they are unknown. */
  contents: ReadonlyMap<string, StoredEntry> | null = null;
  private readonly parts: BucketFollowerParts;
  private changed: (() => void) | null = null;
  private reading: { close(): void } | null = null;
  private running = false;
  private closed = false;

  constructor(parts: BucketFollowerParts) {
    this.parts = parts;
  }

  get node(): string {
    return this.parts.node;
  }

  /** The other nodes that are there now. */
  others(): string[] {
    return this.parts
      .nodes()
      .filter(({ self, state }) => !self && state !== 'silent')
      .map(({ node }) => node);
  }

  /** Begins to read, and calls back after each change. */
  follow(changed: () => void): void {
    this.changed = changed;
    void this.run();
  }

  /** @param revision of the value that is replaced; 0 for none @param data null deletes it */
  async store(key: string, data: Uint8Array | null, revision: number): Promise<StoreResult> {
    if (data !== null && data.length > LONGEST_CERTIFICATE)
      return { state: 'refused', detail: `a value has more than ${LONGEST_CERTIFICATE} bytes` };
    return this.parts.bus.storeEntry('certificates', key, data, revision);
  }

  /** Reads while the bus is connected, if anybody follows. */
  async run(): Promise<void> {
    const { bus, report } = this.parts;
    const isOn = (): boolean => bus.connected && !this.closed;
    if (this.running || this.changed === null) return;
    this.running = true;
    let reported = '';
    while (isOn()) {
      let why: string;
      try {
        const reading = await bus.readBucket('certificates', (all) => {
          reported = '';
          this.contents = all;
          this.changed?.();
        });
        this.reading = reading;
        why = await reading.ended;
      } catch (cause) {
        why = (cause as Error).message;
      }
      this.contents = null;
      if (!isOn()) break;
      if (why !== reported) report('warning', `Fleet: cannot read the certificates: ${why}; retrying`);
      reported = why;
      await new Promise((resolve) => setTimeout(resolve, RETRY));
    }
    this.running = false;
  }

  close(): void {
    this.closed = true;
    this.reading?.close();
  }
}
