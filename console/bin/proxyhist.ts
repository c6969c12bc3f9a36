#!/usr/bin/env node
// proxyhist: a histogram of response times or other numbers in the log, as a live view or once as text. With -1 it
// covers the log's present contents or a whole recording. Exit codes: 0; 1 for every failure; 130 after SIGINT. -B
// replays a recording at its own pace.

import type { LogTransaction } from '../../protocol/messages.ts';
import { PROXYHIST } from '../../protocol/tables/log-tools.ts';
import { guardTerminal } from '../format/terminal-text.ts';
import type { Profile } from '../histogram/profile.ts';
import { flushOut, writeOut } from '../process/standard-output.ts';
import { ArgumentError, type LogArguments } from './log-arguments.ts';
import { runLogTool, type ToolSink } from './log-tool.ts';

const own = { once: false, factor: 0, period: 1, profile: 'responsetime' };

function take(flag: string, value: string): ArgumentError | undefined {
  if (flag === '1') own.once = true;
  else if (flag === 'P') own.profile = value;
  else if (flag === 'p') {
    own.period = Number.parseFloat(value);
    if (!(own.period > 0)) return new ArgumentError(`-p: invalid '${value}'`);
  } else {
    own.factor = Number.parseFloat(value) || 0;
    const bend = '-B: being able to bend time does not mean we can';
    if (own.factor === 0) return new ArgumentError(`${bend} stop it (invalid factor '${value}')`);
    if (own.factor < 0) return new ArgumentError(`${bend} make it go backwards (invalid factor '${value}')`);
  }
  return;
}

function select(a: LogArguments, profile: Profile): void {
  if (profile.side === 'b') a.sub.backend = true;
  else a.sub.client = true;
  if (profile.side === 'E') a.sub.esi = true;
}

async function check(a: LogArguments): Promise<ArgumentError | null> {
  const { grouping } = a.sub;
  if (grouping !== 'vxid' && grouping !== 'request') {
    return new ArgumentError(`Invalid grouping mode: ${grouping} (only vxid and request are supported)`);
  }
  const profile = await readProfile();
  return typeof profile === 'string' ? new ArgumentError(profile) : null;
}

async function readProfile(): Promise<Profile | string> {
  const { parseProfile } = await import('../histogram/profile.ts');
  return parseProfile(own.profile);
}

async function open(a: LogArguments): Promise<ToolSink | ArgumentError> {
  const profile = await readProfile();
  if (typeof profile === 'string') throw new Error(`the profile was checked, yet: ${profile}`);
  select(a, profile);
  const { Histogram } = await import('../histogram/histogram.ts');
  const { histogramLines } = await import('../histogram/histogram-text.ts');
  const histogram = new Histogram(profile);
  const title = own.profile;
  if (own.once) {
    guardTerminal([process.stdout]);
    a.sub.from = 'head';
    a.sub.once = true;
    return {
      write(groups) {
        for (const group of groups) histogram.add(group);
        return true;
      },
      drain: (then) => then(),
      finish() {
        const lines = histogramLines(histogram, title, 24, process.stdout.columns ?? 80);
        writeOut(`${lines.join('\n')}\n`);
        return flushOut();
      },
    };
  }
  if (process.stdout.isTTY !== true)
    return new ArgumentError('proxyhist: the live view needs a terminal; use -1');
  const { PlainScreen } = await import('./plain-screen.ts');
  const screen = new PlainScreen();
  const draw = (): void => screen.draw(histogramLines(histogram, title, screen.rows, screen.columns));
  let timer = setInterval(draw, own.period * 1000);
  screen.onResize = draw;
  screen.onKey = (key) => {
    if (key === 'q' || key === 'Q' || key === '\x03') process.exit(0);
    if (/^[0-9]$/.test(key)) own.period = 2 ** Number(key);
    else if (key === '+') own.period /= 2;
    else if (key === '-') own.period *= 2;
    else if (key === '<') own.factor /= 2;
    else if (key === '>') own.factor *= 2;
    clearInterval(timer);
    timer = setInterval(draw, own.period * 1000);
    draw();
  };
  draw();
  const { Pacer } = await import('../histogram/pacer.ts');
  const pacer = new Pacer(
    (group: LogTransaction[]) => histogram.add(group),
    () => (a.input === undefined ? 0 : own.factor),
  );
  return {
    write: (groups) => pacer.push(groups),
    drain: (then) => pacer.drain(then),
    async finish() {
      await new Promise<void>((done) => pacer.drain(done));
      draw();
      // Keep the final screen of a recording.
      if (process.stdin.isTTY && a.sub.once !== true) await new Promise(() => {});
    },
  };
}

runLogTool({ row: PROXYHIST, own: { letters: '1BpP', take, check }, open }, process.argv.slice(2)).then(
  process.exit,
);
