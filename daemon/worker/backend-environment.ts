// What a worker gives to all its backends: its pool, clock, counters and parameters, and the log of their probes.

import { Tag } from '../../protocol/tables/tags.ts';
import type { BackendEnvironment } from '../backend/backend.ts';
import { HoldDown } from '../backend/hold-down.ts';
import { ProbeSchedule } from '../backend/probe-schedule.ts';
import type { Worker } from './worker.ts';

export function makeBackendEnvironment(worker: Worker): BackendEnvironment {
  const log = worker.newLog();
  log.begin(0, '-');
  return {
    pool: worker.pool,
    holdDown: new HoldDown(),
    probes: new ProbeSchedule(),
    readBuffer: {
      bytes: worker.readBuffer,
      turnOver: (length) => worker.stepChecks?.turnOver(worker.readBuffer, length),
    },
    stats: worker.stats,
    get limits() {
      return worker.responseLimits;
    },
    params: worker.params,
    now: () => worker.clock.now(),
    healthLog: (text) => log.put(Tag.Backend_health, text),
    note: (text) => worker.note(4, text),
  };
}
