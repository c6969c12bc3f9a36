// Plays one script from its first line to the end of all that it has started.

import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { Actor, SCRIPT, Task } from './actor.ts';
import { DaemonEntity } from './daemon.ts';
import type { Entity } from './entity.ts';
import { runSpec } from './interpreter.ts';
import type { Product } from './product.ts';
import { addressText, freePort } from './socket-addresses.ts';
import { type Failure, TestCase } from './test-case.ts';
import { everybodysCommands, topCommands } from './top-commands.ts';

export interface CaseOptions {
  readonly product: Product;
  readonly seconds: number;
  readonly dialect: 7 | 9;
  /** -D, by their names. */
  readonly macros: ReadonlyMap<string, string>;
  /** -p, as NAME=VALUE. */
  readonly parameters: readonly string[];
  /** Where directories of tests are made. */
  readonly temporary: string;
  /** Ends all tests; its reason is the name of the process' signal. */
  readonly interrupted: AbortSignal;
}

export interface Outcome {
  readonly verdict: 'passed' | 'failed' | 'skipped';
  readonly failure: Failure | null;
  readonly reason: string;
  readonly seconds: number;
  readonly log: string;
  readonly directory: string;
}

/** Commands of the field by their names, for the shell: they run those of this product. */
function makeCommands(product: Product, directory: string): string {
  const bin = join(directory, '_bin');
  mkdirSync(bin, { mode: 0o755 });
  for (const [name, { program, args }] of Object.entries(product.commands)) {
    const words = [program, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
  }
  return bin;
}

/** Actors before those that they talk to: what they wait for is still there. */
const ENDS = ['b', 'c', 'l', 'p', 's', 't', 'S', 'v'];

async function endAll(test: TestCase): Promise<void> {
  test.isOver = true;
  const byKind = (kind: string): Entity[] =>
    [...test.entities].filter(([key]) => key.startsWith(`${kind}:`)).map(([, entity]) => entity);
  for (const kind of ENDS)
    for (const entity of byKind(kind)) await new Task(entity, () => entity.end(test.isGood)).done;
}

/** Prints the log of the daemons and the line that failed. */
async function showTransactions(test: TestCase): Promise<void> {
  const { failure } = test;
  const place = failure?.place ?? null;
  if (place !== null) test.log.add(failure?.who ?? 'top', 0, `at ${place.file}:${place.line}`);
  for (const entity of test.entities.values())
    if (entity instanceof DaemonEntity && entity.isRunning) {
      const text = await entity.transactions();
      if (text !== '') test.log.dump(entity.who, 4, 'log', text);
    }
}

async function play(test: TestCase, file: string, options: CaseOptions): Promise<void> {
  const top = new Actor(test, SCRIPT);
  const text = readFileSync(file, 'latin1');
  const commands = topCommands(test, options.product, options.parameters);
  let timer: NodeJS.Timeout | undefined;
  const script = new Task(top, () => runSpec(top, { text, file, line: 1 }, commands));
  const tooLong = new Promise<void>((done) => {
    timer = setTimeout(() => {
      test.failed('top', `TIMED OUT after ${options.seconds} s`, top.place);
      done();
    }, options.seconds * 1000);
  });
  const { interrupted: signal } = options;
  let interrupt = (): void => undefined;
  const interrupted = new Promise<void>((done) => {
    interrupt = () => {
      test.failed('top', `ended by ${signal.reason}`, top.place);
      done();
    };
  });
  signal.addEventListener('abort', interrupt);
  await Promise.race([script.done, tooLong, interrupted]);
  await script.done;
  if (test.failure !== null) await showTransactions(test);
  // Ending may hang, too.
  const ended = endAll(test);
  await Promise.race([ended, tooLong]);
  await ended;
  clearTimeout(timer);
  signal.removeEventListener('abort', interrupt);
}

export async function runCase(file: string, number: number, options: CaseOptions): Promise<Outcome> {
  const { product, seconds, dialect, macros, temporary } = options;
  const directory = join(
    temporary,
    `vtc.${process.pid}.${number}.${Math.random().toString(16).slice(2, 10)}`,
  );
  mkdirSync(directory, { mode: 0o755 });
  chmodSync(directory, 0o755);
  const bin = makeCommands(product, directory);
  const environment = {
    ...(process.env as Record<string, string>),
    PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`,
    TMPDIR: directory,
    PWD: process.cwd(),
    ...(dialect >= 9 ? { VARNISH_DEFAULT_N: join(directory, 'default_n') } : {}),
  };
  const test = new TestCase({
    directory,
    seconds,
    dialect,
    environment,
    everybody: everybodysCommands,
    release: () => product.release(),
  });
  const own: Record<string, string> = {
    pwd: process.cwd(),
    testdir: dirname(resolve(file)),
    tmpdir: directory,
    localhost: '127.0.0.1',
    listen_addr: '127.0.0.1:0',
    bad_ip: '192.0.2.255',
    // Of a range that outgoing connections do not take, and given to nobody else.
    bad_backend: addressText('127.0.0.1', await freePort('127.0.0.1')),
    vtcid: directory.slice(directory.lastIndexOf('/') + 1),
  };
  for (const [name, value] of [...Object.entries(own), ...macros]) {
    test.macros.define(name, value);
    test.log.add('top', 4, `macro def ${name}=${value}`);
  }
  test.log.add('top', 1, `TEST ${file} starting`);
  try {
    await play(test, file, options);
  } catch (cause) {
    test.failed('top', (cause as Error).message, null);
  }
  return outcome(test);
}

function outcome(test: TestCase): Outcome {
  const { failure, skipReason, log, directory } = test;
  const verdict =
    skipReason !== null && failure === null ? 'skipped' : failure === null ? 'passed' : 'failed';
  return { verdict, failure, reason: skipReason ?? '', seconds: log.seconds, log: log.text, directory };
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}
