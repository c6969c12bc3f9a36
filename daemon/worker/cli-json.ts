// The frame of the JSON answers to admin commands.

import type { Reply, Worker } from './worker.ts';

/** The frame of a JSON answer: version, command, time, then the entries. */
export function jsonReply(version: number, argv: string[], worker: Worker, entries: string): Reply {
  const command = argv.map((a) => JSON.stringify(a)).join(', ');
  const time = worker.clock.now().toFixed(3);
  const body = entries === '' ? '' : `,\n  ${entries}`;
  return { status: 200, body: `[ ${version}, [${command}], ${time}${body}\n]\n` };
}
