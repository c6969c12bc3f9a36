// A running test: the state shared by its actors, and its result.

import { isAbsolute, join } from 'node:path';
import type { Actor, Commands, Place, Stage } from './actor.ts';
import type { Entity } from './entity.ts';
import { Macros } from './macros.ts';
import { TestLog } from './test-log.ts';

export interface Failure {
  readonly who: string;
  readonly message: string;
  readonly place: Place | null;
}

export interface CaseSettings {
  readonly directory: string;
  readonly seconds: number;
  readonly dialect: 7 | 9;
  readonly environment: Readonly<Record<string, string>>;
  readonly everybody: (test: TestCase) => Commands<Actor>;
  release(): string;
}

export class TestCase implements Stage {
  readonly log = new TestLog();
  readonly macros: Macros;
  readonly dialect: 7 | 9;
  readonly seconds: number;
  readonly directory: string;
  readonly environment: Record<string, string>;
  readonly everybody: Commands<Actor>;
  failure: Failure | null = null;
  skipReason: string | null = null;
  /** The script has been read to its end. */
  isOver = false;
  /** By their names, in the order in which the script has named them. */
  readonly entities = new Map<string, Entity>();
  readonly #stop = new AbortController();

  constructor(settings: CaseSettings) {
    this.directory = settings.directory;
    this.seconds = settings.seconds;
    this.dialect = settings.dialect;
    this.environment = { ...settings.environment };
    this.macros = new Macros(settings.release);
    this.everybody = settings.everybody(this);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get isGood(): boolean {
    return this.failure === null && this.skipReason === null;
  }

  expand(text: string): string {
    return this.macros.expand(text);
  }

  path(file: string): string {
    return isAbsolute(file) ? file : join(this.directory, file);
  }

  failed(who: string, message: string, place: Place | null): void {
    this.failure ??= { who, message: message.trim(), place };
    this.#stop.abort();
  }

  skipped(reason: string): void {
    this.skipReason ??= reason;
    this.#stop.abort();
  }
}
