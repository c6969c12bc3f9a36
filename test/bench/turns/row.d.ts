// A row of the bench of turns: one kind of input, at three sizes.
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Played {
  /** Of the daemon, for clients. */
  readonly port: number;
  /** Of the origin. */
  readonly originPort: number;
  /** A folder of this daemon's own. */
  readonly dir: string;
  /** Bytes, entries, requests: what the row's name says. */
  readonly n: number;
  readonly by: 'proxyd' | 'varnish' | 'nginx';
  /** The server that the row needs beside the daemon. */
  readonly beside: Beside | null;
  /** Gives an admin command and answers with its reply; a status other than 200 is thrown, or returned with `may`. */
  adm(line: string, may?: boolean): Promise<string>;
}

/** Another server that a row needs. */
export interface Beside {
  /** Arguments of the daemon that lead to it. */
  readonly args: readonly string[];
  readonly servers: string;
  stop(): void;
}

export interface Row {
  readonly name: string;
  /** A usual size, ten times and a hundred times as much; more of them, or less, where that says more. */
  readonly sizes: readonly number[];
  /** Milliseconds of the longest turn: 10 for what a client alone can cause at default parameters, else 50. */
  readonly aim: 10 | 50;
  /** Whether Varnish can play it. */
  readonly varnish?: boolean;
  /** Where nginx can play it: further lines of its server. */
  nginx?(): string;
  /** Whether the turns of the manager count, beside those of the worker. */
  readonly manager?: boolean;
  /** Declarations and subs behind the declaration of the backend `default`. Absent: none. */
  program?(n: number): string;
  /** Further arguments of each daemon. */
  args?(n: number): readonly string[];
  varnishArgs?(n: number): readonly string[];
  /** Further environment of proxyd; `dir` is a folder of its own, made before it starts. */
  env?(dir: string, n: number): Readonly<Record<string, string>>;
  /** Started before the daemon; null where it is not installed: the row is left out. */
  beside?(dir: string): Promise<Beside | null>;
  /** Answers what /page does not; absent: 200, cached, a short body. */
  origin?(request: IncomingMessage, response: ServerResponse, n: number): void;
  /** Not measured. */
  prepare?(played: Played): Promise<void>;
  load(played: Played): Promise<void>;
}
