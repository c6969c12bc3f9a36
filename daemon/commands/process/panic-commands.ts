// panic.show and panic.clear: the report of the last panic.

import type { ManagerHandler, ManagerHandlers } from '../manager-services.ts';
import { cannot, jsonReply, ok } from '../reply.ts';

const show: ManagerHandler = ({ panics }, call) => {
  const panic = panics.last;
  if (panic === null) return cannot('Child has not panicked or panic has been cleared');
  const at = new Date(panic.at * 1000).toUTCString();
  const report = `Panic at: ${at}\n${panic.text}\n`;
  return call.json ? jsonReply(call, `\n  ${JSON.stringify(report)}`) : ok(report);
};

const clear: ManagerHandler = ({ panics, supervisor }, { options }) => {
  const counter = options.includes('z');
  if (counter) supervisor.counters.child_panic = 0;
  return panics.clear() || counter ? ok() : cannot('No panic to clear');
};

export const PANIC_COMMANDS = {
  'panic.clear': clear,
  'panic.show': show,
} satisfies Partial<ManagerHandlers>;
