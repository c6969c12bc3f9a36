// One reading of a stream, over a consumer that lives as long as it: it ends when the server has let it go, when it falls
// silent, or when it is told to. It says why, and whoever reads begins another.

import {
  AckPolicy,
  type Consumer,
  type ConsumerConfig,
  type ConsumerMessages,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
} from '@nats-io/jetstream';
import { NANO } from './fleet-names.ts';

/** How long a reader's place is kept by the server without it, in milliseconds. */
const LIFE = 30_000;

export class NatsConsumption {
  /** The number of the first message that may come, and how many there are already. */
  readonly from: number;
  readonly pending: number;
  private readonly consumer: Consumer;
  private readonly messages: ConsumerMessages;
  private why = '';

  /** @param ahead messages that may wait here */
  static async open(
    js: JetStreamClient,
    jsm: JetStreamManager,
    stream: string,
    start: Partial<ConsumerConfig>,
    ahead: number,
  ): Promise<NatsConsumption> {
    const made = await jsm.consumers.add(stream, {
      ack_policy: AckPolicy.None,
      inactive_threshold: LIFE * NANO,
      mem_storage: true,
      num_replicas: 1,
      ...start,
    });
    const consumer = await js.consumers.get(stream, made.name);
    const messages = await consumer.consume({ max_messages: ahead, expires: 10_000, idle_heartbeat: 2000 });
    return new NatsConsumption(consumer, messages, made.delivered.stream_seq + 1, made.num_pending);
  }

  private constructor(consumer: Consumer, messages: ConsumerMessages, from: number, pending: number) {
    this.consumer = consumer;
    this.messages = messages;
    this.from = from;
    this.pending = pending;
    void this.watch();
  }

  get over(): boolean {
    return this.why !== '';
  }

  readonly end = (why: string): void => {
    this.why ||= why;
    this.messages.stop();
  };

  /** Resolves with why no more comes.
   * @param idle resolves when nothing is being taken any more */
  async run(add: (m: JsMsg) => Promise<void> | void, idle: () => Promise<void>): Promise<string> {
    try {
      for await (const m of this.messages) await add(m);
    } catch (cause) {
      this.why ||= (cause as Error).message;
    }
    this.why ||= 'the reader ended';
    await idle();
    void this.consumer.delete().catch(() => undefined);
    return this.why;
  }

  private async watch(): Promise<void> {
    for await (const status of this.messages.status()) {
      if (status.type === 'heartbeats_missed' && status.count >= 2) this.end('the stream fell silent');
      else if (ENDS.has(status.type)) this.end(`reader: ${status.type.replaceAll('_', ' ')}`);
    }
  }
}

/** Statuses after which a reader gets nothing more. */
const ENDS: ReadonlySet<string> = new Set([
  'consumer_not_found',
  'stream_not_found',
  'consumer_deleted',
  'no_responders',
]);
