// State of one gate's service shared by all threads of a worker: its answers for a time, and recent failures. A gate
// is identified by its program, name and service, so that a new program of the same name continues with what is still
// valid. The number of answers is bounded, because requests choose the questions.

import type { SharedState, SharedTable } from '../../contract/shared-state.ts';
import type { Access, ServiceAnswer } from './service-call.ts';

/** Answers of all gates, and gates with counted failures (chosen). */
const MOST_ANSWERS = 10_000;
const MOST_GATES = 1000;
/** Largest answer in bytes: two digests, the answer and its numbers. */
const ANSWER = 300;
/** Consecutive failures that open the circuit, and for how many milliseconds (chosen). */
const FAILURES = 3;
const REST = 5000;

/** Numbers of an answer: milliseconds on the clock of all threads, and the lifetimes for the cookie. */
const UNTIL = 0;
const SECONDS = 1;
/** Numbers of a gate. */
const FAILED = 0;
const RESTS_UNTIL = 1;

export class ServiceMemory {
  private readonly answers: SharedTable;
  private readonly circuits: SharedTable;
  private readonly gate: string;

  /** @param gate unique text of the gate */
  constructor(state: SharedState, gate: string) {
    this.answers = state.table('paywall.answers', {
      numbers: 2,
      entries: MOST_ANSWERS,
      bytes: ANSWER * MOST_ANSWERS,
      forgetsOldest: true,
    });
    this.circuits = state.table('paywall.circuits', { numbers: 2, entries: MOST_GATES, forgetsOldest: true });
    this.gate = gate;
  }

  /** A cached answer that is still valid, or null. */
  answer(question: string, now: number): ServiceAnswer | null {
    const row = this.answers.read(this.gate + question);
    if (row === null || now >= (row.numbers[UNTIL] as number)) return null;
    const [access = '', user = ''] = (row.text ?? '').split(' ');
    return { access: access as Access, user, seconds: row.numbers[SECONDS] as number };
  }

  keep(question: string, { access, user, seconds }: ServiceAnswer, until: number): void {
    this.answers.update(this.gate + question, (row) => {
      row.numbers.splice(0, 2, until, seconds);
      row.text = `${access} ${user}`;
    });
  }

  worked(): void {
    if (this.circuits.read(this.gate) !== null) this.circuits.remove(this.gate);
  }

  failed(now: number): void {
    this.circuits.update(this.gate, ({ numbers }) => {
      numbers[FAILED] = (numbers[FAILED] as number) + 1;
      numbers[RESTS_UNTIL] = now + REST;
    });
  }

  /** Whether it failed repeatedly; `rests`: and the last time recently. */
  failing(now: number): { rests: boolean } | null {
    const numbers = this.circuits.read(this.gate)?.numbers;
    if (numbers === undefined || (numbers[FAILED] as number) < FAILURES) return null;
    return { rests: now < (numbers[RESTS_UNTIL] as number) };
  }
}
