// The right to work on the certificate of some names, of which one node of a fleet has it at a time: a value in the bucket
// that its holder renews. A node takes over what has not been renewed for a while by its own clock, so that the clocks of
// the nodes need not agree.

import { randomBytes } from 'node:crypto';
import { fields, text } from './acme-failure.ts';
import type { AcmeTime } from './acme-interface.ts';
import type { FleetStore } from './fleet-store.ts';
import type { Lease } from './local-states.ts';

/** Milliseconds after its last renewal for which a lease is respected (chosen). */
const LIFE = 30_000;
/** Milliseconds between renewals, and without one after which a holder gives up: earlier than others take over. */
const RENEWAL = LIFE / 6;
const HELD = LIFE / 2;

interface Seen {
  readonly revision: number;
  /** When this revision was first seen here. */
  readonly at: number;
}

export class Leases {
  private readonly store: FleetStore;
  private readonly time: AcmeTime;
  /** Distinguishes this process from an earlier one of its name. */
  private readonly holder = randomBytes(8).toString('hex');
  private readonly seen = new Map<string, Seen>();
  /** Those of this process, with what ends them. */
  private readonly own = new Map<string, AbortController>();

  constructor(store: FleetStore, time: AcmeTime) {
    this.store = store;
    this.time = time;
  }

  /** Notes the leases of others: to be called after each change. */
  observe(): void {
    const now = this.time.now();
    for (const [key, { revision }] of this.store.contents ?? []) {
      if (key.startsWith(PREFIX) && this.seen.get(key)?.revision !== revision)
        this.seen.set(key, { revision, at: now });
    }
    // Before anything that the new holder has stored is read.
    for (const [key, lost] of this.own) {
      const present = this.store.contents?.get(key);
      if (present !== undefined && holderOf(present.data) !== this.holder) lost.abort(new Error(TAKEN_OVER));
    }
    for (const key of this.seen.keys()) if (this.store.contents?.has(key) === false) this.seen.delete(key);
  }

  /** Null if another node has it, or if the bucket cannot be changed now. */
  async take(name: string): Promise<Lease | null> {
    const key = PREFIX + name;
    const { store, time } = this;
    if (store.contents === null) return null;
    this.observe();
    const present = store.contents.get(key);
    const seen = this.seen.get(key);
    const isOwn = present !== undefined && holderOf(present.data) === this.holder;
    if (seen !== undefined && !isOwn && time.now() - seen.at < LIFE) return null;
    const result = await store.store(key, this.value(), present?.revision ?? 0);
    return result.state === 'stored' ? this.hold(key, result.revision) : null;
  }

  private hold(key: string, first: number): Lease {
    const { store, time } = this;
    const lost = new AbortController();
    this.own.set(key, lost);
    let revision = first;
    let renewedAt = time.now();
    let over = false;
    let cancel: () => void = () => {};
    let renewing: Promise<void> = Promise.resolve();
    const renew = async (): Promise<void> => {
      const askedAt = time.now();
      const result = await store.store(key, this.value(), revision);
      if (result.state === 'stored') {
        revision = result.revision;
        renewedAt = askedAt;
      } else if (result.state === 'changed' || time.now() - renewedAt > HELD) {
        lost.abort(new Error(TAKEN_OVER));
        return;
      }
      if (!over) plan();
    };
    const plan = (): void => {
      cancel = time.after(RENEWAL, () => {
        renewing = renew();
      });
    };
    plan();
    return {
      signal: lost.signal,
      release: async () => {
        over = true;
        cancel();
        await renewing;
        cancel();
        this.own.delete(key);
        if (!lost.signal.aborted) await store.store(key, null, revision);
      },
    };
  }

  private value(): Uint8Array {
    return Buffer.from(JSON.stringify({ v: 1, node: this.store.node, holder: this.holder }));
  }
}

const PREFIX = 'lease.';
const TAKEN_OVER = 'another node has taken over';

function holderOf(data: Uint8Array): string {
  try {
    return text(fields(JSON.parse(Buffer.from(data).toString())).holder);
  } catch {
    return '';
  }
}
