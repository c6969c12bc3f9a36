// proxyd and Varnish's varnishd under one interface: the same program, parameters and storage, the same
// commands, log and counters, so that a test can be run against either. Only what the two products are
// called differs. The listening port is the kernel's choice, asked for once the worker runs.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { usableCores } from '../../daemon/manager/process/cores.ts';
import { COUNTERS_HEAD } from '../../daemon/stats/counters-format.ts';
import { MOST_THREADS } from '../../protocol/tables/params.ts';
import { WORKDIR_FILES } from '../../protocol/workdir.ts';
import { fetchOnce } from './http-client.ts';
import { adminCommand, readCounters, readLog } from './in-process-tools.ts';
import {
  type Daemon,
  delay,
  type Finished,
  findProgram,
  processTree,
  type RunOptions,
  readStat,
  run,
  type Sandbox,
  until,
} from './processes.ts';

export type Product = 'proxyd' | 'varnish';
export type Tool = 'daemon' | 'adm' | 'log' | 'stat';

const PROGRAMS: Record<Product, Record<Tool, string>> = {
  proxyd: { daemon: 'proxyd', adm: 'proxyadm', log: 'proxylog', stat: 'proxystat' },
  varnish: { daemon: 'varnishd', adm: 'varnishadm', log: 'varnishlog', stat: 'varnishstat' },
};

export const ROOT = new URL('../..', import.meta.url).pathname;

const TOLD_THREADS = process.env.PROXYD_TEST_THREADS;
let chosenThreads = TOLD_THREADS;
/** Do proxies under test overwrite lent and freed memory, and check each step (debug +req_state)? */
const POISON = process.env.PROXYD_POISON === '1';
/** Worker threads of a proxy under test that says nothing of them. */
export function workerThreads(): number {
  return Number(chosenThreads ?? usableCores(MOST_THREADS));
}

/** From now on proxies that say nothing of threads have this many, unless the environment says otherwise; undefined: as many as a
 * daemon has by default. */
export function chooseThreads(count: string | undefined): void {
  chosenThreads = TOLD_THREADS ?? count;
}

/** Command and leading arguments that start a tool; ours run from dist/, as package.json's `bin` names them. */
export function command(product: Product, tool: Tool): [string, string[]] {
  const name = PROGRAMS[product][tool];
  if (product === 'varnish') {
    const path = findProgram(name);
    if (path === null) throw new Error(`${name} is not installed`);
    return [path, []];
  }
  const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    bin: Record<string, string>;
  };
  const target = bin[name];
  if (target === undefined) throw new Error(`package.json has no bin ${name}`);
  return [process.execPath, [join(ROOT, target)]];
}

/** Runs one of the product's one-shots to its end. */
export function tool(
  product: Product,
  which: Tool,
  args: readonly string[],
  options?: RunOptions,
): Promise<Finished> {
  const [program, lead] = command(product, which);
  return run(program, [...lead, ...args], options);
}

export interface ProxyOptions {
  product?: Product;
  /** VCL text; without it `backend` is used, without either no program is loaded. */
  program?: string;
  /** host:port for -b. */
  backend?: string;
  params?: Record<string, string>;
  /** -s arguments; default one malloc of 64 MB. */
  storage?: string[];
  /** Further arguments of the daemon. */
  args?: string[];
  /** -F serves at once; -d waits for the command `start`. Default F. */
  mode?: 'F' | 'd';
  /** Listening port; default 0. */
  port?: number;
  /** Without parameters of the harness, for tests of changed parameters. */
  asInstalled?: boolean;
  /** Working directory; default a new one in the sandbox. */
  dir?: string;
  /** CPU number the daemon and its children are pinned to. */
  cpu?: number;
  /** Descriptors that each of its processes may have. */
  descriptors?: number;
  /** Variables of its environment beside those of the test. */
  env?: Record<string, string>;
}

export class RunningProxy {
  readonly product: Product;
  readonly dir: string;
  readonly daemon: Daemon;
  port = 0;

  constructor(product: Product, dir: string, daemon: Daemon) {
    this.product = product;
    this.dir = dir;
    this.daemon = daemon;
  }

  get pid(): number {
    return this.daemon.pid;
  }

  /** One admin command, its words as proxyadm takes them after its options. Ours is asked without the tool. */
  adm(...words: string[]): Promise<Finished> {
    // Its C compiler takes longer than the five seconds of its default on a busy machine.
    if (this.product === 'varnish') return tool('varnish', 'adm', ['-n', this.dir, '-t', '60', ...words]);
    return adminCommand(this.dir, (words[0] === '--' ? words.slice(1) : words).join(' '));
  }

  /** Output of the log tool over what the ring holds, with all that was answered before the call. */
  async log(...args: string[]): Promise<string> {
    if (this.product === 'proxyd') await this.settled();
    return this.#logSoFar(args);
  }

  async #logSoFar(args: readonly string[]): Promise<string> {
    if (this.product === 'proxyd') return readLog(this.dir, args);
    const done = await tool('varnish', 'log', ['-n', this.dir, '-d', ...args]);
    if (done.code !== 0) throw new Error(`log tool: exit ${done.code}, ${done.stderr}`);
    return done.stdout;
  }

  /** That output once it has this: a request is answered before its end is logged. */
  async logged(wanted: RegExp | string, ...args: string[]): Promise<string> {
    let last = '';
    return until(`in the log: ${wanted}`, async () => {
      last = await this.#logSoFar(args);
      const has = typeof wanted === 'string' ? last.includes(wanted) : wanted.test(last);
      return has ? last : null;
    }).catch((cause: unknown) => {
      throw new Error(`not in the log: ${wanted}\n${last.slice(-4000)}`, { cause });
    });
  }

  /** Waits until the log has at least this many requests of clients, each with its end and the ends of all transactions
   * that are linked to it: a client has its answer before that. */
  async requestsLogged(count: number): Promise<void> {
    let found = { requests: 0, open: ['all'] };
    await until(`${count} requests in the log`, async () => {
      found = transactionsOf(await this.#logSoFar(['-g', 'raw', '-i', 'Begin,Link,End']));
      return found.requests >= count && found.open.length === 0;
    }).catch((cause: unknown) => {
      throw new Error(`${found.requests} of ${count} requests in the log, without end: ${found.open}`, {
        cause,
      });
    });
  }

  /** Waits until this many client connections are open: a thread that has not noticed closed ones yet is given fewer. */
  async connectionsOpen(count: number): Promise<void> {
    await until(`${count} open connections`, async () => {
      const counters = Object.entries(await this.counters());
      const open = counters.filter(([name]) => /^THR\.\d+\.connections_open$/.test(name));
      return open.reduce((sum, [, value]) => sum + value, 0) === count;
    });
  }

  /** All counters by name. Ours count what was seen before the call: they are published ten times a second. Gauges of
   * storages, the edge and the process may be a second old. */
  async counters(): Promise<Record<string, number>> {
    if (this.product === 'proxyd') {
      await this.#published();
      return readCounters(this.dir);
    }
    const done = await tool('varnish', 'stat', ['-n', this.dir, '-j']);
    if (done.code !== 0) throw new Error(`stat tool: exit ${done.code}, ${done.stderr}`);
    const parsed = JSON.parse(done.stdout) as { counters: Record<string, { value: number }> };
    return Object.fromEntries(Object.entries(parsed.counters).map(([name, c]) => [name, c.value]));
  }

  /** Waits until ours has published everything that was counted before the call. */
  async #published(): Promise<void> {
    const asked = Date.now();
    // Without a worker nothing is published.
    const isOver = (): boolean =>
      Date.now() > asked + 20_000 || (Date.now() > asked + 1200 && this.workerPid() === null);
    while (countersTime(this.dir) <= asked && !isOver()) await delay(10);
  }

  /** Waits until every thread of ours has been through its event loop twice since the call: what was answered before has
   * been logged. Varnish has a fifth of a second. */
  async settled(): Promise<void> {
    if (this.product === 'varnish') await delay(200);
    else for (let i = 0; i < 2; i++) await this.#published();
  }

  /** Waits until a counter has at least this value; counters may lag the traffic by a second. */
  async counterReaches(name: string, value: number): Promise<number> {
    let last: number | undefined;
    return until(`${name} >= ${value}`, async () => {
      last = (this.product === 'proxyd' ? await readCounters(this.dir) : await this.counters())[name];
      return last !== undefined && last >= value ? last : null;
    }).catch((cause: unknown) => {
      throw new Error(`${name} is ${last}, expected ${value}`, { cause });
    });
  }

  /** Process id of the worker (Varnish's child), or null while there is none. */
  workerPid(): number | null {
    return processTree(this.pid).find((pid) => pid !== this.pid && readStat(pid)?.ppid === this.pid) ?? null;
  }

  /** Kills the worker, and waits until the next one serves. */
  async killWorker(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const before = this.workerPid() as number;
    process.kill(before, signal);
    await until('another worker', async () => {
      const now = this.workerPid();
      return (now !== null && now !== before) || null;
    });
    await this.serving();
  }

  /** Reads the port of the first listener and waits until it answers. */
  async serving(): Promise<void> {
    const running = async (): Promise<boolean> => {
      if (!this.daemon.running)
        throw new Error(`${this.product} has ended: ${this.daemon.stderr}${this.daemon.stdout}`);
      // A daemon that has ended is not to be waited for.
      const status =
        this.product === 'varnish' ? await this.adm('status') : await adminCommand(this.dir, 'status', 0);
      return status.code === 0 && status.stdout.includes('running');
    };
    // A start that waits for processors is none that failed.
    await until(`${this.product} running`, running, 120_000);
    const list = await this.adm(this.product === 'varnish' ? 'debug.listen_address' : 'listen.list');
    const port = /^(?:\S+\s+)?\S+?[\s:](\d+)\s*$/m.exec(list.stdout)?.[1];
    if (port === undefined) throw new Error(`no port in ${JSON.stringify(list.stdout + list.stderr)}`);
    this.port = Number(port);
  }

  get(path: string, options: Parameters<typeof fetchOnce>[2] = {}): ReturnType<typeof fetchOnce> {
    return fetchOnce(this.port, path, options);
  }

  /** SIGTERM and the end of the daemon. */
  async stop(ms = 30_000): Promise<Finished> {
    if (this.daemon.running) this.daemon.child.kill('SIGTERM');
    return this.daemon.exit(ms);
  }
}

/** Varnish's compiler as installed optimises every program: three times the work for programs that run once. */
const FAST_COMPILER = ['-p', 'cc_command=exec gcc -std=gnu11 -O0 -pthread -fpic -shared -Wl,-x -o %o %s'];

/** Clients of a test may say nothing for this long: where many connect one after the other on a busy machine, the five seconds of both
 * products are over before the last one has asked. Tests that name a product compare it as it is. */
const IDLE_SECONDS = 60;

/** Arguments of a daemon start, without the mode flag. */
export function daemonArguments(options: ProxyOptions, dir: string, programFile: string | null): string[] {
  const args = ['-n', dir, '-a', `127.0.0.1:${options.port ?? 0}`, '-i', 'test'];
  if (options.product === 'varnish')
    args.unshift('-j', 'none', ...(options.asInstalled ? [] : FAST_COMPILER));
  if (programFile !== null) args.push('-f', programFile);
  else if (options.backend !== undefined) args.push('-b', options.backend);
  for (const spec of options.storage ?? ['malloc,64m']) args.push('-s', spec);
  if (chosenThreads !== undefined && options.product !== 'varnish' && !options.asInstalled)
    args.push('-p', `worker_threads=${chosenThreads}`);
  if (POISON && options.product !== 'varnish' && !options.asInstalled && options.params?.debug === undefined)
    args.push('-p', 'debug=+req_state');
  if (options.product === undefined && !options.asInstalled && options.params?.timeout_idle === undefined)
    args.push('-p', `timeout_idle=${IDLE_SECONDS}`);
  for (const [name, value] of Object.entries(options.params ?? {})) args.push('-p', `${name}=${value}`);
  return [...args, ...(options.args ?? [])];
}

/** Starts a daemon in the foreground; with mode F resolves once it serves. */
export async function startProxy(box: Sandbox, options: ProxyOptions): Promise<RunningProxy> {
  const product = options.product ?? 'proxyd';
  const dir = options.dir ?? box.path(product);
  mkdirSync(dir, { recursive: true, mode: 0o755 });
  let file: string | null = null;
  if (options.program !== undefined) {
    file = `${dir}.vcl`;
    writeFileSync(file, options.program);
  }
  const [program, lead] = command(product, 'daemon');
  const mode = options.mode ?? 'F';
  const args = [...lead, `-${mode}`, ...daemonArguments({ ...options, product }, dir, file)];
  const { cpu, descriptors } = options;
  const wrapped = [
    ...(cpu === undefined ? [] : ['taskset', '-c', String(cpu)]),
    ...(descriptors === undefined ? [] : ['prlimit', `--nofile=${descriptors}:${descriptors}`]),
    program,
    ...args,
  ];
  const env = { ...process.env, ...options.env };
  const daemon = box.start(product, wrapped[0] as string, wrapped.slice(1), { env });
  const proxy = new RunningProxy(product, dir, daemon);
  if (mode === 'F') await proxy.serving();
  else await Promise.race([delay(50), daemon.ended]);
  return proxy;
}

/** A minimal program with one backend. */
export function backendProgram(originPort: number, body = ''): string {
  return `vcl 4.1;\nbackend default { .host = "127.0.0.1"; .port = "${originPort}"; }\n${body}`;
}

/** Requests of clients that have ended in a raw log, and ids of requests and fetches whose end is still to come. */
function transactionsOf(log: string): { requests: number; open: string[] } {
  const expected = new Set<string>();
  const fromClients = new Set<string>();
  const ended = new Set<string>();
  for (const line of log.split('\n')) {
    const [, id = '', tag, text = ''] = /^ *(\d+) (Begin|Link|End) +\S ?(.*)$/.exec(line) ?? [];
    const [kind, other = '', reason] = text.split(' ');
    if (tag === 'End') ended.add(id);
    if (kind !== 'req' && kind !== 'bereq') continue;
    expected.add(tag === 'Link' ? other : id);
    if (tag === 'Begin' && reason === 'rxreq') fromClients.add(id);
  }
  return {
    requests: [...fromClients].filter((id) => ended.has(id)).length,
    open: [...expected].filter((id) => !ended.has(id)),
  };
}

/** When the values of a counters file were taken, in milliseconds since the epoch: written after them. */
function countersTime(dir: string): number {
  const path = join(dir, WORKDIR_FILES.counters);
  if (!existsSync(path)) return 0;
  const file = readFileSync(path);
  return Number(file.readBigUInt64LE(COUNTERS_HEAD + file.readUInt32LE(4)));
}
