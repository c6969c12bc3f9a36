// Plays a recording in time, pauses it, and seeks to any second. Seeking back plays from the beginning into a new
// session.

import type { Source } from '../../client/source.ts';
import type { GroupMatcher } from '../log/request-group.ts';
import type { DaemonSession } from './daemon-session.ts';
import type { Instances, ReplayControl } from './instances.ts';
import type { Recording } from './recording.ts';
import { ReplaySource } from './replay-source.ts';

const SPEEDS: readonly number[] = [0.5, 1, 2, 5, 10, 30, 60];

export interface PlayerOptions {
  recording: Recording;
  matcher: GroupMatcher;
  label: string;
  makeSession(source: Source): DaemonSession;
}

export class ReplayPlayer implements ReplayControl {
  readonly length: number;
  at = 0;
  paused = false;
  speed = 1;
  private readonly options: PlayerOptions;
  private source: ReplaySource;
  private instances: Instances | null = null;
  /** Called when the position or the state changes. */
  onChange: () => void = () => undefined;

  constructor(options: PlayerOptions) {
    this.options = options;
    this.source = this.open();
    this.length = options.recording.steps.at(-1)?.after ?? 0;
  }

  /** The first source. */
  get first(): ReplaySource {
    return this.source;
  }

  attach(instances: Instances): void {
    this.instances = instances;
    instances.replay = this;
  }

  /** Epoch seconds of the position: the clock of its sessions. */
  now(): number {
    return this.options.recording.start + this.at;
  }

  /** Advances by `seconds` of real time. */
  tick(seconds: number): void {
    if (this.paused || this.at >= this.length) return;
    this.advance(Math.min(this.length, this.at + seconds * this.speed));
  }

  skip(seconds: number): void {
    this.seek(this.at + seconds);
  }

  seek(seconds: number): void {
    const to = Math.max(0, Math.min(this.length, seconds));
    if (to < this.at) {
      const former = this.instances?.current;
      this.source = this.open();
      const session = this.options.makeSession(this.source);
      this.at = 0;
      this.instances?.replace(session);
      session.start();
      if (former?.log.following === true) session.log.follow(former.log.query, former.log.grouping);
    }
    this.advance(to);
    this.onChange();
  }

  toggle(): void {
    this.paused = !this.paused;
    this.onChange();
  }

  shift(step: 1 | -1): void {
    this.speed = SPEEDS[SPEEDS.indexOf(this.speed) + step] ?? this.speed;
    this.onChange();
  }

  /** In steps of a second, so that charts get their points at the right times. */
  private advance(to: number): void {
    while (this.at < to) {
      this.at = Math.min(to, Math.floor(this.at + 1));
      this.source.advance(this.at);
    }
    this.instances?.current.touch();
  }

  private open(): ReplaySource {
    const { recording, matcher, label } = this.options;
    return new ReplaySource({ recording, matcher, label, canReplay: true, recorded: true });
  }
}
