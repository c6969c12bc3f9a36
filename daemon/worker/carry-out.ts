// Executes the manager's calls in one thread: commands, programs, parameters, stop. Every call gets one reply; a
// refusal is a status and a text, and an exception ends the worker.

import type { CommandReply } from '../../protocol/messages.ts';
import { runCommand } from '../commands/worker-dispatch.ts';
import type { WorkerCall } from '../link.ts';
import { logCall } from './cli-log.ts';
import { connectEdge } from './edge-connection.ts';
import { applyEvents, flush } from './fleet-connection.ts';
import type { Worker } from './worker.ts';

const OK: CommandReply = { status: 200, body: '' };
const NOT_KEPT: CommandReply = { status: 300, body: 'the disk tier has not written it yet' };

/** Executes a call, and logs it in the first thread. */
export function carryOutLogged(worker: Worker, call: WorkerCall): Promise<CommandReply> {
  if (worker.thread > 0) return carryOut(worker, call);
  return logCall(worker.workerLog, call, (same) => carryOut(worker, same));
}

/** Executes a call without logging it; steps that take long are noted under its name. */
export function carryOut(worker: Worker, call: WorkerCall): Promise<CommandReply> {
  return worker.turnWatch.run(nameOf(call), () => answer(worker, call));
}

/** Whether the invalidations so far survive this worker; a disk tier that is off has nothing to keep. */
async function isKept({ disk }: Worker): Promise<boolean> {
  return disk === null || (await disk.settled()) || !disk.space().happy;
}

function nameOf(call: WorkerCall): string {
  return call.op === 'cli' ? call.command.name : call.op;
}

async function answer(worker: Worker, call: WorkerCall): Promise<CommandReply> {
  switch (call.op) {
    case 'cli':
      return runCommand(worker, call.command);
    case 'vcl.load': {
      const problem = await worker.programs.load(call.load);
      if (problem !== null) return { status: 300, body: problem };
      const { edge } = call.load.program;
      if (edge !== undefined) {
        worker.showEdge();
        worker.edge = await connectEdge(worker, edge, worker.queueElsewhere);
      }
      return OK;
    }
    case 'vcl.use':
      return worker.programs.use(call.name)
        ? OK
        : { status: 106, body: `No configuration named ${call.name} known.` };
    case 'vcl.discard':
      worker.programs.discard(call.name);
      return OK;
    case 'vcl.label':
      return worker.programs.label(call.name, call.target)
        ? OK
        : { status: 106, body: `No configuration named ${call.target} known.` };
    case 'vcl.state': {
      const problem = await worker.programs.setState(call.name, call.state, call.warm);
      return problem === null ? OK : { status: 300, body: problem };
    }
    case 'vcl.list':
      return { status: 200, body: JSON.stringify(worker.programs.list()) };
    case 'ping':
      return { status: 200, body: `PONG ${Math.floor(worker.clock.now())} 1.0` };
    case 'param.set':
      worker.allParams.apply(call.name, call.value);
      worker.paramsChanged();
      return OK;
    case 'fleet.apply': {
      const body = JSON.stringify(await applyEvents(worker, call.events));
      return (await isKept(worker)) ? { status: 200, body } : NOT_KEPT;
    }
    case 'fleet.flush':
      flush(worker, call.why);
      return (await isKept(worker)) ? OK : NOT_KEPT;
    case 'fleet.place': {
      const note = (await worker.disk?.note()) ?? null;
      return note === null ? { status: 300, body: 'Unknown' } : { status: 200, body: note };
    }
    case 'fleet.keep':
      await worker.disk?.keepNote(call.place);
      return OK;
    case 'fleet.hold':
      if (call.on) worker.held.hold(worker.clock.now());
      else worker.held.letGo();
      return OK;
    case 'tls.set':
      worker.tls.contexts.set(call.settings);
      return OK;
    case 'tls.tickets':
      worker.ticketKeys.set(call.keys);
      return OK;
    case 'tls.challenges':
      worker.tls.contexts.setChallenges(call.challenges);
      return OK;
    case 'drain':
      return { status: 200, body: String(await worker.drain(call.seconds)) };
    case 'stop':
      await worker.stop();
      return OK;
  }
}
