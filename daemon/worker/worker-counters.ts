// Publishes a worker's counters: the first thread writes them, together with those that the other threads report, into
// the file that the manager reads.

import { join } from 'node:path';
import type { FileAccess } from '../../protocol/files/own-file.ts';
import type { WriteTrouble } from '../log/write-trouble.ts';
import type {
  EdgeCounters,
  MainCounters,
  SmaCounters,
  SmdCounters,
  TlsCounters,
  VbeCounters,
  VcpCounters,
  WaiterCounters,
  WrkCounters,
} from '../stats/counter-fields.ts';
import { CounterRelay, type CountersMessage } from '../stats/counter-relay.ts';
import { CountersFile } from '../stats/counters-file.ts';
import { COUNTERS_FILE } from '../stats/counters-format.ts';
import { ReportTimes } from '../stats/report-times.ts';
import { type ThreadFacts, ThreadRow } from '../stats/thread-row.ts';
import { sampleWorkerGauges } from '../stats/worker-gauges.ts';
import type { Peers } from '../threads/peers.ts';
import type { TurnWatch } from '../turns/turn-watch.ts';

/** The operations that the rest of the worker uses. */
export interface PublicCounters {
  addBackend(program: string, backend: string, counters: VbeCounters): void;
  removeBackend(counters: VbeCounters): void;
  start(): void;
  publish(): void;
  close(): void;
}

export interface CounterParts {
  /** The worker's directory. */
  readonly dir: string;
  readonly files: FileAccess;
  readonly trouble: WriteTrouble;
  readonly main: MainCounters;
  readonly wrk: WrkCounters;
  readonly storages: ReadonlyMap<string, SmaCounters>;
  /** Null without a disk tier. */
  readonly disk: { readonly name: string; readonly counters: SmdCounters } | null;
  readonly pools: VcpCounters;
  readonly idle: WaiterCounters;
  readonly tls: TlsCounters;
  /** Whether there are TLS listeners. */
  readonly hasTls: boolean;
  readonly edge: EdgeCounters;
  readonly facts: ThreadFacts;
  readonly turnWatch: TurnWatch;
  /** Null with one thread. */
  readonly peers: Peers | null;
  /** Brings gauges up to date, about once a second. */
  sample(): void;
}

const FIRST = 0;

function reportTimes(peers: Peers): ReportTimes {
  const { count } = peers;
  const part = peers.part('reports');
  return new ReportTimes(new Float64Array(part.piece('times', count * 8)), part.words(count));
}

export class WorkerCounters {
  readonly public: PublicCounters;
  private readonly file: CountersFile | null;
  private readonly edge: EdgeCounters;
  private edgeShown = false;

  constructor(parts: CounterParts) {
    const { main, wrk, peers } = parts;
    this.edge = parts.edge;
    const thread = peers?.thread ?? FIRST;
    const row = new ThreadRow(thread, main, wrk, parts.facts);
    const gauges = sampleWorkerGauges(wrk, parts.turnWatch);
    const sample = (): void => {
      parts.sample();
      gauges();
    };
    if (peers !== null && thread !== FIRST) {
      const reports = reportTimes(peers);
      const relay = new CounterRelay(main, wrk, parts.tls, row, (message) => {
        reports.sending(thread);
        peers.channel.send(FIRST, message);
      });
      relay.scanned = (at) => reports.scanned(thread, at);
      relay.sample = sample;
      this.public = relay;
      this.file = null;
      return;
    }
    const file = new CountersFile(join(parts.dir, COUNTERS_FILE), main, wrk, parts.files, parts.trouble);
    for (const [name, counters] of parts.storages) file.addStorage(name, counters);
    if (parts.disk !== null) file.addDisk(parts.disk.name, parts.disk.counters);
    file.addPools(parts.pools, parts.idle);
    if (parts.hasTls) file.addTls(parts.tls);
    file.addThread(row);
    file.sample = sample;
    this.public = file;
    this.file = file;
    if (peers === null) return;
    const reports = reportTimes(peers);
    peers.channel.on<CountersMessage>('counters', (message, from) => {
      reports.received(from, message.at);
      file.merge(from, message);
    });
    file.reports = reports;
  }

  /** Publishes the edge connector's counters from now on. */
  showEdge(): void {
    if (this.edgeShown) return;
    this.edgeShown = true;
    this.file?.addEdge(this.edge);
  }
}
