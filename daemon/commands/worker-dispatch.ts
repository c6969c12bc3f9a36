// Dispatch of the worker's commands, whose words the manager has parsed, and the debug.* commands, which exist for
// Varnish's tests and some scripts.

import type { CommandReply } from '../../protocol/messages.ts';
import type { WorkerCommand } from '../../protocol/tables/commands.ts';
import type { CommandCall } from '../link.ts';
import { BACKEND_COMMANDS } from './backend-commands.ts';
import { BAN_COMMANDS } from './ban-commands.ts';
import { EDGE_COMMANDS } from './edge-commands.ts';
import { ok } from './reply.ts';
import { STORAGE_COMMANDS } from './storage-commands.ts';
import type { WorkerHandler, WorkerHandlers, WorkerServices } from './worker-services.ts';

/** Shows an id, or sets it: the last one, or the next with newer releases. Ids are not allocated in chunks, whatever size
 * the command names. */
const xid: WorkerHandler = (worker, { args: [text, chunk = '1'] }) => {
  const ahead = worker.changes.nextId ? 0 : 1;
  const shown = Number(text ?? worker.lastVxid() + 1 - ahead);
  if (text !== undefined) worker.setNextVxid(Math.max(shown + ahead, 1));
  return ok(`XID is ${shown} chunk ${chunk}`);
};

const DEBUG_COMMANDS = {
  'debug.fragfetch': () => ok(),
  // Handled as any uncaught exception: the process exits.
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
  ...STORAGE_COMMANDS,
};

/** An exception of a handler is not caught: it ends the worker like any fault. */
export function runCommand(
  services: WorkerServices,
  call: CommandCall,
): CommandReply | Promise<CommandReply> {
  return HANDLERS[call.name as WorkerCommand](services, call);
}
