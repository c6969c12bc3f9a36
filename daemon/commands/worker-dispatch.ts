// Dispatch of the worker's commands, whose words the manager has parsed, and the debug.* commands, which exist for
// Varnish's tests and some scripts.

import type { CommandReply } from '../../protocol/messages.ts';
import type { WorkerCommand } from '../../protocol/tables/commands.ts';
import type { CommandCall } from '../link.ts';
import { BACKEND_COMMANDS } from './backend-commands.ts';
import { BAN_COMMANDS } from './ban-commands.ts';
import { EDGE_COMMANDS } from './edge-commands.ts';
import { ok } from './reply.ts';
import type { WorkerHandler, WorkerHandlers, WorkerServices } from './worker-services.ts';

/** The last id, or the one before the next; ids are not taken in chunks here, whatever their size is said to be. */
const xid: WorkerHandler = (worker, { args: [text, chunk = '1'] }) => {
  const next = Number(text ?? worker.lastVxid());
  if (text !== undefined) worker.setNextVxid(next + 1);
  return ok(`XID is ${next} chunk ${chunk}`);
};

const DEBUG_COMMANDS = {
  'debug.fragfetch': () => ok(),
  // The caller takes it for what it is and ends the process.
  'debug.panic.worker': () => {
    throw new Error('You asked for it (debug.panic.worker)');
  },
  'debug.srandom': () => ok(),
  'debug.xid': xid,
} satisfies Partial<WorkerHandlers>;

const HANDLERS: WorkerHandlers = {
  ...BACKEND_COMMANDS,
  ...BAN_COMMANDS,
  ...DEBUG_COMMANDS,
  ...EDGE_COMMANDS,
};

/** Throws what a handler throws: it ends the worker as any fault does. */
export function runCommand(
  services: WorkerServices,
  call: CommandCall,
): CommandReply | Promise<CommandReply> {
  return HANDLERS[call.name as WorkerCommand](services, call);
}
