// Code of programs, which arrives in parts before the load call that uses it.

import type { LoadedProgram } from '../link.ts';

export class PendingCode {
  /** Texts by piece, keyed by the number they were sent under. */
  private readonly pending = new Map<number, string[]>();

  take(ahead: number, piece: number, text: string): void {
    const texts = this.pending.get(ahead) ?? [];
    texts[piece] = (texts[piece] ?? '') + text;
    this.pending.set(ahead, texts);
  }

  /** Puts the code into its program. */
  join({ ahead, ...load }: LoadedProgram): LoadedProgram {
    if (ahead === undefined) return load;
    const texts = this.pending.get(ahead) ?? [];
    this.pending.delete(ahead);
    const pieces = load.program.pieces.map(({ line }, i) => ({ text: texts[i] ?? '', line }));
    // Where its lines came from follows the last piece.
    return { ...load, program: { ...load.program, pieces, positions: texts[pieces.length] ?? '' } };
  }
}
