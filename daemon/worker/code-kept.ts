// Code of programs, which arrives in parts before the load call that uses it.

import type { LoadedProgram } from '../link.ts';

export class CodeKept {
  /** Texts by piece, keyed by the number they were sent under. */
  private readonly kept = new Map<number, string[]>();

  take(ahead: number, piece: number, text: string): void {
    const texts = this.kept.get(ahead) ?? [];
    texts[piece] = (texts[piece] ?? '') + text;
    this.kept.set(ahead, texts);
  }

  /** Puts the code into its program. */
  join({ ahead, ...load }: LoadedProgram): LoadedProgram {
    if (ahead === undefined) return load;
    const texts = this.kept.get(ahead) ?? [];
    this.kept.delete(ahead);
    const pieces = load.program.pieces.map(({ line }, i) => ({ text: texts[i] ?? '', line }));
    return { ...load, program: { ...load.program, pieces } };
  }
}
