// Commands about the two processes (pid, start, status, stop, panic.*, event.list, turn.list, listen.list, storage.list)
// and about the control connection (auth, banner, help, ping, quit).

import { CLI } from '../../../protocol/errors.ts';
import { COMMANDS, type Command, commandRow } from '../../../protocol/tables/commands.ts';
import { cannot, jsonReply, ok } from '../../commands/reply.ts';
import type { BoundListener } from '../../link.ts';
import type { ManagerHandler, ManagerHandlers } from './handler.ts';

const status: ManagerHandler = ({ supervisor: { state, waitsFor } }, call) => {
  if (call.json) return jsonReply(call, ` ${JSON.stringify(state)}`);
  return ok(`Child in state ${state}${waitsFor === '' ? '' : `, ${waitsFor}`}`);
};

const start: ManagerHandler = async ({ supervisor, programs }) => {
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

const stop: ManagerHandler = async ({ supervisor }) => {
  // A scheduled restart is cancelled, too.
  if (supervisor.state === 'stopped' && !supervisor.awaitsRestart) return cannot('Child in state stopped');
  await supervisor.stop();
  return ok();
};

const pid: ManagerHandler = ({ supervisor }, call) => {
  const worker = supervisor.pid;
  if (call.json) {
    const members = [`"master": ${process.pid}`];
    if (worker !== 0) members.push(`"worker": ${worker}`);
    return jsonReply(call, `\n  {${members.join(', ')}}`);
  }
  const line = (label: string, id: number): string => `${label}: ${String(id).padStart(10)}\n`;
  return ok(line('Master', process.pid) + (worker === 0 ? '' : line('Worker', worker)));
};

const panicShow: ManagerHandler = ({ panics }, call) => {
  const panic = panics.last;
  if (panic === null) return cannot('Child has not panicked or panic has been cleared');
  const at = new Date(panic.at * 1000).toUTCString();
  const report = `Panic at: ${at}\n${panic.text}\n`;
  return call.json ? jsonReply(call, `\n  ${JSON.stringify(report)}`) : ok(report);
};

const panicClear: ManagerHandler = ({ panics, supervisor }, { options }) => {
  const counter = options.includes('z');
  if (counter) supervisor.counters.child_panic = 0;
  return panics.clear() || counter ? ok() : cannot('No panic to clear');
};

const listeners: ManagerHandler = ({ listeners }, call) => {
  const rows = listeners.list();
  if (call.json) {
    const items = rows.map(
      (l) =>
        `\n  {\n    "name": ${JSON.stringify(l.name)},\n    "address": ${JSON.stringify(l.address)},\n    "port": ${l.port},\n    "protocol": "${protocolOf(l)}"\n  }`,
    );
    return jsonReply(call, items.join(','));
  }
  return ok(rows.map((l) => `${l.name} ${l.address} ${l.port < 0 ? '-' : l.port}${tlsColumn(l)}\n`).join(''));
};

function protocolOf({ proto, tls }: BoundListener): string {
  if (!tls) return proto;
  return proto === 'PROXY' ? 'HTTPS,PROXY' : 'HTTPS';
}

/** Varnish has three columns: the protocol is a fourth one only where it is TLS. */
function tlsColumn(listener: BoundListener): string {
  return listener.tls ? ` ${protocolOf(listener)}` : '';
}

const storages: ManagerHandler = ({ options: { storages: inMemory, disk } }, call) => {
  const storages = [...inMemory, ...(disk === null ? [] : [{ name: disk.name, kind: 'disk' }])];
  // Objects of Transient are not kept.
  const inFront = inMemory.map(({ name }) => name).filter((name) => name !== 'Transient');
  if (call.json) {
    const items = storages.map(
      (s) =>
        `\n  {\n    "name": ${JSON.stringify(s.name)},\n    "storage": ${JSON.stringify(s.kind)}${s.name === disk?.name ? `,\n    "behind": ${JSON.stringify(inFront)}` : ''}\n}`,
    );
    return jsonReply(call, items.join(','));
  }
  return ok(
    `Storage devices:\n${storages.map((s) => `\tstorage.${s.name} = ${s.kind}${s.name === disk?.name ? ` (behind ${inFront.join(', ')})` : ''}\n`).join('')}`,
  );
};

const KIND_WIDTH = 10;

const events: ManagerHandler = ({ events }, call) => {
  const rows = events.all();
  if (call.json) {
    const items = rows.map(
      ({ at, kind, text }) =>
        `\n  {"time": ${at.toFixed(3)}, "kind": "${kind}", "text": ${JSON.stringify(text)}}`,
    );
    return jsonReply(call, items.join(','));
  }
  const lines = rows.map(({ at, kind, text }) => `${timeOf(at)} ${kind.padEnd(KIND_WIDTH)} ${text}\n`);
  return ok(lines.join(''));
};

const WHERE_WIDTH = 9;
const MILLIS_WIDTH = 8;

const turns: ManagerHandler = ({ longTurns }, call) => {
  const rows = longTurns.lately();
  if (call.json) {
    const items = rows.map(
      ({ at, where, millis, work, of }) =>
        `\n  {"time": ${at.toFixed(3)}, "where": "${where}", "milliseconds": ${Math.round(millis)}, "work": ${JSON.stringify(work)}, "of": ${JSON.stringify(of)}}`,
    );
    return jsonReply(call, items.join(','));
  }
  const lines = rows.map(({ at, where, millis, work, of }) => {
    const took = `${Math.round(millis)} ms`.padStart(MILLIS_WIDTH);
    return `${timeOf(at)} ${where.padEnd(WHERE_WIDTH)} ${took}  ${of === '' ? work : `${of}, ${work}`}\n`;
  });
  return ok(lines.join(''));
};

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

/** The worker's commands are listed only if a worker runs, or is starting: commands then wait for it. */
const help: ManagerHandler = ({ supervisor }, call) => {
  const hasWorker = supervisor.state === 'running' || supervisor.state === 'starting';
  const isKnown = (row: Command): boolean => hasWorker || row.where === 'manager';
  const known = COMMANDS.filter(isKnown);
  if (call.json) return jsonReply(call, known.map(helpJson).join(','));
  const [name] = call.args;
  if (name === undefined || name === '-a' || name === '-d') {
    const rows = known.filter((row) => name === '-a' || (row.hidden === true) === (name === '-d'));
    return ok(rows.map((row) => `${row.syntax}\n`).join(''));
  }
  if (name.startsWith('-')) return { status: CLI.UNKNOWN, body: 'Unknown flag\n' };
  const row = commandRow(name);
  if (row === undefined || !isKnown(row))
    return { status: CLI.UNKNOWN, body: "Unknown request.\nType 'help' for more info.\n" };
  return ok(`${row.syntax}\n${row.help}\n`);
};

function helpJson(row: Command): string {
  const members = [
    `"request": ${JSON.stringify(row.name)}`,
    `"syntax": ${JSON.stringify(row.syntax)}`,
    `"help": ${JSON.stringify(row.help)}`,
    `"minarg": ${row.min}`,
    `"maxarg": ${row.max}`,
    `"flags": "${row.hidden === true ? 'd' : row.open === true ? 'i' : ''}"`,
    `"json": ${row.json}`,
  ];
  return `\n  {\n    ${members.join(',\n    ')}\n  }`;
}

const ping: ManagerHandler = (_manager, call) =>
  call.json ? jsonReply(call, ' "PONG"\n') : ok(`PONG ${Math.floor(Date.now() / 1000)} 1.0`);

export const PROCESS_COMMANDS = {
  // The text CLI handles it during authentication; afterwards it closes the connection as a wrong answer does.
  auth: () => ({ status: CLI.CLOSE, body: '' }),
  banner: ({ banner }) => ok(banner),
  'debug.listen_address': listeners,
  'event.list': events,
  help,
  'listen.list': listeners,
  'panic.clear': panicClear,
  'panic.show': panicShow,
  pid,
  ping,
  quit: () => ({ status: CLI.CLOSE, body: 'Closing CLI connection' }),
  start,
  status,
  stop,
  'storage.list': storages,
  'turn.list': turns,
} satisfies Partial<ManagerHandlers>;
