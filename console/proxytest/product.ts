// The two daemons that a script can be played on, each driven by its public tools or protocol.

import { execFile, spawnSync } from 'node:child_process';
import { inPackage, packageVersion } from '../../protocol/files/package-files.ts';
import { type Client, connect } from '../client/client.ts';

export interface Answer {
  /** As in varnish-cli(7); 0 without contact. */
  readonly status: number;
  /** latin1. */
  readonly body: string;
}

export interface Control {
  ask(line: string): Promise<Answer>;
  /** All counters; empty while there are none. */
  counters(): Promise<readonly (readonly [name: string, value: number])[]>;
  close(): void;
}

export interface Tool {
  readonly program: string;
  readonly args: readonly string[];
}

export interface Product {
  readonly name: 'proxyd' | 'varnish';
  /** Such as 7.1.1. */
  release(): string;
  /** The name of a missing program; null if all are installed. */
  missing(): string | null;
  /** @param identity of the daemon; null for its own */
  daemon(directory: string, identity: string | null): Tool;
  control(directory: string): Promise<Control>;
  /** The reader of the log, and the option that has it write its process id once it is attached. */
  log(directory: string): Tool;
  /** The command after each start that makes 1000 the next id. */
  firstId(ask: (command: string) => Promise<{ readonly body: string }>): Promise<string>;
  /** Whether commands and parameters for debugging exist: those that do not have no effect. */
  readonly hasDebugging: boolean;
  /** The text of an error in a program must be in the answer; false: that it is refused is enough. */
  readonly hasVarnishErrors: boolean;
  /** A here-document as commands of the script give it. */
  inline(name: string, program: string): string;
  /** Commands that scripts call in a shell, and what is run for them. */
  readonly commands: Readonly<Record<string, Tool>>;
}

const TOOLS = ['adm', 'log', 'stat', 'ncsa', 'top', 'hist', 'test'] as const;

function quoted(text: string): string {
  const escapes: Readonly<Record<string, string>> = {
    '"': '\\"',
    '\\': '\\\\',
    '\n': '\\n',
    '\r': '\\r',
    '\t': '\\t',
  };
  return `"${text.replaceAll(/["\\\n\r\t]/g, (c) => escapes[c] as string)}"`;
}

/** Text of a script, whose characters are bytes, as the protocol has it, and back. */
const toText = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');
const toBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

class ProxydControl implements Control {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async ask(line: string): Promise<Answer> {
    try {
      const { status, body } = await this.#client.command(toText(line));
      return { status, body: toBytes(body) };
    } catch (cause) {
      return { status: 0, body: (cause as Error).message };
    }
  }

  counters(): Promise<readonly (readonly [string, number])[]> {
    return new Promise((resolve) => {
      let names: string[] = [];
      let values: string[] = [];
      this.#client.stat(
        { interval: 0 },
        {
          counters(info) {
            names = info.map(({ name }) => name);
          },
          values(_, all) {
            values = all;
          },
          end: () => resolve(names.map((name, i) => [name, Number(values[i] ?? 0)] as const)),
        },
      );
    });
  }

  close(): void {
    this.#client.close();
  }
}

const node = (file: string): Tool => ({ program: process.execPath, args: [inPackage(file)] });

export const PROXYD: Product = {
  name: 'proxyd',
  release: () => packageVersion(),
  missing: () => null,
  daemon: (directory, identity) => {
    const { program, args } = node('dist/daemon/proxyd.js');
    const own = ['-d', '-n', directory, ...(identity === null ? [] : ['-i', identity])];
    // Scripted servers take one connection at a time, and scripts know the id of a transaction by Varnish's name.
    const parameters = [
      'auto_restart=off',
      'vsl_mask=+Debug',
      'id_header=X-Varnish',
      'worker_threads=1',
      'esi_parallel=1',
      // Requests still open at the end of a test are cut, as in Varnish.
      'stop_timeout=0',
    ];
    return {
      program,
      args: [
        ...args,
        ...own,
        ...parameters.flatMap((each) => ['-p', each]),
        '-P',
        `${directory}/varnishd.pid`,
      ],
    };
  },
  async control(directory) {
    return new ProxydControl(await connect({ dir: directory, name: 'proxytest', timeout: 2 }));
  },
  log(directory) {
    const { program, args } = node('dist/console/bin/proxylog.js');
    return { program, args: [...args, '-n', directory] };
  },
  async firstId(ask) {
    const { body } = await ask('param.show varnish_release');
    return `debug.xid ${/Value is: 9/.test(body) ? 1000 : 999}`;
  },
  hasDebugging: false,
  hasVarnishErrors: false,
  inline: (name, program) => `vcl.inline ${name} ${quoted(program)}`,
  commands: Object.fromEntries([
    ['varnishd', node('dist/daemon/proxyd.js')],
    ...TOOLS.map((tool) => [`varnish${tool}`, node(`dist/console/bin/proxy${tool}.js`)] as const),
    ['proxyd', node('dist/daemon/proxyd.js')],
    ...TOOLS.map((tool) => [`proxy${tool}`, node(`dist/console/bin/proxy${tool}.js`)] as const),
  ]),
};

const MARK = '%proxytest-program%';
/** A reply that was cut has status 201, which the tool does not tell. */
const CUT = '[response was truncated]';
const MOST_OUTPUT = 256 * 1024 * 1024;

function run(program: string, args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const argv = args.map((arg) => Buffer.from(arg, 'latin1').toString('utf8'));
    execFile(program, argv, { encoding: 'latin1', maxBuffer: MOST_OUTPUT }, (cause, out, err) => {
      resolve({ code: cause === null ? 0 : typeof cause.code === 'number' ? cause.code : -1, out, err });
    });
  });
}

function varnishRelease(): string {
  // On standard error.
  const { stderr } = spawnSync('varnishd', ['-V'], { encoding: 'latin1' });
  return /varnish-(\d+(?:\.\d+)+)/.exec(stderr ?? '')?.[1] ?? '0.0';
}

function isInstalled(program: string): boolean {
  return spawnSync('/bin/sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0;
}

export function makeVarnish(): Product {
  let known: string | null = null;
  const release = (): string => {
    known ??= varnishRelease();
    return known;
  };
  return {
    name: 'varnish',
    release,
    missing: () => {
      const missing = ['varnishd', 'varnishadm', 'varnishlog', 'varnishstat'].filter(
        (each) => !isInstalled(each),
      );
      return missing.length === 0 ? null : missing.join(', ');
    },
    daemon: (directory, identity) => ({
      program: 'varnishd',
      args: [
        ...['-d', '-n', directory, '-l', '2m', ...(identity === null ? [] : ['-i', identity])],
        ...['auto_restart=off', 'syslog_cli_traffic=off', 'thread_pool_min=10', 'debug=+vtc_mode'].flatMap(
          (each) => ['-p', each],
        ),
        ...['vsl_mask=+Debug', 'h2_initial_window_size=1m', 'h2_rx_window_low_water=64k'].flatMap((each) => [
          '-p',
          each,
        ]),
        ...['-P', `${directory}/varnishd.pid`],
      ],
    }),
    async control(directory) {
      // With more patience it would wait for a daemon that has ended.
      const { code } = await run('varnishadm', ['-n', directory, '-t', '1', 'ping']);
      if (code !== 0) throw new Error('no CLI yet');
      return {
        async ask(line) {
          const args = ['-n', directory, '-t', '60', ...(line.startsWith('-') ? ['--'] : []), line];
          const { code, out, err } = await run('varnishadm', args);
          const body = out.endsWith('\n') ? out.slice(0, -1) : out;
          if (code === 0) return { status: body.endsWith(CUT) ? 201 : 200, body };
          const status = Number(/error code (\d+)/.exec(err)?.[1] ?? 0);
          return { status, body: status === 0 ? `${body}${err}`.trim() : body };
        },
        async counters() {
          const { out } = await run('varnishstat', ['-n', directory, '-j']);
          try {
            const parsed = JSON.parse(out) as { counters?: Record<string, { value: number }> };
            return Object.entries(parsed.counters ?? {}).map(([name, { value }]) => [name, value] as const);
          } catch {
            return [];
          }
        },
        close: () => undefined,
      };
    },
    log: (directory) => ({ program: 'varnishlog', args: ['-n', directory] }),
    async firstId() {
      const [major = 0, minor = 0] = release().split('.').map(Number);
      // The next id since 7.3, the last one before.
      const isNew = major > 7 || (major === 7 && minor >= 3);
      return `debug.xid ${isNew ? 1000 : 999}`;
    },
    hasDebugging: true,
    hasVarnishErrors: true,
    inline: (name, program) => `vcl.inline ${name} << ${MARK}\n${program}\n${MARK}`,
    commands: {},
  };
}
