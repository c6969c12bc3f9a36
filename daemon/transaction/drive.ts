// The driver of requests and fetches: calls one step after another until the transaction is over or waits. A step returns
// the next one and never calls it, so that restarts, retries and waits do not grow the stack. Only here is caught what
// a step throws: a defect of ours, which ends its transaction and never the worker.
//
// StepChecks is its debug mode (param.set debug +req_state): every step has a Debug record, and what must hold of every
// transaction is asserted. An assertion that fails is thrown out of the driver and ends the worker, whose panic names it.

import { Tag } from '../../protocol/tables/tags.ts';
import { NOTED, type TurnWatch } from '../turns/turn-watch.ts';

/** One thing that is done of a transaction. Steps are compared by identity. */
export interface Step<T> {
  readonly name: string;
  run(tx: T): Step<T>;
}

/** A step whose function is given by bindSteps(): steps follow one another in circles, which files must not. */
export function step<T>(name: string): Step<T> {
  return { name, run: unbound };
}

function unbound(): never {
  throw new Error('a step without a function');
}

/** Gives steps their functions: once, where all of them are known. */
export function bindSteps<T>(rows: readonly (readonly [Step<T>, (tx: T) => Step<T>])[]): void {
  for (const [row, run] of rows) row.run = run;
}

/** The transaction is over. */
export const DONE: Step<unknown> = step('done');
/** The step waits for something (a fetch, the waiting list, a peer), which resumes the transaction once. */
export const PARKED: Step<unknown> = step('parked');

/**
 * The end of a step that begins something: parks until that calls `proceed` with the next step, which may be at once, in the
 * turn of the step itself.
 */
export function waitFor<T extends { resume(next: Step<T>): void }>(
  tx: T,
  begin: (proceed: (next: Step<T>) => void) => void,
): Step<T> {
  let next: Step<T> = PARKED;
  let begun = false;
  begin((step) => {
    if (begun) tx.resume(step);
    else next = step;
  });
  begun = true;
  return next;
}

export interface Transaction {
  readonly core: { readonly stepChecks: StepChecks | null; readonly turnWatch: TurnWatch | null };
  readonly log: { put(tag: number, text: string): void };
  /** Nothing resumes it any more with any effect. */
  readonly ended: boolean;
  /** References that it has not dropped, for the checks of the debug mode: names of objects, connections,
   * programs. */
  held(): readonly string[];
}

/** How transactions of a kind end. */
export interface Ends<T> {
  /** A step threw: logs it and releases everything. */
  broke(tx: T, error: unknown): void;
  /** The last step is over. */
  done(tx: T): void;
  /** For operators: what it is, with the number under which the log has it. */
  name(tx: T): string;
}

/** A transaction as operators see it in lists and events, which many may read: without the query, where secrets are. */
export function nameOf(
  kind: 'request' | 'fetch',
  vxid: number,
  { method, url }: { readonly method: string; readonly url: string },
): string {
  return `${kind} ${vxid} ${method} ${url.split('?', 1)[0]}`;
}

export class Driver<T extends Transaction> {
  private readonly ends: Ends<T>;

  constructor(ends: Ends<T>) {
    this.ends = ends;
  }

  /** Runs `tx` from a step on. */
  readonly run = (tx: T, from: Step<T>): void => {
    // It may be a while since the clock was read.
    tx.core.turnWatch?.clock.now();
    this.start(tx, from);
  };

  /** The same where the clock has been read in this turn. */
  start(tx: T, from: Step<T>): void {
    const { stepChecks, turnWatch } = tx.core;
    if (stepChecks !== null) stepChecks.entered(tx);
    // One that a defect has ended may still be resumed by what it waited for.
    if (tx.ended) return;
    let next = from;
    try {
      let before = turnWatch === null ? 0 : turnWatch.clock.latest;
      while (next !== PARKED && next !== DONE) {
        const { name } = next;
        if (stepChecks !== null) stepChecks.about(tx, name);
        next = next.run(tx);
        if (turnWatch === null) continue;
        if (next === PARKED) turnWatch.clock.now();
        const { latest } = turnWatch.clock;
        if (latest - before >= NOTED) turnWatch.note(before, latest, name, this.ends.name(tx));
        before = latest;
      }
    } catch (error) {
      this.ends.broke(tx, error);
      if (stepChecks !== null) stepChecks.broke(tx);
      return;
    }
    if (next === DONE) this.ends.done(tx);
    if (stepChecks !== null) stepChecks.left(tx);
  }
}

/** Fills a read buffer after its turn: no byte of a head, and none that UTF-8 text begins with. */
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

  /** The bytes of a read buffer are lent for one turn: code that looks at them later sees that they are gone. */
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
