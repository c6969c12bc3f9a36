// The state of one daemon, kept outside React: connection, counters and their history, log, traffic, backends, events. It
// subscribes to a source and notifies its own subscribers at most once a frame, however fast data comes. Data stays when
// the daemon goes: it turns stale, and the gap is marked.

import type { CounterInfo } from '../../../protocol/messages.ts';
import type { ConnectionState, EventWord, NotedAs, Source } from '../../client/source.ts';
import { CountedTraffic } from '../counters/counted-traffic.ts';
import type { Series } from '../counters/series.ts';
import type { LogBounds } from '../log/log-store.ts';
import type { GroupMatcher } from '../log/request-group.ts';
import { SLOW_NOW, SlowBackends } from '../traffic/slow-backends.ts';
import { AdminStore, notKnown } from './admin-store.ts';
import { type BackendRow, parseBackendList, shortName } from './backends.ts';
import { EVENTS_ASKED, EventLog } from './event-log.ts';
import { LongestTurnPoll } from './longest-turn.ts';
import { longestRecord } from './parameter-value.ts';
import { ProbeAnswers } from './probe-answers.ts';
import { SampledTraffic } from './sampled-traffic.ts';
import { SessionLog } from './session-log.ts';

export interface SessionOptions {
  source: Source;
  /** Epoch seconds. */
  now(): number;
  /** Runs `fn` after `ms`; injected so that tests and screenshots own the time. */
  later(fn: () => void, ms: number): void;
  /** Least time between two notifications, in ms. */
  frameMs?: number;
  logBounds?: LogBounds;
  /** Clock times in UTC; local time otherwise. */
  utc?: boolean;
  /** Tests the kept groups with a new query; without it none of them matches. */
  matcher?: GroupMatcher;
}

/** Seconds without a sample that are a gap in the charts (chosen): the daemon keeps one a second. */
const HOLE = 5;
/** Seconds without counters after which the daemon or the worker counts as silent (chosen): they come every second. */
export const SILENCE = 4;
const BACKEND_POLL_SECONDS = 2;
/** Seconds after a notification in which the time and new samples are no reason for another (chosen): counters come every
 * second, and figures of samples are those of whole seconds. */
const UNHURRIED = 0.8;
/** Milliseconds after the first counters until the rest of their history is requested (chosen). */
const RECALL_MS = 300;

export class DaemonSession {
  readonly source: Source;
  readonly now: () => number;
  private readonly later: SessionOptions['later'];
  private readonly frameMs: number;
  connection: ConnectionState = { state: 'connecting', attempt: 0 };
  /** Identity and version of the last daemon seen. */
  identity = '';
  version = '';
  /** Epoch seconds of the last data; 0 before any. */
  lastDataAt = 0;
  /** The same of the counters, on the present connection: the daemon's health is read from them. */
  valuesAt = 0;
  /** Seconds between two sets of counters. */
  interval = 1;
  /** Of each log stream. */
  private readonly losses = new Map<string, number>();
  /** Has the connection been up at all? */
  everUp = false;
  private readonly counted = new CountedTraffic();
  readonly counters = this.counted.counters;
  readonly trail = this.counted.trail;
  readonly hitRate = this.counted.hitRate;
  readonly rates = this.counted.rates;
  /** The part of the counter history that the first screen does without. */
  private past: 'due' | 'loading' | 'loaded' = 'due';
  backends: BackendRow[] = [];
  /** Why they are not known; '' when they are. */
  backendsUnknown = 'not answered yet';
  readonly admin: AdminStore;
  readonly log: SessionLog;
  readonly traffic: SampledTraffic;
  readonly probes: ProbeAnswers;
  readonly events = new EventLog();
  readonly turns: LongestTurnPoll;
  readonly utc: boolean;
  private readonly slow = new SlowBackends();
  private slowAt = 0;
  private lastPoll = 0;
  private polling = false;
  private backendsAsked = false;
  private readonly listeners = new Set<() => void>();
  private tick = 0;
  private notifiedAt = 0;
  /** The tick at which the last unhurried change was not shown yet; and whether one is scheduled. */
  private unshown = 0;
  private waiting = false;
  private scheduled = false;
  private closed = false;

  constructor(options: SessionOptions) {
    const { source, now, later } = options;
    const changed = () => this.touch();
    this.source = source;
    this.now = now;
    this.later = later;
    this.frameMs = options.frameMs ?? 80;
    this.utc = options.utc === true;
    this.turns = new LongestTurnPoll((line) => source.command(line), changed);
    this.admin = new AdminStore(source, now, changed);
    this.log = new SessionLog({
      source,
      now,
      later,
      changed,
      failed: () => this.touchUnhurried(),
      lost: (stream, records, reason) => this.lose(stream, records, reason),
      bounds: options.logBounds,
      matcher: options.matcher ?? (() => () => false),
    });
    this.traffic = new SampledTraffic({
      source,
      now,
      later,
      changed,
      sampled: () => this.touchUnhurried(),
      lost: (records, reason) => this.lose('sample', records, reason),
      longestRecord: () => longestRecord(this.admin),
    });
    this.probes = new ProbeAnswers(source, changed);
  }

  start(): void {
    this.source.start({
      connection: (state) => this.onConnection(state),
      counters: (info) => this.onCounters(info),
      values: (at, values, steady) => this.onValues(at, values, steady),
      past: (at, values, steady) => this.onPast(at, values, steady),
      event: (word, text, noted) => this.onEvent(word, text, noted),
    });
    this.log.start();
    this.traffic.start();
  }

  setInterval(seconds: number): void {
    this.interval = seconds;
    this.source.setInterval(seconds);
  }

  /** Requests a second, by the second. */
  get requests(): Series {
    return this.rates.fine.requests;
  }

  /** Requests a second of clients in the last `seconds`, by the counters; null before two of their samples. */
  requestRate(seconds: number): number | null {
    const rate = this.requests.slices(this.lastDataAt, Math.max(1, seconds), 1).mean[0];
    return rate === undefined || Number.isNaN(rate) ? null : rate;
  }

  close(): void {
    this.closed = true;
    this.log.close();
    this.traffic.close();
    this.probes.close();
    this.source.close();
    this.listeners.clear();
  }

  /** Log records that should have arrived and did not; records beyond a rate were not requested. All streams read one log:
   * the largest loss counts. */
  get lostRecords(): number {
    return Math.max(0, ...this.losses.values());
  }

  /** Is the counter history still loading? */
  get recallsCounters(): boolean {
    return this.past !== 'loaded' && this.source.history !== undefined && this.connection.state === 'up';
  }

  /** Whether all data of a first screen is there: counters with their history, backends, the newest of the log. */
  get isFurnished(): boolean {
    return this.valuesAt > 0 && this.backendsAsked && this.traffic.begun;
  }

  /** Is the connection lost, or was it never made? */
  get cutOff(): boolean {
    return this.connection.state === 'waiting' || (this.everUp && this.connection.state !== 'up');
  }

  /** Connected, but without counters for some seconds; their interval may exceed the limit. */
  get isSilent(): boolean {
    return (
      this.connection.state === 'up' &&
      this.valuesAt > 0 &&
      this.now() - this.valuesAt > SILENCE + this.interval
    );
  }

  /** Whether what the daemon last reported may no longer be true. */
  get isOld(): boolean {
    return this.cutOff || this.isSilent;
  }

  /** Epoch seconds at which figures over the last seconds end: without news they keep those that were last known. */
  get dataAt(): number {
    return this.isOld ? this.lastDataAt : this.now();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  snapshot = (): number => this.tick;

  /** Marks a change; subscribers are notified at the end of the frame. */
  touch(): void {
    if (this.scheduled || this.closed) return;
    this.scheduled = true;
    this.later(() => {
      this.scheduled = false;
      if (this.closed) return;
      this.tick++;
      this.notifiedAt = this.now();
      for (const listener of this.listeners) listener();
    }, this.frameMs);
  }

  /** Marks a change that the next notification shows, at the latest one after a second. */
  private touchUnhurried(): void {
    this.unshown = this.tick;
    if (this.waiting || this.closed) return;
    this.waiting = true;
    this.later(() => {
      this.waiting = false;
      if (this.unshown === this.tick) this.touch();
    }, UNHURRIED * 1000);
  }

  /** A second has passed: the clock and durations change, which data has shown already where it comes. */
  passSecond(): void {
    if (Math.abs(this.now() - this.notifiedAt) >= UNHURRIED) this.touch();
  }

  private onConnection(state: ConnectionState): void {
    const was = this.connection;
    this.connection = state;
    this.valuesAt = 0;
    if (state.state === 'up') {
      this.identity = state.identity;
      this.version = state.version;
      this.lastPoll = 0;
      this.past = 'due';
      this.admin.refresh();
      longestRecord(this.admin);
      void this.askEvents();
      if (this.everUp && was.state !== 'up') this.log.gap('reconnected');
      this.everUp = true;
      this.lastDataAt = this.now();
    } else if (was.state === 'up') {
      this.lastDataAt = this.now();
      this.log.disconnected();
      const text = state.state === 'waiting' ? `connection lost: ${state.reason}` : 'connection lost';
      this.log.gap(text);
      this.events.lost(this.lastDataAt, text);
      this.rates.gap(this.now());
    }
    this.touch();
  }

  private onCounters(info: CounterInfo[]): void {
    this.counters.describe(info);
    this.touch();
  }

  private onValues(at: number, values: bigint[], steady = false): void {
    this.takeSample(at, values, steady);
    this.counted.keep(at, values, steady);
    if (this.past === 'due') {
      this.past = 'loading';
      // The first screen waits for more urgent answers.
      this.later(() => void this.recall(), RECALL_MS);
    }
    this.traffic.beginShare();
    this.watchBackends();
    this.lastDataAt = this.now();
    this.valuesAt = this.lastDataAt;
    this.admin.tick();
    this.pollBackends();
    void this.turns.tick(Number(this.counters.value('WRK.longest_turn_us')));
    this.touch();
  }

  /** A sample from the daemon's history: no sign that it is alive now. */
  private onPast(at: number, values: bigint[], steady = false): void {
    if (at <= this.counters.at) return;
    // The daemon did not run, or kept no samples.
    const since = this.counters.at;
    if (this.counters.samples > 0 && at - since > HOLE) this.rates.gap(since + 1);
    this.takeSample(at, values, steady);
    this.touch();
  }

  /** Loads the rest of the counter history, which the present is compared with. */
  private async recall(): Promise<void> {
    const ask = this.source.history?.bind(this.source);
    if (ask !== undefined) await this.counted.recall(ask, this.lastDataAt, this.interval, () => this.touch());
    this.past = 'loaded';
    this.touch();
  }

  private takeSample(at: number, values: bigint[], steady: boolean): void {
    this.traffic.counted(this.counted.take(at, values, steady, this.version));
  }

  private watchBackends(): void {
    const now = this.now();
    if (Math.abs(now - this.slowAt) < SLOW_NOW / 2) return;
    this.slowAt = now;
    const { sample } = this.traffic;
    for (const { backend, usual, now: p50, isOver } of this.slow.take(
      sample.backendTraffic(now),
      sample.backendTraffic(now, SLOW_NOW),
    )) {
      // The log names backends without their program.
      const named = this.backends.filter(({ name }) => shortName(name) === backend);
      const name = named.length === 1 ? (named[0] as BackendRow).name : backend;
      const text = isOver
        ? `${name} is as fast as before: median ${ms(p50)}`
        : `${name} became slow: median time to first byte ${ms(p50)}, before ${ms(usual)}`;
      this.events.slow(now, text);
    }
  }

  private lose(stream: string, records: number, reason: string): void {
    if (reason !== 'rate') this.losses.set(stream, (this.losses.get(stream) ?? 0) + records);
    this.touch();
  }

  private onEvent(word: EventWord, text: string, noted?: NotedAs): void {
    this.events.reported(word, text, this.now(), noted);
    if (word === 'died' || word === 'stopped')
      this.log.gap(`worker ${word}${text === '' ? '' : `: ${text}`}`);
    this.lastPoll = 0;
    this.admin.refresh();
    longestRecord(this.admin);
    this.touch();
  }

  /** Loads the daemon's list of past events. */
  private async askEvents(): Promise<void> {
    const { status, body } = await this.source.command(EVENTS_ASKED);
    if (status === 200) this.events.learn(body);
    this.touch();
  }

  private pollBackends(): void {
    // In both directions: a clock may be set back.
    if (this.polling || Math.abs(this.now() - this.lastPoll) < BACKEND_POLL_SECONDS) return;
    this.lastPoll = this.now();
    this.polling = true;
    void this.source.command('backend.list -j').then((reply) => {
      this.polling = false;
      this.backendsAsked = true;
      // The list from before a lost connection stays, that from before the end of a worker does not.
      if (reply.status !== 0) {
        this.backendsUnknown = notKnown(reply);
        this.backends = this.backendsUnknown === '' ? parseBackendList(reply.body) : [];
      } else if (this.backends.length === 0) this.backendsUnknown = reply.body;
      this.touch();
    });
  }
}

function ms(seconds: number): string {
  return `${Math.round(seconds * 1000)} ms`;
}
