// What the console knows of one daemon, kept outside React: connection, counters and their history, log,
// last errors, backends. It listens to a source and tells its subscribers at most once a frame, however
// fast data comes. Data stays when the daemon goes: it turns stale, and the hole is marked.

import type { CounterInfo, Grouping } from '../../../protocol/messages.ts';
import type {
  ConnectionState,
  EarlierRun,
  EventWord,
  NotedAs,
  Source,
  Subscription,
} from '../../client/source.ts';
import { CountedTraffic } from '../counters/counted-traffic.ts';
import type { Series } from '../counters/series.ts';
import { LogEntry } from '../log/log-entry.ts';
import { LogRange } from '../log/log-range.ts';
import { LogStore } from '../log/log-store.ts';
import { type GroupMatcher, splitGroups } from '../log/request-group.ts';
import { ShownLog } from '../log/shown-log.ts';
import { SAMPLED_RECORDS } from '../traffic/traffic-facts.ts';
import { EarlierTraffic, SampleShare, TrafficSample } from '../traffic/traffic-sample.ts';
import type { Judge } from '../traffic/unserved.ts';
import { AdminStore, notKnown } from './admin-store.ts';
import { type BackendRow, parseBackendList } from './backends.ts';
import { EVENTS_ASKED, EventLog } from './event-log.ts';
import { LongestTurnPoll } from './longest-turn.ts';
import { longestRecord } from './parameter-value.ts';
import { ProbeAnswers } from './probe-answers.ts';
import { ReadingBack } from './reading-back.ts';

export interface SessionOptions {
  source: Source;
  /** Epoch seconds. */
  now(): number;
  /** Runs `fn` after `ms`; injected so that tests and screenshots own the time. */
  later(fn: () => void, ms: number): void;
  /** Least time between two notifications, in ms. */
  frameMs?: number;
  logBounds?: { maxBytes: number; maxEntries: number };
  /** Clock times in UTC; local time otherwise. */
  utc?: boolean;
  /** Tests the kept groups with a new query; without it none of them matches. */
  matcher?: GroupMatcher;
}

/** Seconds without a sample that are a hole in the charts (chosen): the daemon keeps one a second. */
const HOLE = 5;
const BACKEND_POLL_SECONDS = 2;
/** Requests a second that the sample takes at the most. */
const SAMPLE_RATE = 300;
/** Requests of the past after which no more are asked for (chosen): rankings have settled, latencies have all they hold. */
const RECALLED_REQUESTS = 20_000;
/** Milliseconds after the first counters until the rest of their past is asked for (chosen). */
const RECALL_MS = 300;
/** Verdicts of a slice, some milliseconds, and milliseconds from one slice to the next (chosen). */
const JUDGED_AT_ONCE = 20;
const JUDGE_MS = 10;

export class DaemonSession {
  readonly source: Source;
  readonly now: () => number;
  private readonly later: SessionOptions['later'];
  private readonly matcher: GroupMatcher;
  private readonly frameMs: number;
  connection: ConnectionState = { state: 'connecting', attempt: 0 };
  /** Identity and version of the last daemon seen. */
  identity = '';
  version = '';
  /** Epoch seconds of the last data; 0 before any. */
  lastDataAt = 0;
  /** The same of the counters, on the present connection: how the daemon does is known from them. */
  valuesAt = 0;
  /** Seconds between two sets of counters. */
  interval = 1;
  /** Of each stream of the log. */
  private readonly losses = new Map<string, number>();
  /** Has the connection been up at all? */
  everUp = false;
  private readonly counted = new CountedTraffic();
  readonly counters = this.counted.counters;
  readonly trail = this.counted.trail;
  readonly hitRate = this.counted.hitRate;
  readonly rates = this.counted.rates;
  /** The part of the past that is not needed at once: not asked for yet, being read, or known. */
  private past: 'due' | 'asked' | 'known' = 'due';
  backends: BackendRow[] = [];
  /** Why they are not known; '' when they are. */
  backendsUnknown = 'not answered yet';
  readonly admin: AdminStore;
  readonly sample = new TrafficSample();
  readonly probes: ProbeAnswers;
  readonly utc: boolean;
  /** The operator has begun a count of his own: the past is no part of it. */
  private sampleCleared = false;
  private readonly sampleShares = new SampleShare();
  readonly errors = new LogStore({ maxBytes: 4 << 20, maxEntries: 200 });
  /** All groups that are kept, and of them those that the query lets through. */
  readonly kept: LogStore;
  readonly log: ShownLog;
  readonly logRange: LogRange;
  readonly events = new EventLog();
  query = '';
  grouping: Grouping = 'request';
  /** Why the log subscription does not run; '' when it does. */
  logError = '';
  private back = new ReadingBack();
  /** The daemon has not taken the log subscription yet. */
  asking = false;
  private logStream: Subscription | null = null;
  private errorStream: Subscription | null = null;
  private sampleStream: Subscription | null = null;
  readonly turns: LongestTurnPoll;
  private lastPoll = 0;
  private polling = false;
  private backendsAsked = false;
  /** The log was subscribed to, and the newest part of its past is there. */
  private sampleBegun = false;
  private readonly listeners = new Set<() => void>();
  /** Some have no verdict yet, and a slice will come. */
  private judging = false;
  private tick = 0;
  private scheduled = false;
  private closed = false;

  constructor(options: SessionOptions) {
    this.source = options.source;
    this.now = options.now;
    this.later = options.later;
    this.frameMs = options.frameMs ?? 80;
    this.utc = options.utc === true;
    this.turns = new LongestTurnPoll(
      (line) => this.source.command(line),
      () => this.touch(),
    );
    this.admin = new AdminStore(this.source, this.now, () => this.touch());
    this.kept = new LogStore(options.logBounds ?? { maxBytes: 128 << 20, maxEntries: 100_000 });
    this.log = new ShownLog(this.kept, { later: this.later, changed: () => this.touch() });
    this.logRange = new LogRange(this.source, () => this.touch());
    this.probes = new ProbeAnswers(this.source, () => this.touch());
    this.matcher = options.matcher ?? (() => () => false);
  }

  start(): void {
    this.source.start({
      connection: (state) => this.onConnection(state),
      counters: (info) => this.onCounters(info),
      values: (at, values, steady) => this.onValues(at, values, steady),
      past: (at, values, steady) => this.onPast(at, values, steady),
      event: (word, text, noted) => this.onEvent(word, text, noted),
    });
    this.errorStream = this.source.log(
      { grouping: 'request', query: 'RespStatus >= 500', from: 'tail' },
      {
        batch: (transactions) => {
          // A life that failed and was started again is no error that anybody saw.
          const seen = splitGroups(transactions).filter((g) => new LogEntry(0, g, '').failure !== null);
          this.errors.add(seen.flat());
          this.touch();
        },
        lost: (records, reason) => this.lose('errors', records, reason),
        failed: () => undefined,
        earlier: () => this.runBefore(this.errors),
      },
    );
    this.sampleStream = this.source.log(
      {
        grouping: 'request',
        from: 'tail',
        rate: { count: SAMPLE_RATE, period: 1 },
        filters: [...SAMPLED_RECORDS],
      },
      {
        ready: () => {
          this.sampleBegun = true;
        },
        batch: (transactions) => {
          this.sample.longestRecord = longestRecord(this.admin);
          this.sample.add(transactions, this.now());
          this.touch();
        },
        lost: (records, reason) => this.lose('sample', records, reason),
        failed: () => undefined,
        earlier: () => this.sampleBefore(),
      },
    );
  }

  setInterval(seconds: number): void {
    this.interval = seconds;
    this.source.setInterval(seconds);
  }

  /** Requests a second, by the second. */
  get requests(): Series {
    return this.rates.fine.requests;
  }

  /** Share of the clients' requests that the sample has, 0..1; 1 before any. */
  sampleShare(): number {
    return this.sampleShares.share(this.sample.requests);
  }

  /** Requests a second of clients in the last `seconds`, as the counters say; null before two of their samples. */
  requestRate(seconds: number): number | null {
    const rate = this.requests.slices(this.lastDataAt, Math.max(1, seconds), 1).mean[0];
    return rate === undefined || Number.isNaN(rate) ? null : rate;
  }

  /** Counts what the sample ranks from zero, and no more of the past. */
  clearSample(): void {
    this.sample.clearRanks(this.now());
    this.sampleCleared = true;
    this.sampleShares.clear();
    this.touch();
  }

  /** Gives verdicts to the requests of the sample that were no hits: some at once, and the others in slices, between which
   * keys are answered. */
  judgeUnserved(judge: Judge): void {
    if (this.judging) return;
    this.judging = this.sample.unserved.judge(JUDGED_AT_ONCE, judge);
    if (!this.judging) return;
    this.later(() => {
      this.judging = false;
      if (this.closed) return;
      this.touch();
      this.judgeUnserved(judge);
    }, JUDGE_MS);
  }

  close(): void {
    this.closed = true;
    this.logStream?.close();
    this.logRange.end();
    this.errorStream?.close();
    this.sampleStream?.close();
    this.probes.close();
    this.source.close();
    this.listeners.clear();
  }

  /** (Re)opens the log with a query; '' matches all. `counted`: epoch seconds at which the oldest of what the query is to
   * show ended; 0 where nothing was counted. */
  follow(query: string, grouping: Grouping, counted = 0): void {
    this.logStream?.close();
    this.query = query;
    this.grouping = grouping;
    this.logError = '';
    // What the daemon tells again matches by itself; of what it cannot tell again, the kept is looked through.
    const comesAgain = this.source.retells === true;
    if (comesAgain) this.kept.clear();
    this.log.select(query === '' || comesAgain ? null : this.matcher(query));
    this.asking = true;
    this.logRange.begin(counted, this.now());
    const back = new ReadingBack();
    this.back = back;
    this.logStream = this.source.log(
      { grouping, from: 'tail', ...(query === '' ? {} : { query }) },
      {
        ready: () => {
          this.asking = false;
          this.touch();
        },
        batch: (transactions) => {
          this.kept.add(transactions);
          this.touch();
        },
        lost: (records, reason) => {
          this.kept.addLoss(records, reason);
          this.lose('log', records, reason);
        },
        failed: (message) => {
          this.logError = message;
          this.touch();
        },
        earlier: () => back.watch(this.runBefore(this.kept)),
      },
    );
    this.touch();
  }

  /** Forgets the log that is kept. */
  clearLog(): void {
    this.kept.clear();
    this.logRange.end();
    this.touch();
  }

  /** Log records that should have come and did not; what a rate leaves out was not asked for. All streams are of one log: what
   * one lost the others lost, too. */
  get lostRecords(): number {
    return Math.max(0, ...this.losses.values());
  }

  /** Is it still to come how all counters have moved before? */
  get recallsCounters(): boolean {
    return this.past !== 'known' && this.source.history !== undefined && this.connection.state === 'up';
  }

  /** Is what was logged before the subscription still being read? */
  get readingBack(): boolean {
    return this.back.active;
  }

  get following(): boolean {
    return this.logStream !== null;
  }

  /** Has all come that a first screen shows: counters with their past, backends, the newest of the log? */
  get isFurnished(): boolean {
    return this.valuesAt > 0 && this.backendsAsked && this.sampleBegun;
  }

  /** Is the connection lost, or was it never made? */
  get cutOff(): boolean {
    return this.connection.state === 'waiting' || (this.everUp && this.connection.state !== 'up');
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  snapshot = (): number => this.tick;

  /** Marks a change; subscribers hear of it at the end of the frame. */
  touch(): void {
    if (this.scheduled || this.closed) return;
    this.scheduled = true;
    this.later(() => {
      this.scheduled = false;
      if (this.closed) return;
      this.tick++;
      for (const listener of this.listeners) listener();
    }, this.frameMs);
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
      if (this.everUp && was.state !== 'up') this.gap('reconnected');
      this.everUp = true;
      this.lastDataAt = this.now();
    } else if (was.state === 'up') {
      this.lastDataAt = this.now();
      this.back = new ReadingBack();
      const text = state.state === 'waiting' ? `connection lost: ${state.reason}` : 'connection lost';
      this.gap(text);
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
      this.past = 'asked';
      // After the first screen, which has more urgent things to wait for.
      this.later(() => void this.recall(), RECALL_MS);
    }
    this.sampleShares.begin(this.sample.requests);
    this.lastDataAt = this.now();
    this.valuesAt = this.lastDataAt;
    this.admin.tick();
    this.pollBackends();
    void this.turns.tick(Number(this.counters.value('WRK.longest_turn_us')));
    this.touch();
  }

  /** A sample that the daemon has kept: no sign of its life now. */
  private onPast(at: number, values: bigint[], steady = false): void {
    if (at <= this.counters.at) return;
    // The daemon did not run, or did not keep any.
    const since = this.counters.at;
    if (this.counters.samples > 0 && at - since > HOLE) this.rates.gap(since + 1);
    this.takeSample(at, values, steady);
    this.touch();
  }

  /** What is compared with what is now, from before what came by itself. */
  private async recall(): Promise<void> {
    const ask = this.source.history?.bind(this.source);
    if (ask !== undefined) await this.counted.recall(ask, this.lastDataAt, this.interval, () => this.touch());
    this.past = 'known';
    this.touch();
  }

  private takeSample(at: number, values: bigint[], steady: boolean): void {
    this.sampleShares.add(this.counted.take(at, values, steady, this.version));
  }

  /** Takes groups of a log from before what it holds. */
  private runBefore(log: LogStore): EarlierRun {
    const part = log.before();
    return {
      batch: (transactions) => part.add(transactions),
      done: () => {
        log.prepend(part);
        if (log === this.kept) this.log.extended();
        this.touch();
        return !this.closed && log.hasRoom;
      },
    };
  }

  private sampleBefore(): EarlierRun {
    const { sample } = this;
    const part = new EarlierTraffic();
    if (sample.requests === 0) this.sampleBegun = false;
    return {
      batch: (transactions) => {
        if (this.sampleCleared) return;
        const before = sample.requests;
        sample.addEarlier(part, transactions);
        this.sampleShares.add(sample.requests - before);
        this.touch();
      },
      done: () => {
        this.sampleBegun = true;
        if (!this.sampleCleared) sample.prepend(part);
        this.touch();
        return !this.closed && !this.sampleCleared && sample.requests < RECALLED_REQUESTS;
      },
    };
  }

  private lose(stream: string, records: number, reason: string): void {
    if (reason !== 'rate') this.losses.set(stream, (this.losses.get(stream) ?? 0) + records);
    this.touch();
  }

  private onEvent(word: EventWord, text: string, noted?: NotedAs): void {
    this.events.heard(word, text, this.now(), noted);
    if (word === 'died' || word === 'stopped') this.gap(`worker ${word}${text === '' ? '' : `: ${text}`}`);
    this.lastPoll = 0;
    this.admin.refresh();
    longestRecord(this.admin);
    this.touch();
  }

  /** What happened before, by the daemon's memory. */
  private async askEvents(): Promise<void> {
    const { status, body } = await this.source.command(EVENTS_ASKED);
    if (status === 200) this.events.learn(body);
    this.touch();
  }

  private gap(text: string): void {
    if (this.logStream !== null) this.kept.addGap(text);
  }

  private pollBackends(): void {
    // Either way: a clock may be set back.
    if (this.polling || Math.abs(this.now() - this.lastPoll) < BACKEND_POLL_SECONDS) return;
    this.lastPoll = this.now();
    this.polling = true;
    void this.source.command('backend.list -j').then((reply) => {
      this.polling = false;
      this.backendsAsked = true;
      // What was known before the connection was lost stays, and not what was before the worker ended.
      if (reply.status !== 0) {
        this.backendsUnknown = notKnown(reply);
        this.backends = this.backendsUnknown === '' ? parseBackendList(reply.body) : [];
      } else if (this.backends.length === 0) this.backendsUnknown = reply.body;
      this.touch();
    });
  }
}
