// The commands about the two processes: pid, start, status, stop.

import type { ManagerHandler, ManagerHandlers } from '../manager-services.ts';
import { cannot, jsonReply, ok } from '../reply.ts';

const status: ManagerHandler = ({ supervisor: { state } }, call) =>
  call.json ? jsonReply(call, ` ${JSON.stringify(state)}`) : ok(`Child in state ${state}`);

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
  // One that waits for its next try is stopped, too, and stays so from here on.
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

export const PROCESS_COMMANDS = { pid, start, status, stop } satisfies Partial<ManagerHandlers>;
