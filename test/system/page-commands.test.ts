// Every command of every page, played as a new user would type it: in a copy of the checkout, with the site.vcl of the page, in
// the order of the page. Only the places are others: ports, the working directory, the origin. Commands that cannot be played
// are listed with a reason in harness/page-commands.ts.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { nextSteps } from '../../console/demo/welcome.ts';
import { freePort, Origin, respond } from '../harness/origin.ts';
import {
  type CommandLine,
  commandsOf,
  FOREGROUND,
  NEEDS_DAEMON,
  NOT_PLAYED,
  notPlayed,
  playedCommands,
  SHOWS,
  STATUSES,
} from '../harness/page-commands.ts';
import { blocks, pages } from '../harness/pages.ts';
import { alive, type Daemon, installed, run, Sandbox, until } from '../harness/processes.ts';
import { ROOT } from '../harness/proxy.ts';
import { TestTerminal } from '../harness/terminal.ts';

const box = new Sandbox('proxyd-page-commands');
const origin = await Origin.start();
origin.on('*', () => respond('200 OK', { 'Cache-Control': 'max-age=60', xkey: 'article-17' }, 'a page\n'));
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

const SITE = `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "80"; }
`;
const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  bin: Record<string, string>;
};
/** Options of proxyd with which it runs no daemon, and takes no -n. */
const NO_DAEMON = '-C|-V|-x|--lint|--test-extension';

/** A reader of a page: a folder, the commands on the PATH, ports, and the daemon that runs at the time. */
class Reader {
  readonly folder: string;
  private readonly dir: string;
  private readonly ports = new Map<string, number>();
  private readonly env: NodeJS.ProcessEnv;
  private daemon: Daemon | null = null;
  private programs = 0;

  private constructor(folder: string, dir: string, env: NodeJS.ProcessEnv) {
    this.folder = folder;
    this.dir = dir;
    this.env = env;
  }

  static async open(): Promise<Reader> {
    const folder = box.path('reader');
    const programs = box.path('bin');
    const dir = box.path('n');
    for (const each of [folder, programs]) mkdirSync(each);
    for (const entry of readdirSync(ROOT))
      if (entry !== '.git' && entry !== 'node_modules') symlinkSync(join(ROOT, entry), join(folder, entry));
    cpSync(join(ROOT, 'daemon/extensions/template'), folder, { recursive: true });
    const script = (name: string, text: string): void =>
      writeFileSync(join(programs, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    script('npx', 'exec "$@"');
    for (const [name, file] of Object.entries(bin)) {
      const command = `exec '${process.execPath}' '${join(ROOT, file)}'`;
      const places = `${command} -n '${dir}' "$@"`;
      if (name === 'proxyd')
        script(name, `for a; do case "$a" in ${NO_DAEMON}) ${command} "$@";; esac; done\n${places}`);
      else if (/^proxy(adm|log|log-json|ncsa|stat|top|hist)$/.test(name)) script(name, places);
      else script(name, `${command} "$@"`);
    }
    const reader = new Reader(folder, dir, { ...process.env, PATH: `${programs}:${process.env.PATH}` });
    for (const port of ['8080', '6082', '7000']) reader.ports.set(port, await freePort());
    writeFileSync(join(folder, 'secret'), 'secret\n', { mode: 0o600 });
    reader.write(SITE);
    return reader;
  }

  /** The text with the places of this test in it. */
  private placed(text: string): string {
    return text
      .replaceAll(/-a :(80|8080)\b/g, '-a 127.0.0.1:8080')
      .replaceAll(
        /(:|--port )(8080|6082|7000)\b/g,
        (_, ahead: string, port: string) => `${ahead}${this.ports.get(port)}`,
      )
      .replaceAll('127.0.0.1:80 ', `127.0.0.1:${origin.port} `)
      .replaceAll(/127\.0\.0\.1:80$/g, `127.0.0.1:${origin.port}`)
      .replaceAll('.port = "80"', `.port = "${origin.port}"`)
      .replaceAll('/etc/proxyd/secret', join(this.folder, 'secret'))
      .replaceAll('/tmp/', `${this.folder}/`)
      .replaceAll(/--for \d+/g, '--for 2');
  }

  private write(program: string): void {
    writeFileSync(join(this.folder, 'site.vcl'), this.placed(program));
  }

  /** Takes a program or a part of one from the page into site.vcl, as its reader does; a daemon that runs loads it. */
  async program(text: string): Promise<void> {
    const file = join(this.folder, 'site.vcl');
    if (text.startsWith('vcl ')) return this.write(text);
    if (!text.includes('include ')) return;
    const [version = '', ...rest] = readFileSync(file, 'utf8').split('\n');
    this.write([version, text, ...rest].join('\n'));
    if (this.daemon?.running !== true) return;
    const name = `page${this.programs++}`;
    for (const line of [`proxyadm vcl.load ${name} "$PWD/site.vcl"`, `proxyadm vcl.use ${name}`])
      expect(await this.shell(line)).toMatchObject({ code: 0 });
  }

  async play({ page, text }: CommandLine): Promise<void> {
    if (FOREGROUND.test(text)) return this.foreground(text);
    if (/\bproxyd -a /.test(text)) await this.stop();
    else if (NEEDS_DAEMON.test(text) && this.daemon === null) await this.serve();
    if (/^(npx )?proxyadm *(#.*)?$/.test(text)) return this.console();
    const end = await this.shell(text);
    const status = STATUSES.find(({ line }) => line.test(text))?.status ?? 0;
    expect([page, text, end.code, end.code === status ? '' : end.stdout + end.stderr]).toEqual([
      page,
      text,
      status,
      '',
    ]);
    for (const { page: of, line, output } of SHOWS)
      if (of.test(page) && line.test(text))
        expect([text, end.stdout]).toEqual([text, expect.stringMatching(output)]);
    if (/\bproxyd -a /.test(text)) {
      // It detached.
      const pid = Number(readFileSync(join(this.dir, 'pid'), 'utf8'));
      box.adopt(pid);
      process.kill(pid, 'SIGTERM');
      await until('the end of the daemon', () => !alive(pid), 120_000);
    }
  }

  /** The daemon that the reader has by then, with a request in its log. */
  private async serve(): Promise<void> {
    await this.foreground('proxyd -F -a 127.0.0.1:8080 -f site.vcl');
    expect(await this.shell('curl -s http://127.0.0.1:8080/')).toMatchObject({ code: 0 });
    await until('the log', async () => (await this.shell('proxyncsa -d')).stdout.includes(' 200 '), 120_000);
  }

  private shell(line: string): ReturnType<typeof run> {
    return run('bash', ['-c', this.placed(line)], { cwd: this.folder, env: this.env, timeout: 120_000 });
  }

  /** Starts a line that stays in the foreground, and waits until its port takes connections. */
  private async foreground(line: string): Promise<void> {
    const isProxy = !line.startsWith('edge-fake');
    if (isProxy) await this.stop();
    const text = this.placed(line);
    const started = box.start(line, 'bash', ['-c', `exec env ${text}`], { cwd: this.folder, env: this.env });
    if (isProxy) this.daemon = started;
    const port = Number(/--port (\d+)/.exec(text)?.[1] ?? this.ports.get('8080'));
    await until(
      `${text} serves`,
      () => {
        if (!started.running) throw new Error(`${text} ended: ${started.stdout}${started.stderr}`);
        return takesConnections(port);
      },
      120_000,
    );
  }

  /** The console needs a terminal. */
  private async console(): Promise<void> {
    if (!installed('tmux')) return;
    const terminal = await TestTerminal.open(box, 80, 24);
    try {
      await terminal.type(`PATH='${this.env.PATH}' proxyadm; echo "status $?"`);
      await terminal.press('Enter');
      await terminal.waitFor(/● running/);
      await terminal.press('q');
      await terminal.waitFor(/status 0/);
    } finally {
      await terminal.close();
    }
  }

  async stop(): Promise<void> {
    const { daemon } = this;
    this.daemon = null;
    if (daemon === null) return;
    daemon.child.kill('SIGTERM');
    expect(await daemon.exit(120_000)).toMatchObject({ code: 0 });
  }
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

describe('commands that are not played', () => {
  const every = pages().flatMap(commandsOf);

  it.each(NOT_PLAYED)('$line: $reason', (row) => {
    if (row.test !== undefined) expect(existsSync(join(ROOT, 'test/system', row.test))).toBe(true);
    // Rows for all pages are there for pages to come, too.
    if (row.page.source !== '.')
      expect(every.some((each) => row.page.test(each.page) && row.line.test(each.text))).toBe(true);
  });

  it('are few: the README’s own are played', () => {
    const readme = commandsOf('README.md');
    expect(readme.length).toBeGreaterThan(12);
    expect(
      readme.filter((each) => notPlayed(each) !== undefined).map(({ text }) => text.split(' #')[0]?.trim()),
    ).toEqual(['npm ci && npm run demo', 'npm ci && npm test', 'npm run demo', 'npm run demo -- --fleet 3']);
  });
});

describe('commands', () => {
  it.each([...playedCommands()])('of %s', { timeout: 600_000 }, async (page, lines) => {
    const reader = await Reader.open();
    try {
      const programs = blocks(page).filter(({ kind }) => kind === 'vcl');
      // The README's commands in code come after all of its blocks, those of other pages in their order.
      const order = page === 'daemon/edge/README.md' ? trialFirst(lines) : lines;
      for (const each of order) {
        while (programs.length > 0 && (programs[0]?.line ?? 0) < each.line)
          await reader.program((programs.shift()?.lines ?? []).join('\n'));
        await reader.play(each);
      }
    } finally {
      await reader.stop();
    }
  });

  it.each([true, false])(
    'that the demo names at its end (a bus: %s)',
    { timeout: 600_000 },
    async (hasBus) => {
      const reader = await Reader.open();
      try {
        for (const { command } of nextSteps(hasBus)) {
          const line = { page: 'demo', line: 0, text: command };
          if (notPlayed(line) === undefined) await reader.play(line);
        }
      } finally {
        await reader.stop();
      }
    },
  );
});

/** The commands of the edge page work where a network is; its last section starts one. */
function trialFirst(lines: readonly CommandLine[]): CommandLine[] {
  const at = lines.findIndex(({ text }) => text.startsWith('edge-fake'));
  return [...lines.slice(at), ...lines.slice(0, at)];
}
