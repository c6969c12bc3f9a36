// A shell that answers questions, one after another: one connection for as long as it goes well. An answer is whatever
// the tool printed, and its exit status.

import { randomBytes } from 'node:crypto';
import type { VarnishTarget } from '../client/varnish-target.ts';
import { FarShell, type ShellEnd } from './far-shell.ts';

export interface ToolAnswer {
  code: number;
  text: string;
}

/** Bytes of an answer: no tool prints more. */
const MOST_BYTES = 64 << 20;

export class AskingShell {
  private readonly shell: FarShell;
  private readonly mark: string;
  private readonly waiting: ((answer: ToolAnswer | null) => void)[] = [];
  private pieces: Buffer[] = [];
  private size = 0;
  private over = false;
  private readonly seconds: number;
  private readonly end: (end: ShellEnd) => void;
  /** Runs out when the present question was not answered. */
  private timer: NodeJS.Timeout | undefined;

  /** `script` makes the script for a mark; `seconds` are those of an answer; `end` is called when it ends by itself, or is given
   * up because there is none. */
  constructor(
    target: VarnishTarget,
    script: (mark: string) => string,
    seconds: number,
    end: (end: ShellEnd) => void,
  ) {
    this.mark = `end-${randomBytes(12).toString('hex')}`;
    this.seconds = seconds;
    this.end = end;
    this.shell = new FarShell(target, script(this.mark), {
      data: (data) => this.take(data),
      end: (how) => {
        this.finish();
        end(how);
      },
    });
  }

  /** Null when it was never answered. */
  ask(line: string): Promise<ToolAnswer | null> {
    if (this.over) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (this.waiting.length === 1) this.watch();
      this.shell.child.stdin.write(`${line}\n`);
    });
  }

  close(): void {
    this.shell.close();
    this.finish();
  }

  private watch(): void {
    clearTimeout(this.timer);
    if (this.waiting.length === 0) return;
    this.timer = setTimeout(() => {
      this.close();
      this.end({ code: 0, said: '', silent: this.seconds });
    }, this.seconds * 1000);
  }

  private finish(): void {
    this.over = true;
    clearTimeout(this.timer);
    for (const resolve of this.waiting.splice(0)) resolve(null);
  }

  private take(data: Buffer): void {
    this.pieces.push(data);
    this.size += data.length;
    if (this.size > MOST_BYTES) this.close();
    // The mark is the last that is written of an answer.
    if (data.at(-1) !== 0x0a) return;
    const text = Buffer.concat(this.pieces).toString();
    let from = 0;
    for (;;) {
      const at = text.indexOf(this.mark, from);
      const end = at < 0 ? -1 : text.indexOf('\n', at);
      if (end < 0) break;
      const code = Number(text.slice(at + this.mark.length, end)) || 0;
      this.waiting.shift()?.({ code, text: text.slice(from, at) });
      from = end + 1;
    }
    if (from === 0) return;
    this.watch();
    const rest = Buffer.from(text.slice(from));
    this.pieces = rest.length === 0 ? [] : [rest];
    this.size = rest.length;
  }
}
