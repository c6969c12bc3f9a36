// `logexpect`: reads the log of a daemon by its public tool and holds it against expectations.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { compileRegex, RegexError } from '../../queries/regex/bounded-regex.ts';
import { type Commands, type Stage, Task } from './actor.ts';
import { Entity } from './entity.ts';
import { runSpec } from './interpreter.ts';
import { type Expectation, LogMatcher, type Pattern, type Skip } from './log-expectations.ts';
import { beginsGroup, type LogLine, LogText } from './log-records.ts';
import type { Product } from './product.ts';
import { readInteger, type Words } from './script.ts';

/** Milliseconds after the last line in which its record may still grow. */
const QUIET = 50;
const ATTACH_SECONDS = 10;
const MOST_OUTPUT = 256 * 1024 * 1024;

export interface LogSource {
  readonly product: Product;
  readonly directory: string;
}

export class LogExpect extends Entity {
  readonly #source: LogSource;
  /** The end of the script: what is outstanding will not come. */
  readonly #isOver: () => boolean;
  #fromHead = false;
  #grouping = 'vxid';
  #query: string | null = null;
  #isInverted = false;
  #options: string[] = [];
  #list: Expectation[] = [];
  #task: Task | null = null;
  #child: ChildProcess | null = null;
  #runs = 0;

  constructor(stage: Stage, name: string, source: LogSource, isOver: () => boolean) {
    super(stage, name);
    this.#source = source;
    this.#isOver = isOver;
  }

  addExpectation(expectation: Expectation): void {
    this.#list.push(expectation);
  }

  /** Groups cut short are known by a record, which is asked for where tags are chosen. */
  get #asksForCuts(): boolean {
    return this.#options.includes('-i') || this.#options.includes('-I');
  }

  #arguments(): { program: string; args: string[] } {
    const { program, args } = this.#source.product.log(this.#source.directory);
    const query = this.#query === null ? [] : ['-q', this.#query];
    const own = [
      '-v',
      '-g',
      this.#grouping,
      ...query,
      ...this.#options,
      ...(this.#asksForCuts ? ['-i', 'VSL'] : []),
    ];
    // Arguments are bytes of the script.
    return { program, args: [...args, ...own.map((arg) => Buffer.from(arg, 'latin1').toString('utf8'))] };
  }

  async start(): Promise<void> {
    this.#runs++;
    const matcher = new LogMatcher([...this.#list], (text) => this.log(4, text));
    if (this.#fromHead) {
      this.#task = new Task(this, () => this.#fromBeginning());
      return;
    }
    const pidFile = join(this.stage.directory, `_${this.who}.${this.#runs}.pid`);
    const { program, args } = this.#arguments();
    const child = spawn(program, [...args, '-P', pidFile], {
      env: this.stage.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    let complaint = '';
    child.stderr?.on('data', (data: Buffer) => {
      complaint += data.toString('latin1');
    });
    child.on('error', (cause) => {
      complaint = cause.message;
    });
    // Attached, it writes its process id; Varnish's tool does so before it is at the end of the log.
    const isReady = await this.poll(
      () => (existsSync(pidFile) && statSync(pidFile).size > 0) || child.exitCode !== null,
      ATTACH_SECONDS,
      0.01,
    );
    if (!isReady || child.exitCode !== null) this.fail(`the log reader ended: ${complaint.trim()}`);
    if (this.#source.product.name === 'varnish') await this.sleep(0.3);
    this.#task = new Task(this, () => this.#follow(child, matcher, () => complaint));
  }

  /** True when it is over. */
  #verdict(matcher: LogMatcher): boolean {
    if (matcher.result === null) return false;
    if (matcher.result) {
      if (this.#isInverted) this.fail('expectations were met, failure expected');
      this.log(4, 'done |');
    } else {
      if (!this.#isInverted) this.fail(`expectation failed: ${matcher.why}`);
      this.log(4, 'done | failed as expected');
    }
    return true;
  }

  async #follow(child: ChildProcess, matcher: LogMatcher, complaint: () => string): Promise<void> {
    const text = new LogText();
    let rest = '';
    let lines: string[] = [];
    let hasEnded = false;
    let wake: () => void = () => undefined;
    child.stdout?.on('data', (data: Buffer) => {
      const all = (rest + data.toString('latin1')).split('\n');
      rest = all.pop() as string;
      lines.push(...all);
      wake();
    });
    child.once('exit', () => {
      hasEnded = true;
      wake();
    });
    try {
      while (!this.#verdict(matcher)) {
        if (this.#isOver()) this.fail(`outstanding expectations: <${matcher.outstanding}>`);
        if (lines.length === 0) {
          if (hasEnded) this.fail(`the log reader ended: ${complaint().trim()}`);
          await this.until(
            new Promise<void>((resolve) => {
              wake = resolve;
              setTimeout(resolve, QUIET);
            }),
          );
        }
        const taken = lines;
        lines = [];
        const records = taken.flatMap((line) => text.line(line));
        if (taken.length === 0) records.push(...text.finish());
        for (const record of this.#shown(records)) matcher.take(record);
      }
    } finally {
      this.#endChild();
    }
  }

  /** Reads the log from its beginning until the expectations are met. */
  async #fromBeginning(): Promise<void> {
    for (;;) {
      const notes: string[] = [];
      const matcher = new LogMatcher([...this.#list], (note) => notes.push(note));
      const { program, args } = this.#arguments();
      const out = await this.until(
        new Promise<string>((resolve, reject) =>
          execFile(
            program,
            [...args, '-d'],
            { encoding: 'latin1', maxBuffer: MOST_OUTPUT, env: this.stage.environment },
            (cause, stdout, stderr) =>
              cause === null
                ? resolve(stdout)
                : reject(new Error(`log reader failed: ${stderr.trim() || cause.message}`)),
          ),
        ),
      );
      for (const record of this.#wholeGroups(out)) matcher.take(record);
      const isLast = matcher.result !== null || this.#isOver();
      if (isLast) for (const note of notes.slice(-60)) this.log(4, note);
      if (this.#verdict(matcher)) return;
      if (isLast) this.fail(`outstanding expectations: <${matcher.outstanding}>`);
      await this.sleep(0.1);
    }
  }

  /** Records up to the first group that the end of the log has cut short. */
  #wholeGroups(out: string): LogLine[] {
    const text = new LogText();
    const whole: LogLine[] = [];
    let group: LogLine[] = [];
    const take = (): boolean => {
      const isCut = group.some(({ tag, text: said }) => tag === 'VSL' && said === 'flush');
      if (!isCut) whole.push(...this.#shown(group));
      group = [];
      return !isCut;
    };
    for (const line of out.split('\n')) {
      const isNew = beginsGroup(line);
      group.push(...text.line(line));
      if ((isNew || this.#grouping === 'raw') && !take()) return whole;
    }
    group.push(...text.finish());
    take();
    return whole;
  }

  #shown(records: readonly LogLine[]): readonly LogLine[] {
    return this.#asksForCuts ? records.filter(({ tag }) => tag !== 'VSL') : records;
  }

  #endChild(): void {
    this.#child?.kill('SIGTERM');
    this.#child = null;
  }

  async wait(): Promise<void> {
    await this.#task?.done;
    this.#task = null;
  }

  async end(isGood: boolean): Promise<void> {
    if (isGood) await this.wait();
    await this.#task?.cancel();
    this.#endChild();
  }

  async command(words: Words): Promise<void> {
    while (!words.isDone) {
      if (words.takeIf('-wait')) {
        if (this.#task === null) this.fail('logexpect not -started');
        await this.wait();
        continue;
      }
      await this.wait();
      const option = words.peek() as string;
      if (!option.startsWith('-')) {
        this.#list = [];
        await runSpec(this, words.takeSpec('expectations'), LOG_COMMANDS);
        continue;
      }
      words.take('option');
      switch (option) {
        case '-v':
          words.take('daemon');
          break;
        case '-d':
          this.#fromHead = readInteger(words.take('0 or 1')) !== 0;
          break;
        case '-g':
          this.#grouping = words.take('grouping');
          break;
        case '-q':
          this.#query = words.take('query');
          break;
        case '-m':
          break;
        case '-err':
          this.#isInverted = !this.#isInverted;
          break;
        case '-start':
          await this.start();
          break;
        case '-run':
          await this.start();
          await this.wait();
          break;
        case '-C':
        case '-b':
        case '-c':
        case '-E':
          this.#options.push(option);
          break;
        default:
          this.#options.push(option, words.take(`value of ${option}`));
      }
    }
  }
}

function pattern(actor: LogExpect, words: Words): Pattern {
  const shown = words.all.join(' ');
  const vxid = words.take('vxid');
  const tag = words.take('tag');
  if (words.left > 1) actor.fail(`syntax error in ${shown}`);
  if (!/^(?:[*=]|\d+)$/.test(vxid)) actor.fail(`not a positive integer: ${vxid}`);
  let text: Pattern['text'] = null;
  if (!words.isDone) {
    const source = words.take('pattern');
    try {
      text = compileRegex(source);
    } catch (cause) {
      if (cause instanceof RegexError) actor.fail(`regex error (${cause.message}): ${source}`);
      throw cause;
    }
  }
  return {
    shown,
    vxid: vxid === '*' ? 'any' : vxid === '=' ? 'last' : Number(vxid),
    tag: tag === '*' ? 'any' : tag === '=' ? 'last' : tag,
    text,
  };
}

const LOG_COMMANDS: Commands<LogExpect> = {
  expect(actor, words) {
    const given = words.take('skip');
    if (!/^(?:[*?]|\d+)$/.test(given)) actor.fail(`not a positive integer: ${given}`);
    const skip: Skip = given === '*' ? 'any' : given === '?' ? 'alternative' : Number(given);
    actor.addExpectation({ kind: 'expect', skip, pattern: pattern(actor, words) });
  },
  fail(actor, words) {
    const what = words.take('add or clear');
    if (what === 'add') actor.addExpectation({ kind: 'fail', pattern: pattern(actor, words) });
    else if (what === 'clear')
      actor.addExpectation({
        kind: 'clear',
        pattern: { shown: 'fail clear', vxid: 'any', tag: 'any', text: null },
      });
    else actor.fail(`unknown fail argument: ${what}`);
  },
  abort: (actor) => actor.fail('abort in a logexpect'),
};
