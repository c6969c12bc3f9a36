// A position in a director's list of members, shared by all threads: the next turn, or the current member. Each
// thread has its own director object; they find the position by the names of program and director. A program that is
// still in use after another has taken its name shares its positions with that one.

import type { VclContext } from '../../contract/context.ts';
import type { SharedTable } from '../../contract/shared-state.ts';

/** Indices of a row's numbers. */
const HOLDERS = 0;
const AT = 1;
/** Directors of all programs (chosen): far more than programs have; one more is refused. */
const MOST = 2 ** 20;

export class SharedPosition {
  private readonly table: SharedTable;
  private readonly key: string;

  constructor({ host, vcl }: VclContext, name: string) {
    this.table = host.shared.table('directors', { numbers: 2, entries: MOST, bytes: 2 ** 30 });
    this.key = `${vcl.name}.${name}`;
    this.hold(1);
  }

  get now(): number {
    return this.table.read(this.key)?.numbers[AT] ?? 0;
  }

  /** False if another thread has moved it away from `from`. */
  move(from: number, to: number): boolean {
    return this.table.update(this.key, ({ numbers }) => {
      if (numbers[AT] !== from) return false;
      numbers[AT] = to;
      return true;
    });
  }

  /** Removes the position after the last thread has released it. */
  release(): void {
    this.hold(-1);
    this.table.remove(this.key, ({ numbers }) => numbers[HOLDERS] === 0);
  }

  private hold(by: number): void {
    this.table.update(this.key, ({ numbers }) => {
      numbers[HOLDERS] = (numbers[HOLDERS] as number) + by;
    });
  }
}
