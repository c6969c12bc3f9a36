// A bucket on NATS: its contents and changes in the order of storing, and compare-and-set changes.

import { DeliverPolicy, type JetStreamClient, type JetStreamManager, type JsMsg } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import type { StoredEntry, StoreResult } from './bus.ts';
import { failureOf, NatsConsumption } from './nats-consumption.ts';

/** Values to buffer: programs are large. */
const AHEAD = 8;

export class NatsBucket {
  private readonly js: JetStreamClient;
  private readonly jsm: JetStreamManager;
  private readonly bucket: string;
  private readonly prefix: string;
  private kv: KV | null = null;

  constructor(js: JetStreamClient, jsm: JetStreamManager, bucket: string) {
    this.js = js;
    this.jsm = jsm;
    this.bucket = bucket;
    this.prefix = `$KV.${bucket}.`;
  }

  async read(
    take: (all: ReadonlyMap<string, StoredEntry>) => void,
  ): Promise<{ consumption: NatsConsumption; ended: Promise<string> }> {
    const consumption = await NatsConsumption.open(
      this.js,
      this.jsm,
      `KV_${this.bucket}`,
      { deliver_policy: DeliverPolicy.LastPerSubject, filter_subject: `${this.prefix}>` },
      AHEAD,
    );
    const all = new Map<string, StoredEntry>();
    let left = consumption.pending;
    if (left === 0) take(all);
    const add = (m: JsMsg): void => {
      const key = m.subject.slice(this.prefix.length);
      if (m.headers?.has('KV-Operation') === true) all.delete(key);
      else all.set(key, { revision: m.seq, data: m.data });
      left--;
      if (left <= 0) take(all);
    };
    return { consumption, ended: consumption.run(add, async () => {}) };
  }

  async store(key: string, data: Uint8Array | null, revision: number): Promise<StoreResult> {
    try {
      this.kv ??= await new Kvm(this.js).open(this.bucket);
      const { kv } = this;
      if (data === null) {
        await kv.delete(key, { previousSeq: revision });
        return { state: 'stored', revision };
      }
      const stored = await (revision === 0 ? kv.create(key, data) : kv.update(key, data, revision));
      return { state: 'stored', revision: stored };
    } catch (cause) {
      const failure = failureOf(cause);
      return failure.conflict ? { state: 'changed' } : failure;
    }
  }
}
