// A shell that answers requests one after another over a single connection. An answer consists of the tool's output
// and its exit status.

import { randomBytes } from 'node:crypto';
import type { VarnishTarget } from '../client/varnish-target.ts';
import { FarShell, type ShellEnd } from './far-shell.ts';

export interface ToolAnswer {
  code: number;
  text: string;
}

/** Maximum bytes of an answer: no tool prints more. */
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
  /** Timeout of the current request. */
  private timer: NodeJS.Timeout | undefined;

  /** `script` makes the script for a mark; `seconds` is the timeout of an answer; `end` is called if the shell exits
   * by itself, or is closed after a timeout. */
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

  /** Null without an answer. */
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
      this.end({ code: 0, output: '', silent: this.seconds });
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
    // The mark is the last line of an answer.
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
