// The probe of one backend: polls at its interval while its program is warm, and notifies the backend when its health
// by the window has changed. Polls never overlap: the interval starts when one has ended. Every poll writes a
// Backend_health record, and so do the resets when the program warms or cools.

import { type PollOwner, type PollResult, type PollWay, ProbePoll } from './probe-poll.ts';
import type { ProbeSchedule, Scheduled } from './probe-schedule.ts';
import type { ProbeSettings } from './probe-settings.ts';
import { ProbeWindow } from './probe-window.ts';

/** The backend that is probed. */
export interface ProbeOwner {
  readonly vclName: string;
  /** Called after each change of the window. */
  probed(healthy: boolean, happy: bigint): void;
}

/** Where a probe reports. */
export interface ProbeReport {
  /** Writes a Backend_health record. */
  log(text: string): void;
  /** Polls have changed the verdict; `text` is the last answer. */
  changed(healthy: boolean, text: string): void;
}

export class Probe implements PollOwner, Scheduled {
  readonly settings: ProbeSettings;
  readonly window: ProbeWindow;
  /** The health by the window. */
  healthy = true;
  private readonly owner: ProbeOwner;
  private readonly way: PollWay;
  private readonly schedule: ProbeSchedule;
  private readonly report: ProbeReport;
  /** The last verdict reported: a backend counts as healthy until a poll shows otherwise. */
  private reported = true;
  private poll: ProbePoll | null = null;
  private running = false;
  /** Due time of the next poll in the schedule. */
  private due = 0;
  /** Seconds from the next poll to the one after it. */
  private next = 0;
  /** The text of the last poll. */
  private text = '';

  constructor(
    owner: ProbeOwner,
    settings: ProbeSettings,
    way: PollWay,
    schedule: ProbeSchedule,
    report: ProbeReport,
  ) {
    this.owner = owner;
    this.settings = settings;
    this.way = way;
    this.schedule = schedule;
    this.report = report;
    this.window = new ProbeWindow(settings);
    this.judge('');
  }

  /** Starts to poll, with a fresh window. */
  start(): void {
    if (this.running) return;
    this.running = true;
    this.refresh();
    const wait = this.schedule.first(performance.now() / 1000);
    this.next = this.schedule.second(this.settings.interval, wait);
    this.due = this.schedule.at(this, wait);
  }

  /** Stops when the program cools, and resets the window. */
  stop(): void {
    if (!this.running) return;
    this.running = false;
    this.schedule.cancel(this, this.due);
    this.poll?.cancel();
    this.poll = null;
    this.refresh();
  }

  private refresh(): void {
    this.window.reset();
    this.judge(this.settings.initial > 0 ? '' : this.text);
  }

  /** Called by the schedule. */
  beat(): void {
    this.poll = new ProbePoll(this.settings, this.way, this);
    this.poll.start();
  }

  /** Called by the poll. */
  polled(result: PollResult): void {
    this.poll = null;
    this.due = this.schedule.inRhythm(this, this.next);
    this.next = this.settings.interval;
    this.window.add(result.bits, result.seconds);
    this.judge(result.text);
    this.reportChange();
  }

  /** Reports a changed verdict. A backend that just has too few polls yet is not sick: the last poll must have
   * failed. */
  private reportChange(): void {
    const { healthy, window, text } = this;
    if (healthy === this.reported || (!healthy && (window.happy & 1n) === 1n)) return;
    this.reported = healthy;
    this.report.changed(healthy, text);
  }

  private judge(text: string): void {
    const { window, settings, owner } = this;
    this.text = text;
    const healthy = window.good >= settings.threshold;
    const word = healthy === this.healthy ? 'Still' : 'Went';
    this.healthy = healthy;
    owner.probed(healthy, window.happy);
    this.report.log(
      `${owner.vclName} ${word} ${healthy ? 'healthy' : 'sick'} ${window.lastBits()} ${window.good}` +
        ` ${settings.threshold} ${settings.window} ${window.last.toFixed(6)} ${window.average.toFixed(6)} "${text}"`,
    );
  }
}
