// A place among the members of a director, one for all threads: whose turn it is, or which member it has come to. Each
// thread has the director, and they find the place by the names of the program and of the director. A program that is
// still in use though another has taken its name has its places in common with that one.

import type { VclContext } from '../../contract/context.ts';
import type { SharedTable } from '../../contract/shared-state.ts';

/** Numbers of a row. */
const HOLDERS = 0;
const AT = 1;
/** Directors of all programs (chosen): far more than programs have, as one more is refused. */
const MOST = 2 ** 20;

export class MemberPlace {
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

  /** False when another thread has moved it, so that it is not `from` any more. */
  move(from: number, to: number): boolean {
    return this.table.update(this.key, ({ numbers }) => {
      if (numbers[AT] !== from) return false;
      numbers[AT] = to;
      return true;
    });
  }

  /** It goes when no thread has it any more. */
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
