// The shape of a row of the admin commands, and of the words that a command takes.

import type { EventKind } from './events.ts';

/** One word that a command takes after its name and its options. */
export interface WordRow {
  /** As the syntax shows it. */
  readonly name: string;
  /** May be left out, and so may all that follow. */
  readonly optional?: true;
  /** As often as one likes; the last word only. */
  readonly repeated?: true;
  /** The words that it may be; in any case of letters where that is said. */
  readonly oneOf?: readonly string[];
  readonly anyCase?: true;
  /** Smallest and largest value of a whole number. */
  readonly least?: number;
  readonly most?: number;
  /** Error for a word that is none of these. */
  readonly wrong?: string;
  /** The handler checks the word itself (`wordProblem`), since Varnish reports other errors before this one. */
  readonly checkedLate?: true;
  /** What it names, and words that it may be besides; for completion. */
  readonly of?: 'backend' | 'command' | 'field' | 'operator' | 'parameter' | 'program';
  readonly also?: readonly { readonly text: string; readonly help: string }[];
}

interface WordError {
  readonly status: number;
  readonly text: string;
  /** Status where an option was given. */
  readonly withOption?: number;
}

export interface CommandRow {
  readonly name: string;
  readonly help: string;
  /** Where it is not what options and words make. */
  readonly syntax?: string;
  /** Letters of options, each once at the most and ahead of the words; those in one text exclude each other. j asks
   * for JSON, and comes first. */
  readonly options?: readonly string[];
  readonly words?: readonly WordRow[];
  /** Error for an option that it has not; without one such a word is taken as a word. Letters may share a dash then. */
  readonly unknownOption?: WordError;
  /** Error for the first word too many, as long as there are no more than options and words together. */
  readonly surplus?: WordError;
  /** Its words are conditions of three with && between them, and may come as one word in quotes. */
  readonly conditions?: true;
  /** The process that carries it out; without a worker the commands of the worker are unknown. */
  readonly where: 'manager' | 'worker';
  /** How it waits for a worker that is starting: `briefly` is for what only asks, and for what an operator has when a
   * start gets nowhere. Absent: until the start is over. */
  readonly waits?: 'never' | 'briefly';
  /** Changes nothing: answered also where one may only read. */
  readonly reads?: true;
  /** Shown by `help -d` only. */
  readonly hidden?: true;
  /** Answered also before a connection's challenge is. */
  readonly open?: true;
  /** Confirm in the console: it stops traffic, drops objects or cannot be undone. */
  readonly destructive?: true;
  /** When it has succeeded its line is an event of this kind; others note for themselves what they have changed. */
  readonly event?: EventKind;
}
