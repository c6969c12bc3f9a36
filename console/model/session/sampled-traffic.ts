// The sample of a session's traffic with its subscription: at most a few hundred requests a second, and some of the past.

import type { EarlierRun, Source, Subscription } from '../../client/source.ts';
import { SAMPLED_RECORDS } from '../traffic/traffic-facts.ts';
import { EarlierTraffic, SampleShare, TrafficSample } from '../traffic/traffic-sample.ts';
import type { Judge } from '../traffic/unserved.ts';

/** Requests a second that the sample takes at most. */
const SAMPLE_RATE = 300;
/** Requests of the past after which no more are requested (chosen): rankings have settled, latencies are full. */
const RECALLED_REQUESTS = 20_000;
/** Verdicts of a slice, some milliseconds, and milliseconds from one slice to the next (chosen). */
const JUDGED_AT_ONCE = 20;
const JUDGE_MS = 10;

export interface SampledTrafficOptions {
  source: Source;
  /** Epoch seconds. */
  now(): number;
  later(fn: () => void, ms: number): void;
  changed(): void;
  /** Requests were added: their figures change with the second. */
  sampled(): void;
  lost(records: number, reason: string): void;
  /** Bytes of text from which a record may have been cut. */
  longestRecord(): number;
}

export class SampledTraffic {
  private readonly options: SampledTrafficOptions;
  readonly sample = new TrafficSample();
  /** The subscription is in place, and the newest part of the past is there. */
  begun = false;
  private readonly shares = new SampleShare();
  /** The operator has cleared it: the past is no part of it. */
  private cleared = false;
  private stream: Subscription | null = null;
  /** Some requests have no verdict yet, and a slice is scheduled. */
  private judging = false;
  private closed = false;

  constructor(options: SampledTrafficOptions) {
    this.options = options;
  }

  start(): void {
    const { source, now, sampled, lost, longestRecord } = this.options;
    this.stream = source.log(
      {
        grouping: 'request',
        from: 'tail',
        rate: { count: SAMPLE_RATE, period: 1 },
        filters: [...SAMPLED_RECORDS],
      },
      {
        ready: () => {
          this.begun = true;
        },
        batch: (transactions) => {
          this.sample.longestRecord = longestRecord();
          this.sample.add(transactions, now());
          sampled();
        },
        lost,
        failed: () => undefined,
        earlier: () => this.runBefore(),
      },
    );
  }

  /** Share of the clients' requests that the sample has, 0..1; 1 before any. */
  share(): number {
    return this.shares.share(this.sample.requests);
  }

  /** A sample of the counters: requests that were counted since the one before. */
  counted(requests: number): void {
    this.shares.add(requests);
  }

  /** The first counters are there: from now on counted() has what the sample is a part of. */
  beginShare(): void {
    this.shares.begin(this.sample.requests);
  }

  /** Ranks from zero, without the past. */
  clear(): void {
    this.sample.clearRanks(this.options.now());
    this.cleared = true;
    this.shares.clear();
    this.options.changed();
  }

  /** Gives verdicts to the sampled requests that were no hits: some at once, the others in slices, between which keys are
   * handled. */
  judgeUnserved(judge: Judge): void {
    if (this.judging) return;
    this.judging = this.sample.unserved.judge(JUDGED_AT_ONCE, judge);
    if (!this.judging) return;
    this.options.later(() => {
      this.judging = false;
      if (this.closed) return;
      this.options.changed();
      this.judgeUnserved(judge);
    }, JUDGE_MS);
  }

  close(): void {
    this.closed = true;
    this.stream?.close();
  }

  private runBefore(): EarlierRun {
    const { sample } = this;
    const { changed } = this.options;
    const part = new EarlierTraffic();
    if (sample.requests === 0) this.begun = false;
    return {
      batch: (transactions) => {
        if (this.cleared) return;
        const before = sample.requests;
        sample.addEarlier(part, transactions);
        this.shares.add(sample.requests - before);
        changed();
      },
      done: () => {
        this.begun = true;
        if (!this.cleared) sample.prepend(part);
        changed();
        return !this.closed && !this.cleared && sample.requests < RECALLED_REQUESTS;
      },
    };
  }
}
