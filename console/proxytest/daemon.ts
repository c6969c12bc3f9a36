// `varnish`: a daemon under test, whichever product it is.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stage } from './actor.ts';
import { daemonArguments, type ListenAddress, withoutDebugging } from './daemon-arguments.ts';
import { Entity } from './entity.ts';
import type { Answer, Control, Product } from './product.ts';

const OK = 200;
/** Characters of one command: a longer program goes through a file. */
const LONGEST_LINE = 120 * 1024;
const END_SECONDS = 20;

/** Of the log that is shown after a failure: groups, and how long and how much is read. */
const GROUPS = 6;
const LOG_MS = 10_000;
const MOST_LOG = 64 * 1024 * 1024;

function lastGroups(log: string): string {
  const groups = log.split(/\n\n+(?=\*)/);
  return groups.slice(-GROUPS).join('\n\n').trimEnd();
}

export class DaemonEntity extends Entity {
  readonly product: Product;
  readonly directory: string;
  /** Arguments of -arg, and those that the whole run gives. */
  readonly args: string[] = [];
  jail = '';
  protocol: string | null = null;
  expectedExit = 0;
  /** Of `vcl X.Y;` in front of programs. */
  syntax = '4.1';
  readonly #everywhere: readonly string[];
  #child: ChildProcess | null = null;
  #exit: Promise<number> = Promise.resolve(0);
  #control: Control | null = null;
  #listens: ListenAddress[] = [];
  #output: string[] = [];
  #programs = 0;

  /** @param everywhere -p of the whole run */
  constructor(stage: Stage, name: string, product: Product, everywhere: readonly string[]) {
    super(stage, name);
    this.product = product;
    this.#everywhere = everywhere;
    this.directory = join(stage.directory, name);
    mkdirSync(this.directory, { recursive: true });
    chmodSync(this.directory, 0o755);
  }

  get isRunning(): boolean {
    return this.#child !== null;
  }

  async launch(): Promise<void> {
    if (this.#child !== null) return;
    const extra = [this.jail, ...this.args];
    const { args: own, listens } = await daemonArguments(extra, this.protocol);
    this.#listens = listens;
    const { program, args } = this.product.daemon(this.directory, this.stage.dialect >= 9 ? this.who : null);
    const every = this.#everywhere.flatMap((each) => ['-p', each]);
    const all = [...args, ...every, ...(this.product.hasDebugging ? own : withoutDebugging(own))];
    this.log(2, `Launch: ${[program, ...all].join(' ')}`);
    const child = spawn(program, all, {
      cwd: this.stage.environment.PWD,
      env: this.stage.environment,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#output = [];
    child.stdin?.on('error', () => undefined);
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data: Buffer) => this.#printed(data));
    this.#exit = new Promise((resolve) => {
      child.once('error', (cause) => {
        this.#output.push(cause.message);
        resolve(-1);
      });
      child.once('exit', (code, signal) => resolve(code ?? (signal === null ? -1 : 128)));
    });
    this.define('pid', String(child.pid ?? 0));
    this.define('name', this.directory);
    await this.#contact();
  }

  #printed(data: Buffer): void {
    for (const line of data.toString('latin1').replace(/\n$/, '').split('\n')) {
      this.#output.push(line);
      this.log(3, `debug|${line}`);
    }
  }

  async #contact(): Promise<void> {
    let ended: number | null = null;
    void this.#exit.then((code) => {
      ended = code;
    });
    const isThere = await this.poll(
      async () => {
        if (ended !== null) return true;
        try {
          this.#control = await this.product.control(this.directory);
        } catch {
          return false;
        }
        return (await this.#control.ask('ping')).status === OK;
      },
      this.stage.seconds / 3,
      0.03,
    );
    if (ended !== null) {
      this.#child = null;
      // Varnish and proxyd say other things before the reason.
      const reason = this.#output.filter((line) => !/^(?:Warning|Info|Debug): /.test(line)).slice(-4);
      this.fail(`daemon exited during launch, status ${ended}: ${reason.join(' ')}`);
    }
    if (!isThere) this.fail('timeout waiting for the CLI');
  }

  async #ask(line: string): Promise<Answer> {
    this.dump('CLI TX', line);
    const answer = await this.until((this.#control as Control).ask(line));
    this.log(3, `CLI RX  ${answer.status}`);
    this.dump('CLI RX', answer.body);
    if (answer.status === 0) this.fail(`CLI failed (${line.split('\n', 1)[0]}): ${answer.body}`);
    return answer;
  }

  async cli(line: string): Promise<Answer> {
    await this.launch();
    return this.#ask(line);
  }

  async #state(): Promise<string> {
    const { status, body } = await this.#ask('status');
    if (status !== OK) this.fail(`CLI status command failed: ${status} ${body}`);
    return body.trim();
  }

  async waitStopped(): Promise<void> {
    await this.launch();
    while ((await this.#state()) !== 'Child in state stopped') await this.sleep(0.05);
  }

  async waitRunning(): Promise<void> {
    await this.launch();
    for (;;) {
      const state = await this.#state();
      if (state === 'Child in state stopped') this.fail('Child stopped before running');
      if (state === 'Child in state running') return;
      await this.sleep(0.05);
    }
  }

  async start(): Promise<void> {
    await this.launch();
    const { status, body } = await this.#ask('start');
    if (status !== OK) this.fail(`CLI start command failed: ${status} ${body}`);
    await this.waitRunning();
    const hook = await this.product.firstId((command) => this.#ask(command));
    const answer = await this.#ask(hook);
    if (answer.status !== OK && this.product.hasDebugging) this.fail(`CLI ${hook} failed: ${answer.body}`);
    for (const [i, { name, host, port, socket }] of this.#listens.entries()) {
      if (i === 0) this.#defineAddress('', host, port, socket);
      this.#defineAddress(`${name}_`, host, port, socket);
    }
  }

  #defineAddress(name: string, host: string, port: string, socket: string): void {
    this.define(`${name}addr`, host);
    this.define(`${name}port`, port);
    this.define(`${name}sock`, socket);
  }

  async stopChild(): Promise<void> {
    await this.launch();
    this.log(2, 'Stop');
    await this.#ask('stop');
    await this.waitStopped();
  }

  /** Ends it, and looks at how. */
  async wait(): Promise<void> {
    if (this.#child === null) return;
    this.log(2, 'Wait');
    await this.stopChild();
    const { status, body } = await this.#ask('panic.show');
    if (status === OK) this.fail(`Unexpected panic: ${body.slice(0, 200)}`);
    await this.cleanUp();
  }

  /** The manager ends with its standard input. */
  async cleanUp(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#child = null;
    this.#control?.close();
    this.#control = null;
    child.stdin?.end();
    const timer = setTimeout(() => child.kill('SIGKILL'), END_SECONDS * 1000);
    const code = await this.#exit;
    clearTimeout(timer);
    if (child.signalCode === 'SIGKILL') this.fail('daemon did not exit when its CLI was closed');
    this.log(2, `exit status ${code}`);
    if (code !== this.expectedExit) this.fail(`Bad exit status: ${code}, expected ${this.expectedExit}`);
  }

  /** Loads and uses a program. */
  async load(text: string): Promise<Answer> {
    await this.launch();
    const name = `vcl${++this.#programs}`;
    let line = this.product.inline(name, text);
    if (line.length > LONGEST_LINE) {
      const file = join(this.stage.directory, `_${this.who}.${name}.vcl`);
      writeFileSync(file, `${text}\n`, { encoding: 'latin1', mode: 0o644 });
      line = `vcl.load ${name} ${file}`;
    }
    const loaded = await this.#ask(line);
    return loaded.status === OK ? this.#ask(`vcl.use ${name}`) : loaded;
  }

  /** The last transactions in its log, grouped by request; empty when it cannot be read. */
  transactions(): Promise<string> {
    const { program, args } = this.product.log(this.directory);
    return new Promise((resolve) =>
      execFile(
        program,
        [...args, '-d', '-g', 'request'],
        { encoding: 'latin1', timeout: LOG_MS, maxBuffer: MOST_LOG },
        (cause, out) => resolve(cause === null ? lastGroups(out) : ''),
      ),
    );
  }

  counters(): Promise<readonly (readonly [string, number])[]> {
    return this.#control?.counters() ?? Promise.resolve([]);
  }

  async end(isGood: boolean): Promise<void> {
    if (isGood) {
      try {
        await this.wait();
        return;
      } catch {
        // It has been recorded.
      }
    }
    const child = this.#child;
    this.#child = null;
    this.#control?.close();
    if (child === null) return;
    child.stdin?.end();
    const timer = setTimeout(() => child.kill('SIGKILL'), 3000);
    await this.#exit;
    clearTimeout(timer);
  }

  command(): Promise<void> {
    // The commands need the servers of the test: daemon-commands.ts has them.
    return Promise.reject(new Error('a daemon is commanded by daemon-commands.ts'));
  }
}
