// `process`: a program on a terminal of its own, by script(1), with a virtual screen.

import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Terminal } from '@xterm/headless';
import { type Stage, Task } from './actor.ts';
import { Entity } from './entity.ts';
import { readHex, readInteger, type Words } from './script.ts';

const SIGNALS: Readonly<Record<string, number>> = { TERM: 15, INT: 2, KILL: 9, HUP: 1 };
/** Seconds until the terminal must show a text. */
const TEXT_SECONDS = 15;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export class ProcessEntity extends Entity {
  readonly #directory: string;
  readonly #out: string;
  readonly #err: string;
  #command = '';
  #child: ChildProcess | null = null;
  #task: Task | null = null;
  #pid = 0;
  #received = 0;
  #expectedExit = 0;
  #signal = 0;
  #shows = false;
  #lines = 24;
  #columns = 80;
  #screen: Terminal | null = null;

  constructor(stage: Stage, name: string) {
    super(stage, name);
    this.#directory = join(stage.directory, name);
    mkdirSync(this.#directory, { recursive: true });
    this.#out = join(this.#directory, 'term');
    this.#err = join(this.#directory, 'stderr');
    for (const file of [this.#out, this.#err]) writeFileSync(file, '');
  }

  async #start(): Promise<void> {
    if (this.#task !== null) this.fail('already running, -wait first');
    const command = this.stage.expand(this.#command);
    this.log(4, `CMD: ${command}`);
    const pidFile = join(this.#directory, 'pid');
    const inside = [
      `stty rows ${this.#lines} cols ${this.#columns} -echo`,
      `echo $$ >${quoted(`${pidFile}.new`)}; mv ${quoted(`${pidFile}.new`)} ${quoted(pidFile)}`,
      `exec /bin/sh -c ${quoted(command)} 2>>${quoted(this.#err)}`,
    ].join('; ');
    const child = spawn('script', ['-q', '-e', '-f', '-E', 'never', '-c', inside, '/dev/null'], {
      cwd: this.stage.directory,
      env: { ...this.stage.environment, TERM: 'xterm', SHELL: '/bin/sh' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#screen = new Terminal({ rows: this.#lines, cols: this.#columns, allowProposedApi: true });
    child.stdin?.on('error', () => undefined);
    child.stdout?.on('data', (data: Buffer) => {
      appendFileSync(this.#out, data);
      this.#received += data.length;
      this.#screen?.write(data);
      if (this.#shows) this.dump('stdout', data);
    });
    const exit = new Promise<number>((resolve) => {
      child.once('error', (cause) => {
        this.log(1, `script(1): ${cause.message}`);
        resolve(127);
      });
      let code = 0;
      let waits = 2;
      const done = (): void => {
        if (--waits === 0) resolve(code);
      };
      child.once('exit', (status) => {
        code = status ?? 255;
        done();
      });
      child.stdout?.once('close', done);
    });
    const isThere = await this.poll(() => existsSync(pidFile) || child.exitCode !== null, 10, 0.01);
    if (!isThere) this.fail('the process did not start');
    this.#pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'latin1')) : 0;
    for (const [name, value] of [
      ['pid', String(this.#pid)],
      ['dir', this.#directory],
      ['out', this.#out],
      ['err', this.#err],
    ] as const)
      this.define(name, value);
    this.#task = new Task(this, () => this.#ended(exit));
  }

  async #ended(exit: Promise<number>): Promise<void> {
    const code = await this.until(exit);
    this.#child = null;
    this.forget('pid');
    this.dump('stderr', readFileSync(this.#err));
    this.log(4, `exit ${code}`);
    // The exit code of a shell for a program that was ended by a signal.
    const isByOurSignal = this.#signal > 0 && code === 128 + this.#signal;
    if (!isByOurSignal && code !== this.#expectedExit)
      this.fail(`Bad exit status: ${code}, expected ${this.#expectedExit}`);
  }

  #kill(name: string): void {
    const number = SIGNALS[name] ?? (/^-\d+$/.test(name) ? Number(name.slice(1)) : 0);
    if (number === 0) this.fail(`could not grok signal (${name})`);
    if (this.#child === null || this.#pid === 0) this.fail('cannot signal a non-running process');
    if (this.#signal === 0) this.#signal = number;
    try {
      process.kill(this.#pid, number);
    } catch (cause) {
      this.fail(`failed to send signal ${number}: ${(cause as Error).message}`);
    }
  }

  #write(data: string | Buffer): void {
    if (this.#child === null) this.fail('cannot write to a non-running process');
    this.#child.stdin?.write(typeof data === 'string' ? Buffer.from(data, 'latin1') : data);
  }

  #rows(): string[] {
    const buffer = this.#screen?.buffer.active;
    return Array.from(
      { length: this.#lines },
      (_, i) => buffer?.getLine((buffer?.baseY ?? 0) + i)?.translateToString(true) ?? '',
    );
  }

  async #expectText(line: number, column: number, text: string): Promise<void> {
    const isShown = await this.poll(
      () =>
        this.#rows().some(
          (row, i) =>
            (line === 0 || line === i + 1) &&
            (column === 0 ? row.includes(text) : row.startsWith(text, column - 1)),
        ),
      TEXT_SECONDS,
    );
    if (!isShown) {
      this.#dumpScreen();
      this.fail(`expected text at ${line},${column} not seen: ${text}`);
    }
  }

  #dumpScreen(): void {
    this.dump('screen', this.#rows().join('\n'));
  }

  async #needBytes(text: string, before: number): Promise<void> {
    const wanted = readInteger(text.replace(/^\+/, ''), 10) + (text.startsWith('+') ? before : 0);
    if (!(await this.poll(() => this.#received >= wanted, this.stage.seconds)))
      this.fail(`${this.#received} bytes received, ${wanted} needed`);
  }

  async #wait(): Promise<void> {
    await this.#task?.done;
    this.#task = null;
  }

  async command(words: Words): Promise<void> {
    const before = this.#received;
    while (!words.isDone) {
      if (!words.peek()?.startsWith('-')) {
        this.#command = words.take('command');
        continue;
      }
      const option = words.take('option');
      switch (option) {
        case '-log':
        case '-dump':
        case '-hexdump':
          this.#shows = true;
          break;
        case '-allow-core':
          break;
        case '-start':
          await this.#start();
          break;
        case '-run':
          await this.#start();
          await this.#wait();
          break;
        case '-wait':
          await this.#wait();
          break;
        case '-stop':
          this.#kill('TERM');
          await this.sleep(1);
          break;
        case '-close':
          this.#kill('HUP');
          break;
        case '-kill':
          this.#kill(words.take('signal'));
          break;
        case '-expect-exit':
          this.#expectedExit = readInteger(words.take('status'));
          break;
        case '-expect-signal':
          this.#signal = Math.abs(Number(words.take('signal')));
          break;
        case '-write':
          this.#write(words.take('text'));
          break;
        case '-writeln':
          this.#write(`${words.take('text')}\n`);
          break;
        case '-writehex':
          this.#write(readHex(words.take('bytes')));
          break;
        case '-need-bytes':
          await this.#needBytes(words.take('number'), before);
          break;
        case '-expect-text': {
          const [line, column] = [readInteger(words.take('line')), readInteger(words.take('column'))];
          await this.#expectText(line, column, words.take('text'));
          break;
        }
        case '-winsz':
          this.#lines = readInteger(words.take('lines'));
          this.#columns = readInteger(words.take('columns'));
          if (this.#child !== null)
            this.fail('-winsz before -start: the size of a running terminal cannot be changed here');
          break;
        case '-screen_dump':
        case '-screen-dump':
          this.#dumpScreen();
          break;
        default:
          this.fail(`Unknown process argument: ${option}`);
      }
    }
  }

  async end(): Promise<void> {
    if (this.#child !== null && this.#pid > 0)
      try {
        process.kill(this.#pid, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    this.#child?.kill('SIGKILL');
    await this.#task?.cancel();
  }
}
