// event.list: what happened lately, the newest last.

import type { ManagerHandler, ManagerHandlers } from '../manager-services.ts';
import { jsonReply, ok } from '../reply.ts';

const KIND_CELLS = 10;

const list: ManagerHandler = ({ events }, call) => {
  const all = events.all();
  if (call.json) {
    const items = all.map(
      ({ at, kind, text }) =>
        `\n  {"time": ${at.toFixed(3)}, "kind": "${kind}", "text": ${JSON.stringify(text)}}`,
    );
    return jsonReply(call, items.join(','));
  }
  return ok(
    all
      .map(
        ({ at, kind, text }) => `${new Date(at * 1000).toISOString()} ${kind.padEnd(KIND_CELLS)} ${text}\n`,
      )
      .join(''),
  );
};

export const EVENT_COMMANDS = { 'event.list': list } satisfies Partial<ManagerHandlers>;
