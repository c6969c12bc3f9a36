// The environment that a worker's backends share: pool, clock, counters, parameters, and the log of their probes.

import { Tag } from '../../protocol/tables/tags.ts';
import type { BackendEnvironment } from '../backend/backend-surroundings.ts';
import { handleWires } from '../backend/handle-wire.ts';
import { HoldDown } from '../backend/hold-down.ts';
import { PiecePacer } from '../backend/piece-pacer.ts';
import { ProbeSchedule } from '../backend/probe-schedule.ts';
import { socketWires } from '../backend/socket-wire.ts';
import { TlsClients } from '../backend/tls-client.ts';
import { ByteTurns } from '../flow/byte-turns.ts';
import type { WorkerCore } from './worker-core.ts';

export function makeBackendEnvironment(worker: WorkerCore): BackendEnvironment {
  const log = worker.newLog();
  log.begin(0, '-');
  const readBuffer = {
    bytes: worker.readBuffer,
    turnOver: (length: number) => worker.stepChecks?.turnOver(worker.readBuffer, length),
  };
  return {
    pool: worker.pool,
    holdDown: new HoldDown(worker.shared),
    probes: new ProbeSchedule(),
    wires: handleWires(readBuffer) ?? socketWires(readBuffer),
    tlsClients: new TlsClients(),
    readBuffer,
    pacer: new PiecePacer(),
    readTurns: new ByteTurns((run) => setImmediate(run)),
    stats: worker.stats,
    get limits() {
      return worker.responseLimits;
    },
    params: worker.params,
    now: () => worker.clock.now(),
    healthLog: (text) => log.put(Tag.Backend_health, text),
    healthChanged: (text) => worker.happened('health', text),
    note: (text) => worker.note(4, text),
  };
}
