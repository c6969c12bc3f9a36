// Commands of the shell: `shell`, `err_shell`, and what `feature cmd` asks.

import { spawn } from 'node:child_process';
import type { Actor } from './actor.ts';
import { matches } from './comparison.ts';
import { readInteger, type Words } from './script.ts';

interface Outcome {
  /** Exit status; 0 with a signal. */
  readonly status: number;
  readonly signal: string | null;
  /** latin1. */
  readonly output: string;
}

/** Runs in the directory of the test; standard error is a part of the output. */
export async function runShell(actor: Actor, command: string): Promise<Outcome> {
  const { stage } = actor;
  actor.dump('shell_cmd', command);
  // Of newer scripts each command counts, not the last one alone.
  const text = `exec 2>&1 ; ${stage.dialect >= 9 ? 'set -e ; ' : ''}${command}`;
  const child = spawn('/bin/sh', ['-c', text], {
    cwd: stage.directory,
    env: stage.environment,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const parts: Buffer[] = [];
  child.stdout.on('data', (data: Buffer) => parts.push(data));
  try {
    const { status, signal } = await actor.until(
      new Promise<{ status: number; signal: string | null }>((resolve, reject) => {
        child.once('error', reject);
        let code: number | null = null;
        let killed: NodeJS.Signals | null = null;
        let waits = 2;
        const done = (): void => {
          if (--waits === 0) resolve({ status: code ?? 0, signal: killed });
        };
        // Its background processes may keep the output open.
        child.stdout.once('close', done);
        child.once('exit', (exit, by) => {
          code = exit;
          killed = by;
          done();
        });
      }),
    );
    const output = Buffer.concat(parts).toString('latin1');
    actor.dump('shell_out', output);
    actor.log(4, `shell_status = ${signal ?? status}`);
    return { status, signal, output };
  } finally {
    child.stdout.destroy();
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
  }
}

const cut = (text: string): string => text.trim().replaceAll(/\s+/g, ' ').slice(0, 200);

export async function shellCommand(actor: Actor, words: Words): Promise<void> {
  let wanted: number | null = 0;
  let text: string | null = null;
  let pattern: string | null = null;
  for (;;) {
    if (words.takeIf('-err')) wanted = null;
    else if (words.takeIf('-exit')) wanted = readInteger(words.take('status'));
    else if (words.takeIf('-expect')) text = words.take('text');
    else if (words.takeIf('-match')) pattern = words.take('pattern');
    else break;
  }
  const command = words.take('command');
  const { status, signal, output } = await runShell(actor, command);
  if (wanted === null && status === 0 && signal === null) actor.fail('shell did not fail as expected');
  if (wanted !== null && (status !== wanted || signal !== null))
    actor.fail(`shell exit ${signal ?? status}, wanted ${wanted}: ${cut(command)} / ${cut(output)}`);
  if (text !== null && !output.includes(text)) actor.fail(`shell output lacks "${text}": ${cut(output)}`);
  if (pattern !== null && !matches(actor, pattern, output))
    actor.fail(`shell output does not match /${pattern}/: ${cut(output)}`);
}

/** `err_shell TEXT COMMAND`, of older scripts. */
export async function failingShell(actor: Actor, words: Words): Promise<void> {
  const text = words.take('text');
  const { status, signal, output } = await runShell(actor, words.take('command'));
  if (status === 0 && signal === null) actor.fail('shell did not fail as expected');
  if (!output.includes(text)) actor.fail(`shell output lacks "${text}": ${cut(output)}`);
}
