// Code of programs that came ahead of them in parts.

import type { LoadedProgram } from '../link.ts';

export class CodeKept {
  private readonly kept = new Map<number, string>();

  take(ahead: number, text: string): void {
    this.kept.set(ahead, (this.kept.get(ahead) ?? '') + text);
  }

  /** The program with its code. */
  join({ ahead, ...load }: LoadedProgram): LoadedProgram {
    if (ahead === undefined) return load;
    const source = this.kept.get(ahead) ?? '';
    this.kept.delete(ahead);
    return { ...load, program: { ...load.program, source } };
  }
}
