// The figures of one thread as THR.<number> shows them. Most are also in other counters of the thread, where they
// become part of a sum. It only copies, just before each publication.

import { type MainCounters, newThrCounters, type ThrCounters, type WrkCounters } from './counter-fields.ts';

/** Figures that no counter has. */
export interface ThreadFacts {
  /** Client connections open now. */
  sessions(): number;
  /** Times it slept for a lock. */
  lockWaits(): number;
}

export class ThreadRow {
  readonly thread: number;
  readonly values: ThrCounters = newThrCounters();
  private readonly main: MainCounters;
  private readonly wrk: WrkCounters;
  private readonly facts: ThreadFacts;

  constructor(thread: number, main: MainCounters, wrk: WrkCounters, facts: ThreadFacts) {
    this.thread = thread;
    this.main = main;
    this.wrk = wrk;
    this.facts = facts;
  }

  update(): void {
    const { values, main, wrk, facts } = this;
    values.requests = main.client_req - main.client_req_again;
    values.connections = main.sess_conn;
    values.connections_open = facts.sessions();
    values.loop_busy = wrk.loop_busy;
    values.loop_lag_us = wrk.loop_lag_us;
    values.lock_waits = facts.lockWaits();
  }
}
