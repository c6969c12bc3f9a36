// The result of a parse of a head: how it ended, and where its lines lie.

import { E_NONE } from './head-errors.ts';

export const HEAD_COMPLETE = 0;
export const HEAD_INCOMPLETE = 1;
export const HEAD_ERROR = 2;
export type ParseStatus = typeof HEAD_COMPLETE | typeof HEAD_INCOMPLETE | typeof HEAD_ERROR;

/** The result of a parse besides the message. One object per connection, reused; offsets are into the parsed buffer. */
export class HeadResult {
  /** Offset past the blank line. */
  headEnd = 0;
  /** Offset of the start line: blank lines before a request are skipped. */
  headStart = 0;
  /** After HEAD_INCOMPLETE: bytes before this have no line end that is not handled. */
  scanFrom = 0;
  /** After HEAD_ERROR: row of HEAD_ERRORS, the offending line's start and the offending byte. */
  error = E_NONE;
  errorLine = 0;
  errorAt = 0;
  /** The request is the HTTP/2 connection preface; the message holds PRI * HTTP/2.0. */
  preface = false;
  /** Some value had trailing blanks, so the lines are not simply the bytes between one CRLF and the next. */
  trimmed = false;
  /** Complete lines; line 0 is the start line, line i is header i - 1. */
  lines = 0;
  lineStart: Int32Array;
  lineEnd: Int32Array;
  /** Offset of the colon of line i. */
  nameEnd: Int32Array;
  /** Slot of the well-known name that line i had in the last head, or -1. */
  guess: Int32Array;
  /** Lower-case name that line i had in the last head when it was not a well-known one, or ''. */
  readonly otherNames: string[] = [];
  /** The `start` of the call that left the state for the next one. */
  base = 0;
  resume = false;

  /** The parsed buffer's memory as words, to check four bytes at a time; replaced when the memory changes. */
  wordsOf: ArrayBufferLike | null = null;
  words: Int32Array = new Int32Array(0);

  constructor(maxFields = 64) {
    this.lineStart = new Int32Array(maxFields + 2);
    this.lineEnd = new Int32Array(maxFields + 2);
    this.nameEnd = new Int32Array(maxFields + 2);
    this.guess = new Int32Array(maxFields + 2).fill(-1);
  }

  /** Records the broken rule and the place; returns HEAD_ERROR. */
  fail(error: number, line: number, at: number): ParseStatus {
    this.error = error;
    this.errorLine = line;
    this.errorAt = at;
    this.resume = false;
    return HEAD_ERROR;
  }

  setWords(memory: ArrayBufferLike): void {
    this.wordsOf = memory;
    this.words = new Int32Array(memory, 0, memory.byteLength >> 2);
  }

  /** Drops a half-read head; needed only when the next bytes begin a new one. */
  reset(): void {
    this.resume = false;
    this.lines = 0;
    this.error = E_NONE;
    this.preface = false;
    this.trimmed = false;
  }
}
