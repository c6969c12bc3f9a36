// Commands about certificates that are obtained and renewed by themselves: tls.acme.*.

import { bad, cannot, columns, jsonReply, ok } from '../../commands/reply.ts';
import type { ManagerHandler, ManagerHandlers } from './handler.ts';

const NONE = 'No certificate is obtained by itself: that takes --acme and --cert auto:<name>.\n';
const TITLES = ['Id', 'State', 'Valid until', 'Next', 'Names'];

const list: ManagerHandler = ({ acme }, call) => {
  const rows = acme?.status() ?? [];
  if (call.json) return jsonReply(call, rows.map((row) => `\n  ${JSON.stringify(row)}`).join(','));
  if (rows.length === 0) return ok(NONE);
  const problems = rows.flatMap(({ id, problem }) => (problem === null ? [] : [`${id}: ${problem}\n`]));
  const lines = rows.map(({ id, state, notAfter, next, names }) => [
    id,
    state,
    notAfter === null ? '-' : timeOf(notAfter),
    timeOf(next),
    names.join(' '),
  ]);
  return ok(columns([TITLES, ...lines]) + problems.join(''));
};

const retry: ManagerHandler = async ({ acme }, { args: [id = ''] }) => {
  if (acme === null) return cannot(NONE);
  return (await acme.retry(id)) ? ok() : bad(`No automatic certificate is called ${id}: see tls.acme.list\n`);
};

export const ACME_COMMANDS = {
  'tls.acme.list': list,
  'tls.acme.retry': retry,
} satisfies Partial<ManagerHandlers>;

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
}
