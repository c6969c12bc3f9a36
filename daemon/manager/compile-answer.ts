// What came of a compile job on its way from the process that did it: values of node:v8, each after its length. The code of
// a program goes ahead in parts, so that the manager, which reads each as it arrives, has no long turn with any.

import { deserialize, serialize } from 'node:v8';
import type { CompiledProgram } from '../contract/program.ts';
import type { JobAnswer } from './compile-job.ts';

/** Characters of code in one value (chosen): to read it takes a fraction of a millisecond. */
const PART = 256 * 1024;
/** Bytes of a length. */
const HEAD = 4;

export function writeAnswer(answer: JobAnswer, write: (bytes: Buffer) => void): void {
  const say = (value: string | JobAnswer): void => {
    const bytes = serialize(value);
    const head = Buffer.alloc(HEAD);
    head.writeUInt32LE(bytes.length);
    write(head);
    write(bytes);
  };
  const program = programOf(answer);
  if (program !== null) {
    const { source } = program;
    for (let at = 0; at < source.length; at += PART) say(source.slice(at, at + PART));
    program.source = '';
  }
  say(answer);
}

export class AnswerReader {
  /** Null as long as it is not whole. */
  answer: JobAnswer | null = null;
  private source = '';
  private chunks: Buffer[] = [];
  private size = 0;
  /** Bytes of the value that is read; null between two. */
  private wanted: number | null = null;

  /** Throws what is wrong with a value. */
  take(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.size += chunk.length;
    for (;;) {
      const enough = this.wanted ?? HEAD;
      if (this.size < enough) return;
      const bytes = this.chunks.length === 1 ? (this.chunks[0] as Buffer) : Buffer.concat(this.chunks);
      const value = bytes.subarray(0, enough);
      this.chunks = [bytes.subarray(enough)];
      this.size -= enough;
      if (this.wanted === null) this.wanted = value.readUInt32LE();
      else {
        this.wanted = null;
        this.read(deserialize(value) as string | JobAnswer);
      }
    }
  }

  private read(value: string | JobAnswer): void {
    if (typeof value === 'string') {
      this.source += value;
      return;
    }
    const program = programOf(value);
    if (program !== null) program.source = this.source;
    this.answer = value;
  }
}

function programOf(answer: JobAnswer): CompiledProgram | null {
  return 'findings' in answer ? answer.findings.program : null;
}
