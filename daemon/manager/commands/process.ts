// The commands about the two processes: status, start, stop, pid, ping, banner, quit, panics, listeners.

import { CLI } from '../../../protocol/errors.ts';
import { bad, type Command, cannot, jsonReply, ok } from '../core.ts';

/** Word of the worker's state as operators know it. */
function stateWord(state: string): 'running' | 'stopped' | 'starting' | 'stopping' {
  return state as 'running';
}

export const status: Command = ({ supervisor }, call) => {
  const word = stateWord(supervisor.state);
  return call.json ? jsonReply(call, ` ${JSON.stringify(word)}`) : ok(`Child in state ${word}`);
};

export const start: Command = async ({ supervisor, programs }) => {
  if (supervisor.state !== 'stopped') return cannot(`Child in state ${supervisor.state}`);
  if (programs.size === 0) return cannot('No VCL loaded');
  if (programs.activeName() === null) return cannot('No active VCL');
  try {
    await supervisor.start();
    return ok();
  } catch (cause) {
    return cannot((cause as Error).message);
  }
};

export const stop: Command = async ({ supervisor }) => {
  // One that waits for its next try is stopped, too, and stays so from here on.
  if (supervisor.state === 'stopped' && !supervisor.awaitsRestart) return cannot('Child in state stopped');
  await supervisor.stop();
  return ok();
};

export const pid: Command = ({ supervisor }, call) => {
  const worker = supervisor.pid;
  if (call.json) {
    const fields = [`"master": ${process.pid}`];
    if (worker !== 0) fields.push(`"worker": ${worker}`);
    return jsonReply(call, `\n  {${fields.join(', ')}}`);
  }
  const line = (label: string, id: number): string => `${label}: ${String(id).padStart(10)}\n`;
  return ok(line('Master', process.pid) + (worker === 0 ? '' : line('Worker', worker)));
};

export const ping: Command = (_core, call) =>
  call.json ? jsonReply(call, ' "PONG"\n') : ok(`PONG ${Math.floor(Date.now() / 1000)} 1.0`);

export const banner: Command = (core) => ok(core.banner);

export const quit: Command = () => ({ status: CLI.CLOSE, body: 'Closing CLI connection' });

/** Where it means anything, text-cli.ts has taken it; a second answer ends a connection as a wrong one does. */
export const auth: Command = () => ({ status: CLI.CLOSE, body: '' });

export const panicShow: Command = ({ panics }, call) => {
  const panic = panics.last;
  if (panic === null) return cannot('Child has not panicked or panic has been cleared');
  const at = new Date(panic.at * 1000).toUTCString();
  const report = `Panic at: ${at}\n${panic.text}\n`;
  return call.json ? jsonReply(call, `\n  ${JSON.stringify(report)}`) : ok(report);
};

export const panicClear: Command = ({ panics, supervisor }, call) => {
  const [option] = call.args;
  if (option !== undefined && option !== '-z') return bad(`Unknown parameter "${option}".`);
  if (option === '-z') supervisor.counters.child_panic = 0;
  if (panics.clear()) return ok();
  return option === '-z' ? ok() : cannot('No panic to clear');
};

export const listenList: Command = ({ listeners }, call) => {
  const list = listeners.list();
  if (call.json) {
    const rows = list.map(
      (l) =>
        `\n  {\n    "name": ${JSON.stringify(l.name)},\n    "address": ${JSON.stringify(l.address)},\n    "port": ${l.port}\n  }`,
    );
    return jsonReply(call, rows.join(','));
  }
  return ok(list.map((l) => `${l.name} ${l.address} ${l.port < 0 ? '-' : l.port}\n`).join(''));
};

export const storageList: Command = ({ storages }, call) => {
  if (call.json) {
    const rows = storages.map(
      (s) => `\n  {\n    "name": ${JSON.stringify(s.name)},\n    "storage": ${JSON.stringify(s.kind)}\n}`,
    );
    return jsonReply(call, rows.join(','));
  }
  return ok(`Storage devices:\n${storages.map((s) => `\tstorage.${s.name} = ${s.kind}\n`).join('')}`);
};
