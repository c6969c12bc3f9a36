// Runs many scripts, several at a time, and reports as varnishtest does.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CaseOptions, type Outcome, removeDirectory, runCase } from './run-case.ts';

export interface RunOptions extends CaseOptions {
  readonly files: readonly string[];
  /** -n */
  readonly rounds: number;
  /** -j */
  readonly jobs: number;
  /** -k: runs the remaining scripts after a failure. */
  readonly keepsGoing: boolean;
  readonly isQuiet: boolean;
  readonly isVerbose: boolean;
  /** Directories to keep: those of failed tests (-l), all (-L). */
  readonly leaves: 'none' | 'failed' | 'all';
}

/** As varnishtest's exit codes. */
const FAILED = 2;
const SKIPPED = 77;

export interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

function report(file: string, outcome: Outcome, options: RunOptions, write: (text: string) => void): void {
  const { verdict, seconds, log, reason, failure } = outcome;
  const time = `(${seconds.toFixed(3)})`;
  if (verdict === 'failed' || options.isVerbose) write(log);
  if (verdict === 'failed') {
    const place =
      failure?.place === null || failure === null ? '' : `${failure.place.file}:${failure.place.line}: `;
    write(
      `*    top   TEST ${file} FAILED: ${place}${failure?.who}: ${failure?.message.replaceAll(/\s+/g, ' ')}\n`,
    );
    write(`#    top  TEST ${file} FAILED ${time} exit=${FAILED}\n`);
  } else if (verdict === 'skipped') {
    if (!options.isQuiet) write(`#    top  TEST ${file} skipped ${time}: ${reason}\n`);
  } else if (!options.isQuiet) write(`#    top  TEST ${file} passed ${time}\n`);
}

function leave(outcome: Outcome, options: RunOptions): void {
  const { directory, verdict, log } = outcome;
  const stays = options.leaves === 'all' || (options.leaves === 'failed' && verdict === 'failed');
  if (stays && existsSync(directory)) writeFileSync(join(directory, 'LOG'), log, 'latin1');
  else removeDirectory(directory);
}

/**
 * @param write of standard output
 * @returns the exit code: 0, 2 when a test has failed, 77 when all were skipped
 */
export async function runAll(options: RunOptions, write: (text: string) => void): Promise<number> {
  const totals: Totals = { passed: 0, failed: 0, skipped: 0 };
  const queue = Array.from({ length: options.rounds }, () => options.files).flat();
  let number = 0;
  options.interrupted.addEventListener('abort', () => {
    queue.length = 0;
  });
  const worker = async (): Promise<void> => {
    while (queue.length > 0 && (options.keepsGoing || totals.failed === 0)) {
      const file = queue.shift() as string;
      const outcome = await runCase(file, ++number, options);
      totals[outcome.verdict]++;
      report(file, outcome, options, write);
      leave(outcome, options);
    }
  };
  await Promise.all(Array.from({ length: options.jobs }, worker));
  const { passed, failed, skipped } = totals;
  if (passed + failed + skipped > 1 && !options.isQuiet)
    write(`#    top  ${failed} failed, ${skipped} skipped, ${passed} passed\n`);
  return failed > 0 ? FAILED : passed === 0 && skipped > 0 ? SKIPPED : 0;
}
