// The streams and buckets of a fleet: created if absent, and never altered. Three replicas if the servers are a cluster
// with room for them.

import {
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { Kvm, type KvOptions } from '@nats-io/kv';
import type { BucketName } from './bus.ts';
import {
  ALL_CERTIFICATES,
  type FleetNames,
  GONE,
  LONGEST_BEAT,
  LONGEST_BUNDLE,
  LONGEST_CERTIFICATE,
  LONGEST_MESSAGE,
  MOST_PROGRAMS,
  NANO,
  STREAM_LIMITS,
} from './fleet-names.ts';

const REPLICAS = 3;
/** Bytes of a message besides its value, which the server counts too (chosen: it has a few dozen). */
const HEADERS = 1024;

export class NatsLayout {
  private readonly names: FleetNames;
  private readonly js: JetStreamClient;
  private readonly jsm: JetStreamManager;
  private readonly clustered: boolean;
  private readonly warn: (text: string) => void;

  constructor(
    names: FleetNames,
    js: JetStreamClient,
    jsm: JetStreamManager,
    clustered: boolean,
    warn: (text: string) => void,
  ) {
    this.names = names;
    this.js = js;
    this.jsm = jsm;
    this.clustered = clustered;
    this.warn = warn;
  }

  async makeStream(): Promise<void> {
    const { stream, invalidations } = this.names;
    const { seconds, messages, bytes, repeatedWithin } = STREAM_LIMITS;
    const config: Partial<StreamConfig> & { name: string } = {
      name: stream,
      subjects: [invalidations],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.Old,
      max_age: seconds * 1000 * NANO,
      max_msgs: messages,
      max_bytes: bytes,
      max_msg_size: LONGEST_MESSAGE,
      duplicate_window: repeatedWithin * 1000 * NANO,
      allow_direct: false,
    };
    await this.made(stream, (replicas) => this.jsm.streams.add({ ...config, num_replicas: replicas }));
  }

  async makeNodes(): Promise<void> {
    await this.makeBucket(this.names.nodes, {
      ttl: GONE,
      max_bytes: 16 * 1024 * 1024,
      maxValueSize: LONGEST_BEAT + HEADERS,
      storage: StorageType.Memory,
    });
  }

  async makeShared(bucket: BucketName): Promise<void> {
    await (bucket === 'programs' ? this.makePrograms() : this.makeCertificates());
  }

  private async makeCertificates(): Promise<void> {
    await this.makeBucket(this.names.certificates, {
      max_bytes: ALL_CERTIFICATES,
      maxValueSize: LONGEST_CERTIFICATE + HEADERS,
      storage: StorageType.File,
    });
  }

  private async makePrograms(): Promise<void> {
    await this.makeBucket(this.names.programs, {
      // Twice the maximum: deletions leave markers.
      max_bytes: 2 * MOST_PROGRAMS * LONGEST_BUNDLE,
      maxValueSize: LONGEST_BUNDLE + HEADERS,
      storage: StorageType.File,
    });
  }

  private async makeBucket(name: string, limits: Partial<KvOptions>): Promise<void> {
    const kvm = new Kvm(this.js);
    await this.made(`KV_${name}`, (replicas) => kvm.create(name, { history: 1, ...limits, replicas }));
  }

  /** Creates what is missing, with three replicas if the servers are a cluster with room for them. */
  private async made(stream: string, make: (replicas: number) => Promise<unknown>): Promise<void> {
    if (await this.exists(stream)) return;
    if (this.clustered) {
      try {
        await make(REPLICAS);
        return;
      } catch (cause) {
        if (await this.exists(stream)) return;
        this.warn(`${stream} is kept in one copy: ${(cause as Error).message}`);
      }
    }
    try {
      await make(1);
    } catch (cause) {
      // Another node may have created it meanwhile.
      if (!(await this.exists(stream))) throw cause;
    }
  }

  private async exists(stream: string): Promise<boolean> {
    try {
      await this.jsm.streams.info(stream);
      return true;
    } catch (cause) {
      if (cause instanceof JetStreamApiError && cause.status === 404) return false;
      throw cause;
    }
  }
}
