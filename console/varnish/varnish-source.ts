// The source of a running Varnish, observed and controlled by its own tools, here or over ssh: varnishlog,
// varnishstat and varnishadm in a shell each. It is up while varnishstat answers. If one of the three ends, all are
// restarted after a delay, like a lost connection to a daemon.

import { hostname } from 'node:os';
import { countRecords } from '../../protocol/log-record.ts';
import type { CommandReply, LogSubscription } from '../../protocol/messages.ts';
import { notOnlyReading, refusedChange } from '../../protocol/reading.ts';
import type { LogHandlers, Source, SourceEvents, Subscription } from '../client/source.ts';
import { targetLabel, type VarnishTarget } from '../client/varnish-target.ts';
import { AskingShell } from './asking-shell.ts';
import { type CounterSample, parseCounters } from './counter-samples.ts';
import { whyNothing } from './far-shell.ts';
import { type LogEvent, LogEvents } from './log-events.ts';
import { LogHub } from './log-hub.ts';
import { LossMeter } from './loss-meter.ts';
import { ParameterWatch } from './parameter-watch.ts';
import { statScript } from './tool-scripts.ts';
import { VarnishCommands } from './varnish-commands.ts';
import { VarnishLog } from './varnish-log.ts';
import { WorkerWatch } from './worker-watch.ts';

/** Milliseconds before the first retry; doubled for each further one (chosen). */
const FIRST_DELAY = 250;
const LAST_DELAY = 5000;
const EXPIRE_MS = 1000;
/** Timeout of varnishstat in seconds, including the connection (chosen). */
const STAT_SECONDS = 25;
/** Minimum duration in milliseconds of a connection that counts as established (chosen). */
const STEADY_MS = 5000;
/** Seconds between checks of the parameters (chosen). */
const PARAMETERS_SECONDS = 5;

export class VarnishSource implements Source {
  readonly label: string;
  readonly local: boolean;
  readonly product = 'Varnish';
  readonly canReplay = true;
  /** A request that waited for another's fetch is counted twice. */
  readonly eventLimits =
    'Varnish keeps no list of events: commands and health are those in its log, parameters those set since the console was started; their author, bans and purges by programs, and drops of the hit rate are not known';
  commands: ReadonlySet<string> | undefined;
  private readonly target: VarnishTarget;
  private readonly readonly: boolean;
  private readonly hub = new LogHub(() => performance.now() / 1000);
  private events: SourceEvents | null = null;
  private stat: AskingShell | null = null;
  private admin: VarnishCommands | null = null;
  private stream: VarnishLog | null = null;
  private readonly worker = new WorkerWatch();
  private losses = new LossMeter();
  private readonly parameters = new ParameterWatch();
  private parametersAt = 0;
  private names = '';
  private interval = 1;
  private sampling = false;
  /** The next sample, or the next retry. */
  private timer: NodeJS.Timeout | undefined;
  private expiry: NodeJS.Timeout | undefined;
  private delay = FIRST_DELAY;
  private attempt = 0;
  private hasPast = false;
  private up = false;
  private upAt = 0;
  private closed = false;

  /** `readonly`: rejects commands not known to be read-only. */
  constructor(target: VarnishTarget, readonly = false) {
    this.target = target;
    this.readonly = readonly;
    this.label = targetLabel(target);
    this.local = target.host === '';
  }

  start(events: SourceEvents): void {
    this.events = events;
    this.expiry = setInterval(() => this.hub.expire(), EXPIRE_MS);
    this.expiry.unref();
    void this.connect();
  }

  command(line: string): Promise<CommandReply> {
    const refused = this.readonly ? notOnlyReading(line) : null;
    if (refused !== null) return Promise.resolve(refusedChange(refused));
    return this.admin?.command(line) ?? Promise.resolve({ status: 0, body: 'not connected' });
  }

  log(sub: LogSubscription, handlers: LogHandlers): Subscription {
    return this.hub.subscribe(sub, handlers);
  }

  setInterval(seconds: number): void {
    this.interval = seconds;
    this.sampleNow();
  }

  sampleNow(): void {
    if (this.up) void this.sample();
  }

  close(): void {
    this.closed = true;
    clearInterval(this.expiry);
    this.drop();
  }

  private async connect(): Promise<void> {
    const { target } = this;
    const stat = new AskingShell(
      target,
      (mark) => statScript(target.name, mark),
      STAT_SECONDS,
      (how) => this.lose(whyNothing(target, 'varnishstat', how)),
    );
    this.stat = stat;
    const version = await stat.ask('V');
    const first = await this.readSample(stat);
    if (first === null || this.stat !== stat) return;
    const lose = (reason: string): void => this.lose(reason);
    this.admin = new VarnishCommands(target, undefined, lose);
    const logged = new LogEvents();
    this.stream = new VarnishLog(target, !this.hasPast, {
      open: () => this.rise(version?.text ?? '', first),
      records: (records) => {
        this.losses.came(countRecords(records));
        this.hub.push(records);
        this.emit(logged.read(records, Date.now() / 1000));
      },
      past: (older) => {
        this.hasPast = true;
        this.hub.past(older);
        const before = new LogEvents();
        before.begin();
        this.emit([...older.flatMap((piece) => before.read(piece)), ...before.settle()]);
      },
      overrun: () => this.losses.overran(),
      newChild: () => {
        logged.begin();
        this.hub.breakOff();
      },
      end: lose,
    });
    void this.learnCommands(this.admin);
  }

  /** Starts reading counters and log. */
  private rise(version: string, first: CounterSample): void {
    const { target } = this;
    this.up = true;
    this.upAt = performance.now();
    this.names = '';
    this.worker.forget();
    this.losses = new LossMeter();
    const identity = target.name === '' ? target.host || hostname() : this.label;
    this.events?.connection({ state: 'up', identity, version: versionOf(version) });
    this.take(first);
    this.plan();
  }

  /** `help` prints a line per command: name and description. */
  private async learnCommands(admin: VarnishCommands): Promise<void> {
    const { status, body } = await admin.command('help');
    if (status === 200) this.commands = new Set(body.split('\n').flatMap((line) => line.split(' ', 1)));
  }

  private emit(events: readonly LogEvent[]): void {
    for (const { text, ...noted } of events) this.events?.event('noted', text, noted);
  }

  /** Infrequent: each check runs a process. */
  private async lookAtParameters(): Promise<void> {
    const now = Date.now() / 1000;
    const { admin } = this;
    if (admin === null || now - this.parametersAt < PARAMETERS_SECONDS) return;
    this.parametersAt = now;
    const { status, body } = await admin.command('param.show');
    if (status !== 200 || this.admin !== admin) return;
    for (const text of this.parameters.changes(body))
      this.events?.event('noted', text, { at: now, kind: 'parameter' });
  }

  private lose(reason: string): void {
    if (this.closed) return;
    if (this.up && performance.now() - this.upAt > STEADY_MS) {
      this.attempt = 0;
      this.delay = FIRST_DELAY;
    }
    this.drop();
    this.hub.breakOff();
    this.events?.connection({
      state: 'waiting',
      attempt: this.attempt++,
      retryAt: (Date.now() + this.delay) / 1000,
      reason,
    });
    this.timer = setTimeout(() => void this.connect(), this.delay);
    this.delay = Math.min(this.delay * 2, LAST_DELAY);
  }

  private drop(): void {
    this.up = false;
    clearTimeout(this.timer);
    const { stat, admin, stream } = this;
    this.stat = null;
    this.admin = null;
    this.stream = null;
    stat?.close();
    admin?.close();
    stream?.close();
  }

  private plan(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.sample(), this.interval * 1000);
  }

  private async sample(): Promise<void> {
    const { stat } = this;
    if (this.sampling || stat === null) return;
    this.sampling = true;
    const began = performance.now();
    const sample = await this.readSample(stat);
    this.sampling = false;
    if (sample === null || this.stat !== stat) return;
    this.take(sample);
    clearTimeout(this.timer);
    // One sample per interval, however long it takes.
    const rest = Math.max(100, this.interval * 1000 - (performance.now() - began));
    this.timer = setTimeout(() => void this.sample(), rest);
  }

  /** Null on failure, which counts as a loss. */
  private async readSample(stat: AskingShell): Promise<CounterSample | null> {
    const answer = await stat.ask('');
    if (answer === null || this.stat !== stat) return null;
    const sample = answer.code === 0 ? parseCounters(answer.text) : null;
    if (sample === null)
      this.lose(whyNothing(this.target, 'varnishstat', { code: answer.code, output: answer.text.trim() }));
    return sample;
  }

  private take({ info, values }: CounterSample): void {
    const names = info.map((row) => row.name).join(' ');
    if (names !== this.names) {
      this.names = names;
      this.events?.counters(info);
    }
    this.events?.values(Date.now() / 1000, values);
    const byName = new Map(info.map(({ name }, i) => [name, values[i] as bigint]));
    const lost = this.losses.sample(byName);
    if (lost > 0) this.hub.lose(lost);
    for (const [word, text] of this.worker.changes(byName)) {
      const kind = text === 'panic' ? 'panic' : 'worker';
      this.events?.event(word, `${word}${text === '' ? '' : `: ${text}`}`, { at: Date.now() / 1000, kind });
    }
    void this.lookAtParameters();
  }
}

/** `varnishstat (varnish-7.1.1 revision …)`: the name of the release. */
function versionOf(text: string): string {
  return /\((varnish-[^\s)]+)/.exec(text)?.[1] ?? 'Varnish';
}
