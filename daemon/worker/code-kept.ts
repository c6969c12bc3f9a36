// Code of programs that came ahead of them in parts.

import type { LoadedProgram } from '../link.ts';

export class CodeKept {
  /** Texts of pieces by the number under which they came. */
  private readonly kept = new Map<number, string[]>();

  take(ahead: number, piece: number, text: string): void {
    const texts = this.kept.get(ahead) ?? [];
    texts[piece] = (texts[piece] ?? '') + text;
    this.kept.set(ahead, texts);
  }

  /** The program with its code. */
  join({ ahead, ...load }: LoadedProgram): LoadedProgram {
    if (ahead === undefined) return load;
    const texts = this.kept.get(ahead) ?? [];
    this.kept.delete(ahead);
    const pieces = load.program.pieces.map(({ line }, i) => ({ text: texts[i] ?? '', line }));
    return { ...load, program: { ...load.program, pieces } };
  }
}
