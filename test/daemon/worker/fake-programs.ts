// The environment of a worker's programs without the worker: no connections, and turns of the event loop pass on
// demand.

import { HoldDown } from '../../../daemon/backend/hold-down.ts';
import { PiecePacer } from '../../../daemon/backend/piece-pacer.ts';
import { ConnectionPool } from '../../../daemon/backend/pool.ts';
import { ProbeSchedule } from '../../../daemon/backend/probe-schedule.ts';
import { TlsClients } from '../../../daemon/backend/tls-client.ts';
import { OwnState } from '../../../daemon/contract/own-state.ts';
import { compile } from '../../../daemon/extensions/compile-with-builtins.ts';
import { ByteTurns } from '../../../daemon/flow/byte-turns.ts';
import type { LoadedProgram, ProgramState } from '../../../daemon/link.ts';
import { newMainCounters } from '../../../daemon/stats/counter-fields.ts';
import { Turns } from '../../../daemon/turns/turns.ts';
import type { ProgramServices } from '../../../daemon/worker/program-entry.ts';
import { textLog } from '../../harness/fake-core.ts';

export const PLAIN = 'vcl 4.1; backend one { .host = "127.0.0.1"; .port = "1"; }';

export interface FakePrograms {
  services: ProgramServices;
  /** Counters of warm programs' backends. */
  shown: Set<unknown>;
  /** Log output of programs outside of requests. */
  records: string[];
  /** The next turn of the event loop. */
  later: (() => void)[];
}

export function fakePrograms(): FakePrograms {
  const shown = new Set<unknown>();
  const records: string[] = [];
  const later: (() => void)[] = [];
  const stats = newMainCounters();
  const limits = { maxLine: 8192, maxFields: 64, maxSize: 32768 };
  let clock = 0;
  const services: ProgramServices = {
    clock: { now: () => 1000 },
    host: { shared: new OwnState() } as unknown as ProgramServices['host'],
    stats,
    backendEnvironment: {
      pool: new ConnectionPool(60),
      tlsClients: new TlsClients(),
      holdDown: new HoldDown(new OwnState()),
      probes: new ProbeSchedule(),
      wires: () => ({ local: null, write: () => undefined, close: () => undefined }),
      readBuffer: { bytes: Buffer.alloc(1024), turnOver: () => undefined },
      pacer: new PiecePacer(),
      readTurns: new ByteTurns((run) => setImmediate(run)),
      stats,
      limits,
      params: {} as ProgramServices['backendEnvironment']['params'],
      now: () => 1000,
      healthLog: () => undefined,
      healthChanged: () => undefined,
      note: () => undefined,
    },
    countersFile: {
      addBackend: (_program, _backend, counters) => void shown.add(counters),
      removeBackend: (counters) => void shown.delete(counters),
    },
    backendThreads: null,
    newLog: () => textLog(records) as ReturnType<ProgramServices['newLog']>,
    // Each look at the clock is a millisecond later than the one before.
    turns: new Turns(
      () => clock++,
      (step) => void later.push(step),
    ),
  };
  return { services, shown, records, later };
}

export function program(
  name: string,
  text = PLAIN,
  { state = 'auto', warm = true, labels = [] as string[] } = {},
): LoadedProgram {
  const { program: compiled, errors } = compile({ name, text }, { labels });
  if (compiled === undefined || compiled === null) throw new Error(JSON.stringify(errors));
  return { name, program: compiled, state: state as ProgramState, warm };
}
