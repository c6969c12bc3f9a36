// The instances that can be shown, each with a name and a way to open its source. Opened ones keep running in the
// background, so that their history is there when they are shown again.

import type { Source } from '../../client/source.ts';
import type { DaemonSession } from './daemon-session.ts';

export interface Instance {
  name: string;
  open(): Source;
}

/** Playback control of a recording. */
export interface ReplayControl {
  /** Seconds from the beginning, and in all. */
  readonly at: number;
  readonly length: number;
  readonly paused: boolean;
  /** Seconds of the recording per second. */
  readonly speed: number;
  skip(seconds: number): void;
  seek(seconds: number): void;
  toggle(): void;
  /** The next higher or lower speed. */
  shift(step: 1 | -1): void;
}

export class Instances {
  /** Set if a recording is shown. */
  replay?: ReplayControl;
  /** Begins a recording of the instance shown, or ends it when the path is ''; resolves with a sentence for the
   * operator. */
  record?: (path: string) => Promise<string>;
  /** Adds a node of the fleet at this address (host:port). Returns the problem, or ''. */
  meet?: (name: string, address: string) => string;
  /** Is a recording in progress? */
  recording?: () => boolean;
  private readonly known: Instance[];
  private readonly sessions = new Map<string, DaemonSession>();
  private readonly makeSession: (source: Source) => DaemonSession;
  /** Name of the instance shown. */
  name: string;
  current: DaemonSession;

  /** `first` is shown; its session is created, not started. */
  constructor(first: Instance, more: readonly Instance[], makeSession: (source: Source) => DaemonSession) {
    this.known = [first, ...more.filter((i) => i.name !== first.name)];
    this.makeSession = makeSession;
    this.name = first.name;
    this.current = makeSession(first.open());
    this.sessions.set(first.name, this.current);
  }

  get names(): readonly string[] {
    return this.known.map((i) => i.name);
  }

  add(instance: Instance): void {
    const at = this.known.findIndex((i) => i.name === instance.name);
    if (at < 0) this.known.push(instance);
    else this.known[at] = instance;
  }

  opener(name: string): (() => Source) | undefined {
    const found = this.known.find((i) => i.name === name);
    return found === undefined ? undefined : () => found.open();
  }

  /** Returns the problem, or null. */
  switchTo(name: string): string | null {
    const instance = this.known.find((i) => i.name === name);
    if (instance === undefined) return `no instance "${name}"; known are ${this.names.join(', ')}`;
    let session = this.sessions.get(name);
    if (session === undefined) {
      session = this.makeSession(instance.open());
      this.sessions.set(name, session);
      session.start();
    }
    this.name = name;
    this.current = session;
    return null;
  }

  /** Replaces the session shown by another of the same name: a recording that was rewound. */
  replace(session: DaemonSession): void {
    this.current.close();
    this.sessions.set(this.name, session);
    this.current = session;
  }

  close(): void {
    for (const session of this.sessions.values()) session.close();
  }
}
