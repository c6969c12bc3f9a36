// What the query bar asks of a parser on every key. The shape only: the parser is handed in, so that the
// model runs without a grammar and the bar works with any.

import type { Candidate } from './completion.ts';

export type QueryCheck =
  /** `note`: what is odd about it all the same. */
  | { ok: true; note?: string }
  | {
      ok: false;
      /** Columns of the query from 0; `to` is exclusive. */
      from: number;
      to: number;
      message: string;
      /** What would have been accepted at `from`. */
      expected: readonly string[];
    };

export type QueryChecker = (text: string) => QueryCheck;

/** Words that could stand before the cursor, and where the word they replace begins. */
export type QueryCompleter = (text: string, cursor: number) => { from: number; candidates: Candidate[] };
