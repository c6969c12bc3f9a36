// CLI records of calls from the manager: the command as Varnish's child process would have read it, and the reply that
// the manager gets. The manager's internal queries are not logged.

import type { CommandReply } from '../../protocol/messages.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { WorkerCall } from '../link.ts';
import type { TxLog } from '../log/tx-log.ts';

/** Logs a command that was received. */
export function logCommand(log: TxLog, text: string): void {
  log.put(Tag.CLI, `Rd ${text}`);
}

export function logReply(log: TxLog, status: number, text: string): void {
  log.put(Tag.CLI, `Wr ${status} ${Buffer.byteLength(text)} ${text}`);
}

/** Executes a call and logs command and reply. */
export async function logCall(
  log: TxLog,
  call: WorkerCall,
  carryOut: (call: WorkerCall) => Promise<CommandReply>,
): Promise<CommandReply> {
  const text = cliText(call);
  if (text === null) return carryOut(call);
  logCommand(log, text);
  const reply = await carryOut(call);
  const loaded = call.op === 'vcl.load' && reply.status === 200;
  logReply(log, reply.status, loaded ? loadedText(call.load.name) : reply.body);
  return reply;
}

/** Text of the CLI record, null for none. */
function cliText(call: WorkerCall): string | null {
  switch (call.op) {
    case 'cli':
      return call.command.words.join(' ');
    case 'vcl.load': {
      const { name, state, warm } = call.load;
      return `vcl.load ${name} ${scriptName(name)} ${warm === false ? 0 : 1}${state}`;
    }
    case 'vcl.use':
    case 'vcl.discard':
      return `${call.op} ${call.name}`;
    case 'vcl.state':
      return `vcl.state ${call.name} ${call.warm ? 1 : 0}${call.state}`;
    case 'vcl.label':
      return `vcl.label ${call.name} ${call.target}`;
    case 'ping':
      return 'ping';
    // Varnish's child process reads new values from shared memory, without a CLI command.
    case 'param.set':
    case 'vcl.list':
    // These write records of their own.
    case 'fleet.apply':
    case 'fleet.hold':
    case 'fleet.flush':
    case 'fleet.place':
    case 'fleet.keep':
    // Keys are in these.
    case 'tls.set':
    case 'tls.tickets':
    case 'tls.challenges':
    case 'drain':
    case 'stop':
      return null;
  }
}

/** The reply to a program that was loaded. */
function loadedText(name: string): string {
  return `Loaded "${scriptName(name)}" as "${name}"`;
}

function scriptName(name: string): string {
  return `vcl_${name}.js`;
}
