// Whoever carries out commands in a test: the script itself, clients, servers and their like, which run side by side. Waits end when
// the actor is stopped, or with it the whole test.

import type { Macros } from './macros.ts';
import type { Words } from './script.ts';
import type { Level, TestLog } from './test-log.ts';

/** The test has failed; the first failure has been recorded. */
class Failed extends Error {}
/** The actor was stopped, or another one has failed. */
class Stopped extends Error {}
/** The test cannot be judged here. */
export class Skipped extends Error {}

export interface Place {
  readonly file: string;
  readonly line: number;
}

/** Commands by their names. */
export type Commands<A extends Actor> = Readonly<
  Record<string, (actor: A, words: Words) => Promise<void> | void>
>;

/** State shared by all actors of a test. */
export interface Stage {
  readonly log: TestLog;
  /** Aborted when the test has failed, was skipped, or has taken too long. */
  readonly signal: AbortSignal;
  readonly macros: Macros;
  /** Release of the scripts' language: 7, or 9 with what the newer test program adds to messages. */
  readonly dialect: 7 | 9;
  /** How long the test may take. */
  readonly seconds: number;
  /** Its own directory, in which its commands run. */
  readonly directory: string;
  /** Environment of its processes. */
  readonly environment: Record<string, string>;
  /** Commands that all actors have. */
  readonly everybody: Commands<Actor>;
  expand(text: string): string;
  /** A file as a script names it. */
  path(file: string): string;
  /** Records a failure and ends the test. */
  failed(who: string, message: string, place: Place | null): void;
  skipped(reason: string): void;
}

/** Name of the script in the log. */
export const SCRIPT = 'top';

export class Actor {
  readonly who: string;
  readonly stage: Stage;
  /** It is the script itself, at its top. */
  get isScript(): boolean {
    return this.who === SCRIPT;
  }

  /** The command under way. */
  place: Place | null = null;
  readonly #parent: AbortSignal;
  #stop = new AbortController();
  /** Ends its waits. */
  signal: AbortSignal;

  /** @param parent ends this actor, too */
  constructor(stage: Stage, who: string, parent: AbortSignal = stage.signal) {
    this.stage = stage;
    this.who = who;
    this.#parent = parent;
    this.signal = AbortSignal.any([parent, this.#stop.signal]);
  }

  stop(): void {
    this.#stop.abort();
  }

  /** After it was stopped: it may be started again. */
  renew(): void {
    this.#stop = new AbortController();
    this.signal = AbortSignal.any([this.#parent, this.#stop.signal]);
  }

  log(level: Level, text: string): void {
    this.stage.log.add(this.who, level, text);
  }

  dump(what: string, data: string | Uint8Array, level: Level = 4): void {
    this.stage.log.dump(this.who, level, what, data);
  }

  fail(message: string): never {
    this.log(0, message);
    this.stage.failed(this.who, message, this.place);
    throw new Failed(message);
  }

  check(): void {
    if (this.signal.aborted) throw new Stopped();
  }

  /** Resolves with the promise; rejects with Stopped if the actor is stopped first. */
  until<T>(promise: Promise<T>): Promise<T> {
    const { signal } = this;
    if (signal.aborted) return Promise.reject(new Stopped());
    return new Promise<T>((resolve, reject) => {
      const stopped = (): void => reject(new Stopped());
      signal.addEventListener('abort', stopped, { once: true });
      promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stopped));
    });
  }

  sleep(seconds: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, seconds * 1000);
    });
    return this.until(over).finally(() => clearTimeout(timer));
  }

  /** Asks every `seconds` until the answer is true; false once the time is up. */
  async poll(ask: () => Promise<boolean> | boolean, limit: number, seconds = 0.05): Promise<boolean> {
    const end = performance.now() + limit * 1000;
    while (!(await ask())) {
      if (performance.now() > end) return false;
      await this.sleep(seconds);
    }
    return true;
  }
}

/** Work of an actor beside others: ends quietly when it is stopped or has failed. */
export class Task {
  readonly actor: Actor;
  readonly done: Promise<void>;

  constructor(actor: Actor, run: () => Promise<void>) {
    this.actor = actor;
    this.done = run().catch((cause: unknown) => {
      if (cause instanceof Failed || cause instanceof Stopped) return;
      if (cause instanceof Skipped) {
        actor.stage.skipped(cause.message);
        return;
      }
      const { message, stack } = cause as Error;
      actor.log(1, stack ?? message);
      actor.stage.failed(actor.who, message, actor.place);
    });
  }

  async cancel(): Promise<void> {
    this.actor.stop();
    await this.done;
  }
}
