// A body that goes into the page through one of its doors. The page takes one piece after the other: behind one that it
// still uses, the others wait here.

import type { PageOutput } from '../filters/page-output.ts';
import { type BodyTarget, SLICE } from './body-writer.ts';

export class PageTarget implements BodyTarget {
  readonly most = SLICE;
  protected readonly output: PageOutput;
  private readonly door: (bytes: Buffer) => boolean;
  /** What the page has not been given yet. */
  private rest: Buffer[] = [];

  /** @param door gives the page bytes: put() or write() of `output` */
  constructor(output: PageOutput, door: (bytes: Buffer) => boolean) {
    this.output = output;
    this.door = door;
  }

  write(parts: readonly Buffer[]): boolean {
    this.rest = [...parts];
    return this.writeRest();
  }

  flush(): void {
    this.output.flush();
  }

  drained(callback: () => void): void {
    this.output.drained(() => {
      if (this.writeRest()) callback();
      else this.drained(callback);
    });
  }

  end(): void {}

  private writeRest(): boolean {
    for (let piece = this.rest.shift(); piece !== undefined; piece = this.rest.shift())
      if (!this.door(piece)) return false;
    return true;
  }
}
