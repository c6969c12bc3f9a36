// The commands that the worker carries out. The manager has read their words; the formats are those of varnish-cli(7).

import type { CommandReply } from '../../protocol/messages.ts';
import type { WorkerCommand } from '../../protocol/tables/commands.ts';
import type { CommandCall } from '../link.ts';
import { BACKEND_COMMANDS } from './backend/backend-commands.ts';
import { BAN_COMMANDS } from './ban/ban-commands.ts';
import { DEBUG_COMMANDS } from './debug/debug-commands.ts';
import { EDGE_COMMANDS } from './edge/edge-commands.ts';
import type { WorkerHandlers, WorkerServices } from './worker-services.ts';

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
