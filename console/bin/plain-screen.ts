// A screen of plain lines that is redrawn as a whole, for tools with simple live views. It takes over the terminal
// when constructed and restores it at process exit, however that happens.

import { writeSync } from 'node:fs';
import { HUNG_UP, leave } from '../process/leave.ts';

const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';

export class PlainScreen {
  /** Called for each key, with its text. */
  onKey: (key: string) => void = () => {};
  /** Called when the size changes. */
  onResize: () => void = () => {};

  constructor() {
    writeSync(1, ENTER);
    process.on('exit', () => {
      if (process.stdin.isTTY) process.stdin.setRawMode(false);
      writeSync(1, LEAVE);
    });
    process.stdout.on('resize', () => this.onResize());
    if (!process.stdin.isTTY) return;
    process.stdin.setRawMode(true);
    process.stdin.setEncoding('latin1');
    process.stdin.on('data', (data) => this.onKey(String(data)));
    const lost = (): void => leave(HUNG_UP);
    process.stdin.on('error', lost);
    process.stdin.on('end', lost);
  }

  get rows(): number {
    return process.stdout.rows || 24;
  }

  get columns(): number {
    return process.stdout.columns || 80;
  }

  draw(lines: readonly string[]): void {
    const body = lines.slice(0, this.rows).map((line) => `${line.slice(0, this.columns)}\x1b[K`);
    process.stdout.write(`\x1b[H${body.join('\r\n')}\x1b[J`);
  }
}
