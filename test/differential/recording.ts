// Varnish's answers, kept in the files of recorded/. PROXYD_PEERS selects the mode: `replay` (the default) reads them
// without Varnish; `live` plays on both, and also fails if Varnish no longer answers as recorded; `record` plays on
// Varnish alone and writes them. Ours is not judged here. The difficult case is a recording that no longer matches
// its test: each answer has a hash of its input, and one that is missing, of another input or no longer true fails
// the test with a message.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { beforeEach, expect } from 'vitest';
import { findProgram } from '../harness/processes.ts';
import { type Entry, readRecording, recordingText, type Told } from './recording-text.ts';

export type { Told } from './recording-text.ts';

const MODES = ['replay', 'live', 'record'] as const;
export type Mode = (typeof MODES)[number];

function modeOf(output: string): Mode {
  const mode = MODES.find((each) => each === output);
  if (mode === undefined) throw new Error(`PROXYD_PEERS is ${output}, which is none of ${MODES.join(', ')}`);
  return mode;
}

export const MODE = modeOf(process.env.PROXYD_PEERS || 'replay');

/** Answers by case. */
export type Answers<T extends Told> = ReadonlyMap<string, T>;
/** By case: everything that its answer depends on. */
export type Inputs = ReadonlyMap<string, string>;

/** Varnish's answer to each case. */
export interface Reference<T extends Told> {
  /** Throws an error with the reason if the recording cannot be trusted. */
  get(key: string): T;
  values(): T[];
}

let version = '';

function installedVersion(): string {
  if (version !== '') return version;
  const path = findProgram('varnishd');
  if (path === null) throw new Error(`PROXYD_PEERS=${MODE} plays on Varnish, and varnishd is not installed`);
  const output = spawnSync(path, ['-V'], { encoding: 'utf8' });
  version = /varnish-\S+/.exec(`${output.stderr}${output.stdout}`)?.[0] ?? 'a Varnish without a version';
  return version;
}

function hash(input: string): string {
  return createHash('sha256').update(input).digest('hex').slice(0, 8);
}

export class Recording {
  readonly #name: string;
  readonly #file: URL;

  constructor(name: string) {
    this.#name = name;
    this.#file = new URL(`recorded/${name}.txt`, import.meta.url);
  }

  /** The answers to these inputs: from `play`, or without it from the recording. */
  async reference<T extends Told>(inputs: Inputs, play: () => Promise<Answers<T>>): Promise<Reference<T>> {
    return this.settle(inputs, MODE === 'replay' ? null : await play());
  }

  /** Both sides at the same time; nothing of ours while Varnish is recorded. */
  async both<T extends Told>(
    inputs: Inputs,
    play: (product: 'varnish' | 'proxyd') => Promise<Answers<T>>,
    how: 'together' | 'in turn' = 'together',
  ): Promise<[Reference<T>, Answers<T>]> {
    const ours = (): Promise<Answers<T>> => (MODE === 'record' ? Promise.resolve(new Map()) : play('proxyd'));
    const theirs = (): Promise<Reference<T>> => this.reference(inputs, () => play('varnish'));
    if (how === 'together') return Promise.all([theirs(), ours()]);
    return [await theirs(), await ours()];
  }

  /** @param played Varnish's answers just now, or null for the recorded ones */
  settle<T extends Told>(inputs: Inputs, played: Answers<T> | null): Reference<T> {
    if (MODE === 'record') this.#write(inputs, played ?? new Map());
    const kept = existsSync(this.#file) ? readRecording(readFileSync(this.#file, 'utf8')) : null;
    const get = (key: string): T => {
      const input = inputs.get(key);
      if (input === undefined) throw new Error(`no case of ${this.#name} is called ${JSON.stringify(key)}`);
      const test = basename(expect.getState().testPath ?? 'test', '.test.ts');
      const again = `record it with: npm run test:record -- ${test}.test`;
      const entry = kept?.entries.get(key);
      if (entry === undefined) {
        throw new Error(
          `recorded/${this.#name}.txt has no answer of Varnish to ${JSON.stringify(key)}; ${again}`,
        );
      }
      if (entry.input !== hash(input)) {
        throw new Error(
          `${JSON.stringify(key)} has changed since recorded/${this.#name}.txt was made; ${again}`,
        );
      }
      if (played === null) return entry.reported as T;
      const now = played.get(key);
      const stale = `the recording is stale: ${installedVersion()} no longer answers what recorded/${this.#name}.txt says (${kept?.head}); ${again}`;
      expect(now, stale).toEqual(entry.reported);
      return now as T;
    };
    return { get, values: () => [...inputs.keys()].map(get) };
  }

  #write(inputs: Inputs, played: Answers<Told>): void {
    const entries = new Map<string, Entry>();
    for (const [key, input] of inputs) {
      const reported = played.get(key);
      if (reported === undefined)
        throw new Error(`Varnish was not asked ${JSON.stringify(key)} of ${this.#name}`);
      entries.set(key, { input: hash(input), reported });
    }
    mkdirSync(dirname(this.#file.pathname), { recursive: true });
    writeFileSync(this.#file, recordingText(`answers of ${installedVersion()}`, entries));
  }
}

/** The recording of a test file, or of a part of it. While Varnish is recorded no test of the file runs, only what
 * comes before all of them.
 * @param release of Varnish that it is played on: the one found in PATH must be it (other-releases.sh unpacks some) */
export function recording(name: string, release = '7.1'): Recording {
  if (MODE === 'record') beforeEach(({ skip }) => skip('Varnish is recorded'));
  if (MODE !== 'replay' && !installedVersion().startsWith(`varnish-${release}.`)) {
    throw new Error(
      `${name} is compared with Varnish ${release}, and the one in PATH is ${installedVersion()}`,
    );
  }
  return new Recording(name);
}

/** Inputs of cases that differ in their keys alone, under what all of them share. */
export function inputsOf(shared: string, keys: Iterable<string>): Map<string, string> {
  return new Map([...keys].map((key) => [key, `${shared}\n${key}`]));
}

/** The work of each item, several at a time, each worker with a number of its own. */
export async function inPool<T, R>(
  items: readonly T[],
  workers: number,
  work: (item: T, worker: number) => Promise<R>,
): Promise<R[]> {
  const done: R[] = [];
  let next = 0;
  const worker = async (number: number): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) done[at] = await work(items[at] as T, number);
  };
  await Promise.all(Array.from({ length: workers }, (_, number) => worker(number)));
  return done;
}
