// The places of a program that VCL_trace records name: the first token of every block, and what follows an `if`
// that has no `else` of its own. They are counted as the program is read, the builtin one after the user's.
// The parser notes them, the generated code names them while tracing is on; nothing here runs with a request.

import type { Block, Statement } from './ast.ts';
import { shownColumn } from './diagnostics.ts';
import { spanOf, type Token } from './lexer.ts';

export class TracePoints {
  private readonly texts = new Map<Block | Statement, string>();
  private count = 0;

  /** The next point: `at` is its token. */
  next(at: Token): string {
    const { file, start } = spanOf(at);
    const place = file.locate(start);
    const column = shownColumn(file.line(place.line), place.column);
    return `${++this.count} ${file.index}.${place.line}.${column}`;
  }

  note(where: Block | Statement, point: string): void {
    this.texts.set(where, point);
  }

  /** The text of the record after the program's name; undefined without a point. */
  of(where: Block | Statement): string | undefined {
    return this.texts.get(where);
  }
}
