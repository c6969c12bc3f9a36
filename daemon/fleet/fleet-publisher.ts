// Publishes what was invalidated here, and says what is certain of it: again and again under one id until the stream has
// acknowledged it, it is refused, or the time is up. Keeps nothing: what was not stored is the caller's to repeat.

import type { FleetReceipt, Invalidation } from '../contract/invalidation.ts';
import type { Bus } from './bus.ts';
import { writeMessage } from './fleet-message.ts';
import { LONGEST_MESSAGE } from './fleet-names.ts';
import type { NodeRegistry } from './node-registry.ts';

export interface PublisherSettings {
  /** Milliseconds until the stream has to have acknowledged a message, and for the other nodes after that. */
  timeout(): number;
  wait(): number;
}

/** Of one try, at most, and between two of them, in milliseconds (chosen). */
const TRY = 2000;
const AGAIN = 50;
/** Messages that wait for the stream at once (chosen): more are turned away. */
const MOST = 20_000;

export class FleetPublisher {
  private readonly bus: Bus;
  private readonly registry: NodeRegistry;
  private readonly node: string;
  private readonly life: string;
  private readonly settings: PublisherSettings;
  private next = 1;
  private underWay = 0;
  readonly counters = { published: 0, unconfirmed: 0 };

  /** @param life chosen for this manager: the first part of its messages' ids */
  constructor(bus: Bus, registry: NodeRegistry, node: string, life: string, settings: PublisherSettings) {
    this.bus = bus;
    this.registry = registry;
    this.node = node;
    this.life = life;
    this.settings = settings;
  }

  /** Whether it has published the message with this id. */
  isOwn(id: string): boolean {
    return id.startsWith(`${this.life}.`);
  }

  /** Never rejects. */
  async publish(event: Invalidation): Promise<FleetReceipt> {
    const data = writeMessage(event);
    if (data.length > LONGEST_MESSAGE)
      return this.failed('lost', `the message would have more than ${LONGEST_MESSAGE} bytes`);
    if (this.underWay >= MOST) return this.failed('lost', `${MOST} messages wait for the bus`);
    this.underWay++;
    try {
      return await this.send(data);
    } finally {
      this.underWay--;
    }
  }

  private async send(data: Uint8Array): Promise<FleetReceipt> {
    const { bus, settings } = this;
    const id = `${this.life}.${this.next++}`;
    const timeout = settings.timeout();
    const end = performance.now() + timeout;
    let mayBeStored = false;
    for (;;) {
      const left = end - performance.now();
      const result = await bus.publish(this.node, id, data, Math.max(1, Math.min(TRY, left)));
      if (result.state === 'stored') {
        this.counters.published++;
        const reach = await this.registry.reached(result.seq, settings.wait());
        return { state: 'stored', seq: result.seq, ...reach, detail: '' };
      }
      if (result.state === 'unanswered') mayBeStored = true;
      else if (!result.again) return this.failed(mayBeStored ? 'unknown' : 'lost', result.detail);
      if (performance.now() + AGAIN >= end) {
        const seconds = Number((timeout / 1000).toFixed(3));
        return this.failed(mayBeStored ? 'unknown' : 'lost', `${result.detail} for ${seconds} s`);
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
  }

  private failed(state: 'lost' | 'unknown', detail: string): FleetReceipt {
    this.counters.unconfirmed++;
    return { state, seq: 0, applied: 1, nodes: this.registry.count, behind: [], detail };
  }
}
