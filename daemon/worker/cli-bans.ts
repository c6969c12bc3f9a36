// The admin commands on bans: ban, ban.soft, ban.list, ban.count. Formats and errors are Varnish's where it has
// the command.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { BanCount } from '../cache/ban/ban-count.ts';
import { banListJson, banListText } from '../cache/ban/ban-text.ts';
import { jsonReply } from './cli-json.ts';
import type { Reply, Worker } from './worker.ts';

/** `argv` as it came: an argument of an expression may look like a flag. */
export function banCommand(worker: Worker, argv: string[], soft: boolean): Reply {
  const problem = worker.cache.ban(argv.slice(1), worker.clock.now(), soft);
  return problem === null ? { status: 200, body: '' } : refused(problem);
}

export function listBans(worker: Worker, _args: string[], json: boolean, argv: string[]): Reply {
  const { cache } = worker;
  const objectsOf = worker.objectLog.lurkerDebug ? cache.objectsOf.bind(cache) : null;
  const bans = cache.banList();
  const body = json ? banListJson(bans, objectsOf).trimStart() : banListText(bans, objectsOf);
  cache.tidyBans();
  return json ? jsonReply(2, argv, worker, body) : { status: 200, body };
}

/** Counts in steps, a turn of the event loop each: traffic goes on. */
export async function countBans(
  worker: Worker,
  _args: string[],
  json: boolean,
  argv: string[],
): Promise<Reply> {
  const words = argv.slice(json ? 2 : 1);
  const plainHash = worker.active?.plainHash === true;
  const count = worker.cache.banCount(words, worker.clock.now(), plainHash);
  if (!(count instanceof BanCount)) return refused(count);
  while (!count.step()) await nextTurn();
  const { matching, objects, undecided } = count;
  if (json) {
    const row = `{\n    "matching": ${matching},\n    "undecided": ${undecided},\n    "objects": ${objects}\n  }`;
    return jsonReply(2, argv, worker, row);
  }
  let body = `${matching} of ${objects} objects match.\n`;
  if (undecided > 0) body += `${undecided} more may match: ${reason(words, plainHash)}\n`;
  return { status: 200, body };
}

function reason(words: readonly string[], plainHash: boolean): string {
  const fields = words.filter((word, i) => i % 4 === 0 && word.startsWith('req.'));
  const inKeys = (field: string): boolean => field === 'req.url' || field.toLowerCase() === 'req.http.host';
  const open = fields.filter((field) => !inKeys(field));
  if (open.length > 0) return `${open.join(', ')} can be known only with a request.`;
  return plainHash
    ? 'they are kept under keys that are not URL and host.'
    : `${fields.join(', ')} cannot be told from keys, since the program has a vcl_hash of its own.`;
}

function refused(problem: string): Reply {
  return { status: problem.startsWith('Too few') ? 104 : 106, body: problem };
}
