// How long whoever gave a command waits for its reply. A command that takes longer goes on, and he is told so; how it
// ended is said to all. Nothing is ended here: a worker that no longer answers is the supervisor's, and one that answers
// is only busy.

import type { CommandReply } from '../../protocol/messages.ts';
import { commandRow } from '../../protocol/tables/commands.ts';
import { cannot } from './reply.ts';

/** Commands that may go on at the same time (chosen): more come only of a worker in which they never end. */
const MOST = 100;

export interface LongCommandsHost {
  /** Seconds. */
  patience(): number;
  /** Something that operators should see wherever they look. */
  tell(text: string): void;
}

export class LongCommands {
  readonly #host: LongCommandsHost;
  #goOn = 0;

  constructor(host: LongCommandsHost) {
    this.#host = host;
  }

  async run(line: string, command: (line: string) => Promise<CommandReply>): Promise<CommandReply> {
    const [name = ''] = line.trim().split(/\s/, 1);
    // Those that say how things are, and stop and start, are what helps then.
    if (this.#goOn >= MOST && commandRow(name)?.waits === undefined)
      return cannot(
        `${MOST} commands take too long and go on: wait for them, or stop and start the worker.\n`,
      );
    const began = performance.now();
    const seconds = this.#host.patience();
    const reply = command(line);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), seconds * 1000);
    });
    const first = await Promise.race([reply, late]);
    clearTimeout(timer);
    if (first !== null) return first;
    this.#goOn++;
    this.#host.tell(`${name} takes longer than ${seconds} s (cli_timeout): it goes on`);
    const ended = (how: string): void => {
      this.#goOn--;
      const took = ((performance.now() - began) / 1000).toFixed(1);
      this.#host.tell(`${name} ended after ${took} s ${how}`);
    };
    reply.then(
      ({ status }) => ended(`with status ${status}`),
      (cause: Error) => ended(`in an error: ${cause.message}`),
    );
    return cannot(
      `${name} takes longer than ${seconds} s (cli_timeout). It goes on; event.list and the daemon's log will say how it ended.\n`,
    );
  }
}
