// The shape of a row of the admin commands, and of the words that a command takes.

import type { EventKind } from './events.ts';

/** One word that a command takes after its name and its options. */
export interface WordRow {
  /** As shown in the syntax. */
  readonly name: string;
  /** May be omitted, as may all that follow. */
  readonly optional?: true;
  /** Any number of times; the last word only. */
  readonly repeated?: true;
  /** Allowed words; case-insensitive if so noted. */
  readonly oneOf?: readonly string[];
  readonly anyCase?: true;
  /** Smallest and largest value of a whole number. */
  readonly least?: number;
  readonly most?: number;
  /** Error for any other word. */
  readonly wrong?: string;
  /** The handler validates the word (`wordProblem`), since Varnish reports other errors before this one. */
  readonly checkedLate?: true;
  /** The kind of thing it names, and additional words; for completion. */
  readonly of?: 'backend' | 'command' | 'field' | 'operator' | 'parameter' | 'program';
  readonly also?: readonly { readonly text: string; readonly help: string }[];
}

interface WordError {
  readonly status: number;
  readonly text: string;
  /** Status if an option was given. */
  readonly withOption?: number;
}

export interface CommandRow {
  readonly name: string;
  readonly help: string;
  /** If it differs from the syntax of options and words. */
  readonly syntax?: string;
  /** Letters of options, each at most once and before the words; those in one text exclude each other. j requests
   * JSON, and comes first. */
  readonly options?: readonly string[];
  readonly words?: readonly WordRow[];
  /** Options with a value, which is the next word. With such a list, be it empty, all options may stand anywhere after
   * the name, each at most once; `--` ends them. */
  readonly valued?: readonly { readonly letter: string; readonly value: string }[];
  /** Error for an unknown option; without one such a word is a plain word. Letters may share a dash then. */
  readonly unknownOption?: WordError;
  /** Error for the first excess word, as long as there are no more than options and words together. */
  readonly surplus?: WordError;
  /** Its words are conditions of three words joined by &&, and may be given as one quoted word. */
  readonly conditions?: true;
  /** The process that runs it; without a worker its commands are unknown. */
  readonly where: 'manager' | 'worker';
  /** How it waits for a starting worker: `briefly` is for queries, and for commands needed when a start hangs. Absent:
   * until the start is over. */
  readonly waits?: 'never' | 'briefly';
  /** Changes nothing: allowed on read-only connections. */
  readonly reads?: true;
  /** Changes nothing either, but is not for read-only connections. */
  readonly tries?: true;
  /** Shown by `help -d` only. */
  readonly hidden?: true;
  /** Allowed before authentication. */
  readonly open?: true;
  /** The console asks for confirmation: it stops traffic, drops objects or cannot be undone. */
  readonly destructive?: true;
  /** After success its line is an event of this kind; other commands report their own events. */
  readonly event?: EventKind;
}
