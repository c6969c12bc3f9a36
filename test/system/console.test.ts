// The console in a real terminal (tmux) on a real daemon: looks around, queries the log, asks why, changes what can be
// changed, loses and regains the daemon, and leaves the terminal as it found it, whichever way it ends.
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { alive, installed, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, command, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { TestTerminal } from '../harness/terminal.ts';

const missing = !installed('tmux');
if (missing) process.stderr.write('console.test.ts is skipped: tmux is not installed\n');

describe.skipIf(missing)('console', () => {
  const box = new Sandbox('proxyd-console');
  let origin: Origin;
  let proxy: RunningProxy;
  let terminal: TestTerminal;

  beforeAll(async () => {
    origin = await Origin.start();
    origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
    origin.on('/broken', respond('500 Internal Server Error', {}, 'no\n'));
    proxy = await startProxy(box, { program: backendProgram(origin.port) });
    terminal = await TestTerminal.open(box, 100, 30);
  });

  afterAll(async () => {
    await terminal?.close();
    await box.dispose();
    await origin.close();
  });

  it('shows the counters that proxystat was asked for, and gauges as requested', async () => {
    const [node, [proxystat]] = command('proxyd', 'stat');
    await terminal.type(
      `${node} ${proxystat} -n ${proxy.dir} -r -f 'MAIN.uptime' -P ${proxy.dir}.pid; echo "status $?"`,
    );
    await terminal.press('Enter');
    const screen = await terminal.waitFor(/MAIN\.uptime[\s\S]*-I MAIN\.uptime · raw/);
    expect(screen).toMatch(/1-1\/1\b/);
    expect(existsSync(`${proxy.dir}.pid`)).toBe(true);
    await terminal.press('q');
    await terminal.waitFor(/status 0/);
    expect(existsSync(`${proxy.dir}.pid`)).toBe(false);
    await terminal.type('clear');
    await terminal.press('Enter');
  });

  it('serves an operator from start to end', async () => {
    const [node, [proxyadm]] = command('proxyd', 'adm');
    await terminal.type(`${node} ${proxyadm} -n ${proxy.dir}; echo "status $?"`);
    await terminal.press('Enter');
    await terminal.waitFor(/1 Dash[\s\S]*● running[\s\S]*boot\.default +healthy/);
    expect(await terminal.modes()).toBe('1 0');

    // An error on the dashboard, with what it was.
    await until('an error on the dashboard', async () => {
      await proxy.get('/broken');
      return /Last errors[\s\S]*\d\d:\d\d:\d\d +500 +\w+ .* GET \/broken/.test(await terminal.screen());
    });

    // The live log, grouped; then only what a query lets through.
    await terminal.press('2');
    await terminal.waitFor(/following/);
    await until('a request in the log', async () => {
      await proxy.get('/seen');
      return /\d\d:\d\d:\d\d +(hit|miss) +200 +GET +\/seen/.test(await terminal.screen());
    });
    await terminal.type('/ReqURL !');
    await terminal.waitFor(/▲+ /);
    await terminal.press('BSpace');
    await terminal.type('~ "^/wanted"');
    await terminal.waitFor(/valid/);
    await terminal.press('Enter');
    await terminal.waitFor(/query ReqURL ~/);
    await until('only the wanted request', async () => {
      await proxy.get('/other');
      await proxy.get('/wanted');
      return /GET +\/wanted/.test(await terminal.screen());
    });
    expect((await terminal.screen()).split('query ReqURL')[1]).not.toContain('/other');
    await until('a hit is the newest', async () => {
      await proxy.get('/wanted');
      return /hit +200 +GET +\/wanted/.test(await terminal.screen());
    });
    await terminal.press('G', 'Right');
    await terminal.waitFor(/ReqURL +\/(wanted|seen)/);
    await terminal.press('Enter');
    await terminal.waitFor(/A hit: object \d+, fetched .* ago, is fresh for/);
    await terminal.press('Enter');

    // From a ranking to its transactions.
    await terminal.press('9');
    await terminal.waitFor(/REQUESTS +REQ\/S +SHARE[\s\S]*\/wanted/);
    await terminal.type('/wanted');
    await terminal.press('Enter', 'Enter');
    await terminal.waitFor(/query ReqURL eq "\/wanted"/);

    await terminal.press('3');
    await terminal.waitFor(/NAME +CURRENT +CHANGE +AVERAGE[\s\S]*MAIN\.client_req/);

    await terminal.type(':param.show default_t');
    await terminal.press('Tab');
    await terminal.waitFor(/:param\.show default_ttl/);
    await terminal.press('Enter');
    await terminal.waitFor(/Value is: 120\.000 \[seconds\] \(default\)/);
    await terminal.press('Escape');
    await terminal.type(':param.set default_ttl 33');
    await terminal.press('Enter');
    await until('the parameter is set', async () =>
      (await proxy.adm('param.show default_ttl')).stdout.includes('33.000'),
    );

    // The same in its view, checked as it is typed, and taken back.
    await terminal.press('6');
    await terminal.waitFor(/PARAMETER +VALUE[\s\S]*auto_restart/);
    await terminal.type('/default_ttl');
    await terminal.press('Enter');
    await terminal.waitFor(/default_ttl +33 +seconds +120\.000/);
    await terminal.press('s', 'C-u');
    await terminal.type('soon');
    await terminal.waitFor(/soon +seconds, as 1\.5 or 90/);
    await terminal.press('C-u');
    await terminal.type('44');
    await terminal.press('Enter');
    await terminal.waitFor(/default_ttl +44 +seconds/);
    await terminal.press('U');
    await terminal.waitFor(/undo "param\.set default_ttl 44" by "param\.set default_ttl 33"\? y\/n/);
    await terminal.press('y');
    await terminal.waitFor(/default_ttl +33 +seconds/);

    // A program that does not compile, then one that does: its changes, the question, in use.
    const broken = join(box.dir, 'broken.vcl');
    const good = join(box.dir, 'good.vcl');
    await writeFile(broken, `${backendProgram(origin.port)}\nsub vcl_recv { set req.url = ; }\n`);
    await writeFile(
      good,
      `${backendProgram(origin.port)}\nsub vcl_deliver { set resp.http.X-Good = "yes"; }\n`,
    );
    await terminal.press('5');
    await terminal.waitFor(/boot +active/);
    await terminal.press('l');
    await terminal.type(broken);
    await terminal.press('Enter');
    await terminal.waitFor(/does not compile[\s\S]*set req\.url = ;[\s\S]*\^+ .*Expected/);
    await terminal.press('Escape', 'l');
    await terminal.type(good);
    await terminal.press('Enter');
    await terminal.waitFor(
      /Changes from boot to good[\s\S]*\+ sub vcl_deliver[\s\S]*use good instead of boot\? y\/n/,
    );
    await terminal.press('y');
    await terminal.waitFor(/good +active/);
    await until('the program is in use', async () => field(await proxy.get('/seen'), 'x-good') === 'yes');

    // Why was it a miss? Why was it passed?
    await terminal.type(':query ReqURL ~ "^/new"');
    await terminal.press('Enter');
    await terminal.waitFor(/query ReqURL ~ "\^\/new"/);
    let asked = 0;
    await until('a miss', async () => {
      await proxy.get(`/new/${asked++}`);
      return /miss +200 +GET +\/new/.test(await terminal.screen());
    });
    await terminal.press('w');
    await terminal.waitFor(/It was not in the cache, and no earlier fetch of it/);
    await terminal.press('Escape');
    await terminal.type(':query ReqURL eq "/mine"');
    await terminal.press('Enter');
    await terminal.waitFor(/query ReqURL eq "\/mine"/);
    await until('a request with a cookie', async () => {
      await proxy.get('/mine', { fields: { Cookie: 'a=b' } });
      return /pass +200 +GET +\/mine/.test(await terminal.screen());
    });
    await terminal.press('w');
    await terminal.waitFor(/It was passed in vcl_recv. It has a Cookie[\s\S]*ReqHeader +Cookie: a=b/);
    await terminal.press('Escape');
    await terminal.type(':query');
    await terminal.press('Enter');
    await terminal.waitFor(/none: all transactions/);

    // Another size, the smallest, and many in a row.
    await terminal.press('1');
    for (let n = 0; n < 12; n++) await terminal.resize(20 + 15 * (n % 10), 4 + 5 * (n % 8));
    await terminal.resize(60, 20);
    await terminal.waitFor(/Traffic and storage/);
    await terminal.resize(130, 40);
    await terminal.waitFor(/╭─ Storage[\s\S]*good\.default/);

    // The daemon is killed: data stays, the banner counts; it comes back: live again.
    const { dir } = proxy;
    const worker = proxy.workerPid();
    process.kill(proxy.pid, 'SIGKILL');
    await proxy.daemon.ended;
    await until('the worker is gone', () => worker === null || !alive(worker));
    await terminal.waitFor(/▲ Daemon unreachable for \d+ s, retrying/);
    expect(await terminal.screen()).toContain('good.default');
    proxy = await startProxy(box, { program: backendProgram(origin.port), dir });
    await terminal.waitFor(/● running/);
    await terminal.press('2', 'G');
    await until('log after the reconnection', async () => {
      await proxy.get('/wanted/again');
      return /GET +\/wanted\/again/.test(await terminal.screen());
    });

    await terminal.press('q');
    await terminal.waitFor(/status 0/);
    expect(await terminal.modes()).toBe('0 1');
    await terminal.type('echo te""st');
    await terminal.press('Enter');
    await terminal.waitFor(/^\$ echo te""st\ntest$/m);
  });

  it('gives the terminal back whatever ends it', async () => {
    const [node, [proxyadm]] = command('proxyd', 'adm');
    const pidFile = box.path('pid');
    for (const [signal, status] of [
      ['SIGHUP', 129],
      ['SIGTERM', 143],
      ['SIGQUIT', 131],
    ] as const) {
      const start = `sh -c 'echo $$ > ${pidFile}; exec ${node} ${proxyadm} -n ${proxy.dir}'`;
      const after = 'test "$MODES" = "$(stty -g)" && echo same modes';
      await terminal.type(`clear; MODES="$(stty -g)"; ${start} 2> /dev/null; echo "ended $?"; ${after}`);
      await terminal.press('Enter');
      await terminal.waitFor(/● running/);
      expect(await terminal.modes()).toBe('1 0');
      process.kill(Number(readFileSync(pidFile, 'latin1')), signal);
      await terminal.waitFor(new RegExp(`ended ${status}\\nsame modes`));
      expect(await terminal.modes()).toBe('0 1');
    }
  });

  it('speaks in lines on a dumb terminal, and shows the first instance of the operator’s file', async () => {
    const [node, [proxyadm]] = command('proxyd', 'adm');
    const config = box.path('config');
    await mkdir(join(config, 'proxyd'), { recursive: true });
    const instances = [{ name: 'mine', dir: proxy.dir }];
    await writeFile(join(config, 'proxyd/console.json'), JSON.stringify({ instances }));
    const start = `TERM=dumb XDG_CONFIG_HOME=${config} ${node} ${proxyadm}`;
    await terminal.type(`clear; ${start}; echo "status $?"`);
    await terminal.press('Enter');
    // In the order in which they are known.
    await terminal.waitFor(/Dashboard view\.[\s\S]*Running\.|Running\.[\s\S]*Dashboard view\./);
    expect(await terminal.modes()).toBe('0 1');
    await terminal.type('4');
    await terminal.waitFor(/Backends view\.[\s\S]*boot\.default, [\s\S]*healthy/);
    await terminal.type('q');
    await terminal.waitFor(/status 0/);
  });

  it('ends when its terminal goes away without a word', async () => {
    const [node, [proxyadm]] = command('proxyd', 'adm');
    const other = new Sandbox('proxyd-lost');
    const lost = await TestTerminal.open(other, 80, 24);
    const [pidFile, statusFile] = [other.path('pid'), other.path('status')];
    // In a session of its own no hangup reaches it: all it sees is that reading fails.
    const start = `${node} ${proxyadm} -n ${proxy.dir} < $0 > $0 2> ${other.path('errors')}`;
    const script = `${start} & echo $! > ${pidFile}; wait $!; echo $? > ${statusFile}`;
    await lost.type(`setsid sh -c '${script}' $(tty)`);
    await lost.press('Enter');
    await lost.waitFor(/● running/);
    const pid = Number(readFileSync(pidFile, 'latin1'));
    await lost.close();
    await until('the console has ended', () => !alive(pid));
    await until('its status', () => existsSync(statusFile) && readFileSync(statusFile, 'latin1') !== '');
    expect(readFileSync(statusFile, 'latin1')).toBe('129\n');
    await other.dispose();
  });

  it('refuses to start without a terminal', async () => {
    const { tool } = await import('../harness/proxy.ts');
    const end = await tool('proxyd', 'adm', ['-n', proxy.dir], { input: '' });
    expect(end).toMatchObject({ code: 0, stdout: '' });
  });
});
