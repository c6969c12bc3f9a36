// Admin commands through varnishadm, one process per command: interactive sessions differ between releases, and a
// restarted Varnish is found again.

import type { CommandReply } from '../../protocol/messages.ts';
import type { VarnishTarget } from '../client/varnish-target.ts';
import { AskingShell, type ToolAnswer } from './asking-shell.ts';
import { whyNothing } from './far-shell.ts';
import { asJson, asText } from './text-lists.ts';
import { adminScript, encodeLine } from './tool-scripts.ts';

/** Includes the compilation of a program. */
const ANSWER_SECONDS = 30;
/** Extra seconds for the connection and the round trip (chosen). */
const MORE_SECONDS = 25;
const OK = 200;
const TRUNCATED = 201;
const FAILED = /(?:^|\n)Command failed with error code (\d+)\n?$/;
/** Before 7.0 this precedes the body. */
const FAILED_FIRST = /^Command failed with error code (\d+)\n/;
const CUT = /\n?\[response was truncated\]\n?$/;

export class VarnishCommands {
  private readonly target: VarnishTarget;
  private readonly shell: AskingShell;
  private reason = 'not connected';

  /** `seconds`: timeout of a command. `end` is called if the shell exits by itself. */
  constructor(
    target: VarnishTarget,
    seconds = ANSWER_SECONDS,
    end: (reason: string) => void = () => undefined,
  ) {
    this.target = target;
    this.shell = new AskingShell(
      target,
      (mark) => adminScript(target.name, seconds, mark),
      seconds + MORE_SECONDS,
      (how) => {
        this.reason = whyNothing(target, 'varnishadm', how);
        end(this.reason);
      },
    );
  }

  /** Status 0: no answer. */
  async command(line: string): Promise<CommandReply> {
    const reply = await this.ask(line);
    const plain = asText(line, reply);
    if (plain === null) return reply;
    const table = await this.ask(plain);
    return table.status === OK ? { status: OK, body: asJson(line, table.body) } : reply;
  }

  private async ask(line: string): Promise<CommandReply> {
    const answer = await this.shell.ask(encodeLine(line));
    return answer === null ? { status: 0, body: this.reason } : readReply(answer, this.target);
  }

  close(): void {
    this.shell.close();
  }
}

/** varnishadm prints the body, and after a failure a line with the status. */
export function readReply({ code, text }: ToolAnswer, target: VarnishTarget): CommandReply {
  const failed = FAILED.exec(text);
  if (failed !== null) return { status: Number(failed[1]), body: withoutEnd(text.slice(0, failed.index)) };
  const first = code === 0 ? null : FAILED_FIRST.exec(text);
  if (first !== null) return { status: Number(first[1]), body: withoutEnd(text.slice(first[0].length)) };
  if (code !== 0) return { status: 0, body: whyNothing(target, 'varnishadm', { code, output: text.trim() }) };
  if (CUT.test(text)) return { status: TRUNCATED, body: text.replace(CUT, '') };
  return { status: OK, body: withoutEnd(text) };
}

/** Without the newline that the tool appends. */
function withoutEnd(body: string): string {
  return body.endsWith('\n') ? body.slice(0, -1) : body;
}
