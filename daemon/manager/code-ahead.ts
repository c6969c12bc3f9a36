// The code of a large program on its way to the worker: in parts ahead of the message that brings the program, since neither
// process has a turn for all of it at once.

import type { LoadedProgram, ToWorker } from '../link.ts';
import { turns } from '../turns/turns.ts';

/** Characters in one message (chosen): to write and to read them takes a fraction of a millisecond. */
const PART = 128 * 1024;

export class CodeAhead {
  private next = 1;

  isNeededBy({ program }: LoadedProgram): boolean {
    return program.source.length > PART;
  }

  /** @returns the program as it may follow in a message */
  async send(load: LoadedProgram, post: (message: ToWorker) => void): Promise<LoadedProgram> {
    if (!this.isNeededBy(load)) return load;
    const ahead = this.next++;
    const { source } = load.program;
    for (let at = 0; at < source.length; at += PART) {
      post({ t: 'code', ahead, text: source.slice(at, at + PART) });
      await turns.next();
    }
    return { ...load, program: { ...load.program, source: '' }, ahead };
  }
}
