// The commands ban, ban.soft, ban.list, ban.count. Formats and errors are Varnish's if it has the command.

import { CLI } from '../../protocol/errors.ts';
import type { CommandReply } from '../../protocol/messages.ts';
import { banElements, banLines } from '../cache/ban/ban.ts';
import { BanCount } from '../cache/ban/ban-service.ts';
import { fleetFailure, fleetReply, type Invalidation, isRefused } from '../contract/invalidation.ts';
import type { CommandCall } from '../link.ts';
import { turns } from '../turns/turns.ts';
import { bad, cannot, gathered, jsonReply, ok } from './reply.ts';
import type { WorkerHandler, WorkerHandlers, WorkerServices } from './worker-services.ts';

/** Adds a ban, and passes it on to the edge and the fleet unless --local is given. The reply says what the edge
 * refused, and how many nodes applied it; if either was not reached the command fails, although the ban is in
 * effect here. */
async function ban(worker: WorkerServices, { args }: CommandCall, soft: boolean): Promise<CommandReply> {
  const local = args[0] === LOCAL;
  const words = local ? args.slice(1) : args;
  const nameless = worker.changes.commandErrors ? headerWithoutName(words) : undefined;
  if (nameless !== undefined) return bad(`Missing header name: "${nameless}"`);
  const problem = worker.cache.bans.add(words, worker.clock.now(), soft);
  if (problem !== null) return refused(problem);
  const isOnDisk = (await worker.disk?.settled()) ?? true;
  if (!isOnDisk) return cannot('Banned, but not on disk: the ban may not survive the worker.\n');
  if (local) return ok();
  const subject = words.map((word) => (/[\s"]/.test(word) ? JSON.stringify(word) : word)).join(' ');
  const event: Invalidation = { kind: 'ban', soft, subject, words, origin: 'admin', count: null };
  const [edge, fleet] = await Promise.all([
    worker.edge?.invalidated(event, null),
    worker.fleet?.publish(event),
  ]);
  const lines: string[] = [];
  const refusedByEdge = edge != null && isRefused(edge);
  if (refusedByEdge) {
    const how = edge.state === 'dead' ? 'would not do it' : 'was not notified';
    lines.push(`Banned here. The edge ${how}: ${edge.detail ?? edge.state}\n`);
  }
  const lost = fleet !== undefined && fleet.state !== 'stored';
  if (lost) lines.unshift(`${fleetFailure(fleet)}.\n`);
  if (fleet !== undefined) lines.push(`Fleet: ${fleetReply(fleet)}\n`);
  return (refusedByEdge || lost ? cannot : ok)(lines.join(''));
}

/** A field of a complete expression that ends where the header's name should be. */
function headerWithoutName(words: readonly string[]): string | undefined {
  if (words.length % 4 !== 3) return undefined;
  return words.find((word, i) => i % 4 === 0 && /^(req|obj)\.http\.$/.test(word));
}

/** Takes several turns: bans added meanwhile are not listed, removed ones may be. */
const list: WorkerHandler = async ({ cache: { bans }, objectLog }, call) => {
  const objectsOf = objectLog.lurkerDebug ? await bans.objectsByBan() : null;
  const reply = call.json
    ? jsonReply(
        call,
        `\n  ${(await gathered(banElements(bans.list(), objectsOf), ',\n', call.most)).trimStart()}`,
      )
    : ok(await gathered(banLines(bans.list(), objectsOf), '', call.most));
  bans.tidy();
  return reply;
};

/** Counts in steps, one per turn of the event loop, so that traffic is served meanwhile. */
const count: WorkerHandler = async ({ cache, clock, active }, call) => {
  const { args } = call;
  const plainHash = active?.plainHash === true;
  const counting = cache.bans.count(args, clock.now(), plainHash);
  if (!(counting instanceof BanCount)) return refused(counting);
  while (!counting.step()) await turns.next();
  const { matching, objects, undecided } = counting;
  if (call.json) {
    const row = `{\n    "matching": ${matching},\n    "undecided": ${undecided},\n    "objects": ${objects}\n  }`;
    return jsonReply(call, `\n  ${row}`);
  }
  let body = `${matching} of ${objects} objects match.\n`;
  if (undecided > 0) body += `${undecided} more may match: ${reason(args, plainHash)}\n`;
  return ok(body);
};

function reason(args: readonly string[], plainHash: boolean): string {
  const fields = args.filter((word, i) => i % 4 === 0 && word.startsWith('req.'));
  const inKeys = (field: string): boolean => field === 'req.url' || field.toLowerCase() === 'req.http.host';
  const open = fields.filter((field) => !inKeys(field));
  if (open.length > 0) return `${open.join(', ')} can be known only with a request.`;
  return plainHash
    ? 'they are kept under keys that are not URL and host.'
    : `${fields.join(', ')} cannot be told from keys, since the program has a vcl_hash of its own.`;
}

function refused(problem: string): CommandReply {
  return problem.startsWith('Too few') ? { status: CLI.TOO_FEW, body: problem } : bad(problem);
}

const LOCAL = '--local';

export const BAN_COMMANDS = {
  ban: (worker, call) => ban(worker, call, false),
  'ban.count': count,
  'ban.list': list,
  'ban.soft': (worker, call) => ban(worker, call, true),
} satisfies Partial<WorkerHandlers>;
