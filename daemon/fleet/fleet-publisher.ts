// Publishes local invalidations and reports what is certain about them: retries under one id until the stream
// acknowledges the message, it is refused, or time is up. Stores nothing: callers repeat what was not stored.

import type { FleetReceipt, Invalidation } from '../contract/invalidation.ts';
import type { Bus } from './bus.ts';
import { writeMessage } from './fleet-message.ts';
import { LONGEST_MESSAGE } from './fleet-names.ts';
import type { NodeRegistry } from './node-registry.ts';

export interface PublisherTimes {
  /** Milliseconds for the acknowledgement of the stream, and for the other nodes after that. */
  timeout(): number;
  wait(): number;
}

export interface PublisherSettings extends PublisherTimes {
  /** The last message that is applied here; null while unknown. */
  place(): number | null;
  /** The stream is not the one of that place. */
  doubt(): void;
}

/** Milliseconds of one attempt at most, and between two attempts (chosen). */
const ATTEMPT = 2000;
const RETRY = 50;
/** Messages waiting for the stream at once (chosen); further ones fail. */
const MAX_IN_FLIGHT = 20_000;

export class FleetPublisher {
  private readonly bus: Bus;
  private readonly registry: NodeRegistry;
  private readonly node: string;
  private readonly life: string;
  private readonly settings: PublisherSettings;
  private next = 1;
  private inFlight = 0;
  readonly counters = { published: 0, unconfirmed: 0 };

  /** @param life identifies this manager: the prefix of its message ids */
  constructor(bus: Bus, registry: NodeRegistry, node: string, life: string, settings: PublisherSettings) {
    this.bus = bus;
    this.registry = registry;
    this.node = node;
    this.life = life;
    this.settings = settings;
  }

  /** Whether this manager published the message with this id. */
  isOwn(id: string): boolean {
    return id.startsWith(`${this.life}.`);
  }

  /** Never rejects. */
  async publish(event: Invalidation): Promise<FleetReceipt> {
    const data = writeMessage(event);
    if (data.length > LONGEST_MESSAGE)
      return this.failed('lost', `the message would have more than ${LONGEST_MESSAGE} bytes`);
    if (this.inFlight >= MAX_IN_FLIGHT)
      return this.failed('lost', `${MAX_IN_FLIGHT} messages wait for the bus`);
    this.inFlight++;
    try {
      return await this.send(data);
    } finally {
      this.inFlight--;
    }
  }

  private async send(data: Uint8Array): Promise<FleetReceipt> {
    const { bus, settings } = this;
    const id = `${this.life}.${this.next++}`;
    const timeout = settings.timeout();
    const end = performance.now() + timeout;
    const place = settings.place() ?? 0;
    let mayBeStored = false;
    for (;;) {
      const left = end - performance.now();
      const result = await bus.publish(this.node, id, data, Math.max(1, Math.min(ATTEMPT, left)));
      if (result.state === 'stored') {
        this.counters.published++;
        if (result.seq <= place) settings.doubt();
        const reach = await this.registry.reached(result.seq, settings.wait());
        return { state: 'stored', seq: result.seq, ...reach, detail: '' };
      }
      if (result.state === 'unanswered') mayBeStored = true;
      else if (!result.again) return this.failed(mayBeStored ? 'unknown' : 'lost', result.detail);
      if (performance.now() + RETRY >= end) {
        const seconds = Number((timeout / 1000).toFixed(3));
        return this.failed(mayBeStored ? 'unknown' : 'lost', `${result.detail} for ${seconds} s`);
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY));
    }
  }

  private failed(state: 'lost' | 'unknown', detail: string): FleetReceipt {
    this.counters.unconfirmed++;
    return { state, seq: 0, applied: 1, nodes: this.registry.count, behind: [], detail };
  }
}
