// The bus on NATS with JetStream. The client library reconnects by itself, for ever, and renews subscriptions;
// consumers of the stream are recreated by their readers, since a lost connection may have dropped messages.

import {
  DeliverPolicy,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import {
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  type NatsConnection,
  NoRespondersError,
} from '@nats-io/transport-node';
import type {
  BucketName,
  Bus,
  BusListener,
  BusMessage,
  PublishResult,
  Reading,
  StoredEntry,
  StoreResult,
  StreamState,
} from './bus.ts';
import { FleetNames, lastWord, NANO } from './fleet-names.ts';
import { NatsBucket } from './nats-bucket.ts';
import { AHEAD, Batches, failureOf, NatsConsumption, reasonIs } from './nats-consumption.ts';
import { NatsLayout } from './nats-layout.ts';

export interface BusSettings {
  readonly servers: readonly string[];
  readonly fleet: string;
  readonly node: string;
  /** Contents of a creds file. */
  readonly creds: Uint8Array | null;
  readonly user: { readonly name: string; readonly password: string } | null;
  /** CA certificates of the servers. */
  readonly ca: string | null;
}

/** Milliseconds between pings; a lost connection is detected after two. */
const PING = 2000;
const CONNECT = 3000;
const RETRY = 500;

export class NatsBus implements Bus {
  private readonly names: FleetNames;
  private readonly settings: BusSettings;
  private readonly listener: BusListener;
  private nc: NatsConnection | null = null;
  private js: JetStreamClient | null = null;
  private jsm: JetStreamManager | null = null;
  private kv: KV | null = null;
  private layout: NatsLayout | null = null;
  private readonly buckets = new Map<BucketName, NatsBucket>();
  private readonly readings = new Set<(why: string) => void>();
  private closed = false;
  connected = false;

  constructor(settings: BusSettings, listener: BusListener) {
    this.settings = settings;
    this.listener = listener;
    this.names = new FleetNames(settings.fleet);
  }

  get address(): string | null {
    return this.nc?.info?.client_ip ?? null;
  }

  /** Connects; rejects if the first attempt fails. */
  async open(): Promise<void> {
    const { servers, node, creds, user, ca } = this.settings;
    const options: ConnectionOptions = {
      servers: [...servers],
      name: `proxyd ${node}`,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RETRY,
      reconnectJitter: RETRY,
      pingInterval: PING,
      maxPingOut: 2,
      timeout: CONNECT,
      ignoreAuthErrorAbort: true,
      ...(creds === null ? {} : { authenticator: credsAuthenticator(creds) }),
      ...(user === null ? {} : { user: user.name, pass: user.password }),
      ...(ca !== null ? { tls: { ca } } : servers.some((s) => s.startsWith('tls:')) ? { tls: {} } : {}),
    };
    const nc = await connect(options);
    if (this.closed) {
      await nc.close();
      return;
    }
    try {
      await this.join(nc);
    } catch (cause) {
      await nc.close();
      throw cause;
    }
  }

  private async join(nc: NatsConnection): Promise<void> {
    this.nc = nc;
    this.jsm = await jetstreamManager(nc, { checkAPI: false, timeout: CONNECT });
    this.js = jetstream(nc, { timeout: CONNECT });
    const clustered = nc.info?.cluster !== undefined;
    this.layout = new NatsLayout(this.names, this.js, this.jsm, clustered, (text) =>
      this.listener.warn(text),
    );
    await this.layout.makeStream();
    await this.layout.makeNodes();
    this.kv = await new Kvm(this.js).open(this.names.nodes);
    for (const bucket of ['programs', 'certificates'] as const)
      this.buckets.set(bucket, new NatsBucket(this.js, this.jsm, this.names[bucket]));
    const { node } = this.settings;
    nc.subscribe(this.names.applied(node, '*'), {
      callback: (error, m) => {
        if (error === null) this.listener.applied(lastWord(m.subject), m.data);
      },
    });
    nc.subscribe(`$KV.${this.names.nodes}.*`, {
      callback: (error, m) => {
        if (error !== null) return;
        const gone = m.headers?.has('KV-Operation') === true;
        this.listener.beat(lastWord(m.subject), gone ? null : m.data, 0);
      },
    });
    this.connected = true;
    void this.follow(nc);
    this.listener.connected();
    this.readNodes().catch((cause: Error) =>
      this.listener.warn(`cannot read the other nodes: ${cause.message}`),
    );
  }

  /** Reports the nodes that exist already, with the time since their last heartbeat. */
  private async readNodes(): Promise<void> {
    const { kv } = this;
    if (kv === null) return;
    for await (const node of await kv.keys()) {
      const entry = await kv.get(node);
      if (entry?.operation !== 'PUT') continue;
      this.listener.beat(node, entry.value, Math.max(0, Date.now() - entry.created.getTime()));
    }
  }

  private async follow(nc: NatsConnection): Promise<void> {
    for await (const status of nc.status()) {
      switch (status.type) {
        case 'disconnect':
          this.lost('the connection to the bus was lost');
          break;
        case 'reconnect':
          this.connected = true;
          this.listener.connected();
          break;
        case 'error':
          this.listener.warn(status.error.message);
          break;
        case 'slowConsumer':
          this.endReadings('messages came faster than they were taken');
          break;
        default:
      }
    }
    if (this.closed) return;
    this.lost('the connection to the bus was closed');
    this.listener.closed();
  }

  private lost(why: string): void {
    if (!this.connected) return;
    this.connected = false;
    this.endReadings(why);
    this.listener.disconnected(why);
  }

  private endReadings(why: string): void {
    for (const end of [...this.readings]) end(why);
  }

  private get manager(): JetStreamManager {
    if (this.jsm === null) throw new Error('the bus is not connected yet');
    return this.jsm;
  }

  async publish(node: string, id: string, data: Uint8Array, ms: number): Promise<PublishResult> {
    const { js } = this;
    if (js === null || !this.connected)
      return { state: 'refused', detail: 'no connection to the bus', again: true };
    try {
      const subject = this.names.invalidate(node);
      const { seq } = await js.publish(subject, data, { msgID: id, timeout: ms, retries: 1 });
      return { state: 'stored', seq };
    } catch (cause) {
      return failureOf(cause);
    }
  }

  async stream(): Promise<StreamState> {
    // Recreates the stream if it was removed.
    await this.layout?.makeStream();
    const { created, state } = await this.manager.streams.info(this.names.stream);
    const first = state.messages === 0 ? state.last_seq + 1 : state.first_seq;
    const droppedUntil = first === 1 ? 0 : state.messages === 0 ? Date.now() : Date.parse(state.first_ts);
    const lastAt = state.messages === 0 ? 0 : Date.parse(state.last_ts);
    return { created: String(created), first, last: state.last_seq, droppedUntil, lastAt };
  }

  async timeOf(seq: number): Promise<number | null> {
    try {
      const message = await this.manager.streams.getMessage(this.names.stream, { seq });
      return message === null ? null : message.time.getTime();
    } catch (cause) {
      if (cause instanceof JetStreamApiError && cause.status === 404) return null;
      throw cause;
    }
  }

  async read(
    from: { readonly seq: number } | { readonly time: number },
    take: (batch: readonly BusMessage[]) => Promise<void>,
  ): Promise<Reading> {
    const { js, names } = this;
    if (js === null) throw new Error('the bus is not connected yet');
    const start =
      'seq' in from
        ? { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: from.seq }
        : {
            deliver_policy: DeliverPolicy.StartTime,
            opt_start_time: new Date(from.time).toISOString(),
          };
    const reading = await NatsConsumption.open(js, this.manager, names.stream, start, AHEAD);
    const batches = new Batches(take, () => reading.over, reading.end);
    const ended = reading.run(
      (m) => batches.add(busMessage(m)),
      () => batches.idle(),
    );
    return { from: reading.from, ...this.kept(reading, ended) };
  }

  async readBucket(
    name: BucketName,
    take: (all: ReadonlyMap<string, StoredEntry>) => void,
  ): Promise<Omit<Reading, 'from'>> {
    const bucket = this.buckets.get(name);
    if (bucket === undefined) throw new Error('the bus is not connected yet');
    // Recreates the bucket if it was removed.
    await this.layout?.makeShared(name);
    const { consumption, ended } = await bucket.read(take);
    return this.kept(consumption, ended);
  }

  async storeEntry(
    name: BucketName,
    key: string,
    data: Uint8Array | null,
    revision: number,
  ): Promise<StoreResult> {
    const bucket = this.buckets.get(name);
    if (bucket === undefined || !this.connected)
      return { state: 'refused', detail: 'no connection to the bus' };
    return bucket.store(key, data, revision);
  }

  /** Ends the reading with the connection. */
  private kept({ end }: NatsConsumption, ended: Promise<string>): Omit<Reading, 'from'> {
    this.readings.add(end);
    void ended.then(() => this.readings.delete(end));
    return { ended, close: () => end('closed') };
  }

  report(publisher: string, node: string, data: Uint8Array): void {
    if (this.connected) this.nc?.publish(this.names.applied(publisher, node), data);
  }

  async beat(node: string, data: Uint8Array): Promise<void> {
    const { layout, kv } = this;
    if (kv === null || !this.connected) return;
    try {
      await kv.put(node, data);
    } catch (cause) {
      // The bucket is in memory, and is lost with the last server that holds it.
      if (!reasonIs(cause, NoRespondersError)) throw cause;
      await layout?.makeNodes();
      await kv.put(node, data);
    }
  }

  async close(node: string): Promise<void> {
    this.closed = true;
    this.endReadings('closed');
    const { nc, kv } = this;
    if (nc === null) return;
    if (this.connected) await Promise.race([kv?.delete(node).catch(() => undefined), after(500)]);
    this.connected = false;
    await Promise.race([nc.close().catch(() => undefined), after(500)]);
  }
}

function busMessage(m: JsMsg): BusMessage {
  return {
    seq: m.seq,
    publisher: lastWord(m.subject),
    id: m.headers?.get('Nats-Msg-Id') ?? '',
    at: Number(m.timestampNanos / BigInt(NANO)),
    pending: m.info.pending,
    data: m.data,
  };
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
