// The CLI on standard input and output of -d: a banner, then an answer for each command, in the framing of
// the text CLI. The end of the input ends everything; so says the one who waits for `ended`.

import type { Readable, Writable } from 'node:stream';
import { CommandLines } from '../../protocol/cli-quoting.ts';
import { CLI } from '../../protocol/errors.ts';
import type { CommandReply } from '../../protocol/messages.ts';
import { writeReply } from './text-cli.ts';

/** Serves until the input ends or `quit`; resolves then, when all commands read so far are answered. */
export function serveStdin(
  input: Readable,
  output: Writable,
  banner: string,
  run: (line: string) => Promise<CommandReply>,
): Promise<void> {
  const lines = new CommandLines();
  // Nobody may read the answers any more; the commands still count.
  output.on('error', () => {});
  void writeReply(output, { status: CLI.OK, body: `${banner}Type 'start' to launch worker process.\n` });
  let queue: Promise<void> = Promise.resolve();
  return new Promise((resolve) => {
    const take = (commands: string[]): void => {
      for (const line of commands) {
        queue = queue.then(async () => {
          const reply = await run(line);
          await writeReply(output, reply);
          if (reply.status === CLI.CLOSE) resolve();
        });
      }
    };
    const end = (): void => {
      take(lines.end());
      void queue.then(resolve);
    };
    input.setEncoding('utf8');
    input.on('data', (text: string) => take(lines.push(text)));
    input.once('end', end);
    input.once('close', end);
    input.once('error', end);
  });
}
