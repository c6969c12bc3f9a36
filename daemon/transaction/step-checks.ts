// The debug mode of drive.ts (param.set debug +req_state): every step has a Debug record, and what must hold of every
// transaction is asserted. An assertion that fails is thrown out of the driver and ends the worker, whose panic names
// it.

import { Tag } from '../../protocol/tables/tags.ts';
import type { Transaction } from './drive.ts';

/** What stands in a read buffer after its turn: no byte of a head, and none that UTF-8 text begins with. */
const GONE = 0xbf;

type Phase = 'runs' | 'parked' | 'over' | 'broken';

export class StepChecks {
  private readonly phases = new WeakMap<object, Phase>();

  /** A transaction begins or is resumed: one that runs or is over must not be. */
  entered(tx: Transaction): void {
    const phase = this.phases.get(tx) ?? 'parked';
    if (phase === 'broken') return;
    if (phase !== 'parked')
      throw new Error(`a transaction that ${phase === 'runs' ? 'runs' : 'is over'} was resumed`);
    this.phases.set(tx, 'runs');
  }

  /** A step is about to run. */
  about(tx: Transaction, name: string): void {
    if (tx.ended) throw new Error(`step ${name} follows the end of its transaction`);
    tx.log.put(Tag.Debug, `step ${name}`);
  }

  /** A defect has ended it: it may still be resumed by what it waited for, without effect. */
  broke(tx: Transaction): void {
    this.phases.set(tx, 'broken');
  }

  /** The bytes of a read buffer are lent for one turn: whoever looks at them later sees that they are gone. */
  turnOver(buffer: Uint8Array, length: number): void {
    buffer.fill(GONE, 0, length);
  }

  /** The last step of this turn was over: the transaction waits or has ended. */
  left(tx: Transaction): void {
    this.phases.set(tx, tx.ended ? 'over' : 'parked');
    if (!tx.ended) return;
    const held = tx.held();
    if (held.length > 0) throw new Error(`a transaction that is over holds ${held.join(', ')}`);
  }
}
