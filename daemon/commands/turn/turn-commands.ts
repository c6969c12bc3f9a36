// turn.list: the longest turns of the last minute and the work that they were spent on, the longest first.

import type { ManagerHandler, ManagerHandlers } from '../manager-services.ts';
import { jsonReply, ok } from '../reply.ts';

const WHERE_CELLS = 9;
const MILLIS_CELLS = 8;

const list: ManagerHandler = ({ longTurns }, call) => {
  const turns = longTurns.lately();
  if (call.json) {
    const items = turns.map(
      ({ at, where, millis, work, of }) =>
        `\n  {"time": ${at.toFixed(3)}, "where": "${where}", "milliseconds": ${Math.round(millis)}, "work": ${JSON.stringify(work)}, "of": ${JSON.stringify(of)}}`,
    );
    return jsonReply(call, items.join(','));
  }
  return ok(
    turns
      .map(({ at, where, millis, work, of }) => {
        const took = `${Math.round(millis)} ms`.padStart(MILLIS_CELLS);
        return `${new Date(at * 1000).toISOString()} ${where.padEnd(WHERE_CELLS)} ${took}  ${of === '' ? work : `${of}, ${work}`}\n`;
      })
      .join(''),
  );
};

export const TURN_COMMANDS = { 'turn.list': list } satisfies Partial<ManagerHandlers>;
