#!/usr/bin/env node
// proxytop: the most frequent log records, once as text or as a live view. Exit codes: 0; 1 for every failure; 130
// after SIGINT. -1 covers the log's present contents; the live view's counts cover the period of -p.

import type { LogTransaction } from '../../protocol/messages.ts';
import { PROXYTOP } from '../../protocol/tables/log-tools.ts';
import { guardTerminal } from '../format/terminal-text.ts';
import { flushOut, writeOut } from '../process/standard-output.ts';
import { ArgumentError, type LogArguments } from './log-arguments.ts';
import { runLogTool, type ToolSink } from './log-tool.ts';

const own = { once: false, firstField: false, period: 60, head: false };

function take(flag: string, value: string): ArgumentError | undefined {
  if (flag === '1') own.once = true;
  else if (flag === 'f') own.firstField = true;
  else if (flag === 'd') own.head = true;
  else if (/^\s*[+-]?\d+$/.test(value)) own.period = Number(value);
  else {
    // Without a newline, as varnishtop.
    process.stderr.write(`Syntax error, ${value} is not a number`);
    process.exit(1);
  }
  return;
}

async function open(a: LogArguments): Promise<ToolSink | ArgumentError> {
  const { Ranking } = await import('../ranking/ranking.ts');
  const { rankingScreen, rankingText } = await import('../ranking/ranking-text.ts');
  const ranking = new Ranking(own.firstField);
  const write = (groups: readonly LogTransaction[][]): boolean => {
    ranking.add(groups);
    return true;
  };
  if (own.once || own.head) a.sub.from = 'head';
  if (own.once) {
    guardTerminal([process.stdout]);
    a.sub.once = true;
    return {
      write,
      drain: (then) => then(),
      finish() {
        writeOut(Buffer.from(rankingText(ranking.sorted()), 'latin1'));
        return flushOut();
      },
    };
  }
  if (process.stdout.isTTY !== true)
    return new ArgumentError('proxytop: the live view needs a terminal; use -1');
  const { PlainScreen } = await import('./plain-screen.ts');
  const screen = new PlainScreen();
  let title = a.dir ?? a.input ?? '';
  let paused = false;
  const draw = (): void => {
    if (!paused) screen.draw(rankingScreen(ranking.sorted(), title, screen.rows, screen.columns));
  };
  screen.onResize = draw;
  screen.onKey = (key) => {
    if (key === 'q' || key === 'Q' || key === '\x03') process.exit(0);
    if (key === ' ') paused = !paused;
    draw();
  };
  draw();
  const timer = setInterval(() => {
    draw();
    ranking.fade(own.period, screen.rows);
  }, 1000);
  return {
    write,
    drain: (then) => then(),
    finish() {
      // Keep the final screen of a recording.
      clearInterval(timer);
      title = `${title} (EOF)`;
      draw();
      return process.stdin.isTTY ? new Promise(() => {}) : Promise.resolve();
    },
  };
}

runLogTool({ row: PROXYTOP, own: { letters: '1fdp', take }, open }, process.argv.slice(2)).then(process.exit);
