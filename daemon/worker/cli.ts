// The admin commands whose state lives in the worker, in Varnish's formats (varnish-cli(7)). The manager has
// checked the number of arguments; each handler answers with a status and a body.

import { listBackends, setHealth } from './cli-backends.ts';
import { banCommand, countBans, listBans } from './cli-bans.ts';
import { jsonReply } from './cli-json.ts';
import type { Reply, Worker } from './worker.ts';

type Handler = (worker: Worker, args: string[], json: boolean, argv: string[]) => Reply | Promise<Reply>;

const HANDLERS: Readonly<Record<string, Handler>> = {
  ban: (worker, _args, _json, argv) => banCommand(worker, argv, false),
  'ban.count': countBans,
  'ban.list': listBans,
  'ban.soft': (worker, _args, _json, argv) => banCommand(worker, argv, true),
  'backend.list': listBackends,
  'backend.set_health': setHealth,
  'storage.list': listStorages,
  'debug.fragfetch': () => OK,
  // The caller takes it for what it is and ends the process.
  'debug.panic.worker': () => {
    throw new Error('You asked for it (debug.panic.worker)');
  },
  'debug.srandom': () => OK,
  'debug.xid': transactionId,
};

const OK: Reply = { status: 200, body: '' };

/** The last id, or the one before the next; ids are not taken in chunks here, whatever their size is said to be. */
function transactionId(worker: Worker, args: string[]): Reply {
  const [text, chunk = '1'] = args;
  const next = Number(text ?? worker.lastVxid());
  if (!Number.isSafeInteger(next) || next < 0 || next >= 1 << 30)
    return { status: 106, body: 'Not a transaction id' };
  if (text !== undefined) worker.setNextVxid(next + 1);
  return { status: 200, body: `XID is ${next} chunk ${chunk}` };
}

export function answerCli(worker: Worker, argv: string[]): Reply | Promise<Reply> {
  const [name = '', ...rest] = argv;
  const handler = HANDLERS[name];
  if (handler === undefined) return { status: 101, body: "Unknown request.\nType 'help' for more info." };
  const json = rest[0] === '-j' || rest.includes('-j');
  const args = rest.filter((a) => a !== '-j');
  return handler(worker, args, json, argv);
}

function listStorages(worker: Worker, _args: string[], json: boolean, argv: string[]): Reply {
  const names = [...worker.storages.keys()];
  if (json) {
    const rows = names.map((n) => `{\n    "name": ${JSON.stringify(n)},\n    "storage": "malloc"\n}`);
    return jsonReply(2, argv, worker, rows.join(',\n  '));
  }
  return { status: 200, body: `Storage devices:\n${names.map((n) => `\tstorage.${n} = malloc\n`).join('')}` };
}
