// The console in a real terminal (tmux) on a real daemon: looks around, queries the log, runs a command,
// loses and regains the daemon, and leaves the terminal as it found it.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { installed, Sandbox, until } from '../harness/processes.ts';
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
    origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100' }, 'hello\n'));
    proxy = await startProxy(box, { program: backendProgram(origin.port) });
    terminal = await TestTerminal.open(box, 100, 30);
  });

  afterAll(async () => {
    await terminal?.close();
    await box.dispose();
    await origin.close();
  });

  it('serves an operator from start to end', async () => {
    const [node, [proxyadm]] = command('proxyd', 'adm');
    await terminal.type(`${node} ${proxyadm} -n ${proxy.dir}; echo "status $?"`);
    await terminal.press('Enter');
    await terminal.waitFor(/1 Dashboard [\s\S]*● live[\s\S]*boot\.default +healthy/);
    expect(await terminal.modes()).toBe('1 0');

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
    await terminal.waitFor(/query: ReqURL ~/);
    await until('only the wanted request', async () => {
      await proxy.get('/other');
      await proxy.get('/wanted');
      return /GET +\/wanted/.test(await terminal.screen());
    });
    expect((await terminal.screen()).split('query: ReqURL')[1]).not.toContain('/other');
    await until('a hit is the newest', async () => {
      await proxy.get('/wanted');
      return /hit +200 +GET +\/wanted/.test(await terminal.screen());
    });
    await terminal.press('G', 'Right');
    await terminal.waitFor(/ReqURL +\/(wanted|seen)/);
    await terminal.press('Enter');
    await terminal.waitFor(/A hit: object \d+, fetched .* ago, is fresh for/);
    await terminal.press('Enter');

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

    // Why was it passed?
    await terminal.press('2');
    await terminal.waitFor(/query/);
    await terminal.type(':query ReqURL eq "/mine"');
    await terminal.press('Enter');
    await terminal.waitFor(/query ReqURL eq/);
    await until('a request with a cookie', async () => {
      await proxy.get('/mine', { fields: { Cookie: 'a=b' } });
      return /pass +200 +GET +\/mine/.test(await terminal.screen());
    });
    await terminal.press('w');
    await terminal.waitFor(/It was passed because it has a Cookie[\s\S]*ReqHeader +Cookie: a=b/);
    await terminal.press('Escape');
    await terminal.type(':query');
    await terminal.press('Enter');
    await terminal.waitFor(/none: every transaction/);

    // Another size, and the smallest.
    await terminal.press('1');
    await terminal.resize(60, 20);
    await terminal.waitFor(/Traffic and storage/);
    await terminal.resize(130, 40);
    await terminal.waitFor(/╭─ Storage[\s\S]*good\.default/);

    // The daemon goes: data stays, the banner counts; it comes back: live again.
    const { dir } = proxy;
    await proxy.stop();
    await terminal.waitFor(/▲ stale[\s\S]*stale \d+ s: .*attempt \d+/);
    expect(await terminal.screen()).toContain('good.default');
    proxy = await startProxy(box, { program: backendProgram(origin.port), dir });
    await terminal.waitFor(/● live/);
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
  }, 120_000);

  it('restores the terminal when it is told to end', async () => {
    const [node, [proxyadm]] = command('proxyd', 'adm');
    await terminal.type(
      `clear; timeout -s TERM --foreground 4 ${node} ${proxyadm} -n ${proxy.dir}; echo "ended $?"`,
    );
    await terminal.press('Enter');
    await terminal.waitFor(/● live/);
    await terminal.waitFor(/ended 124/);
    expect(await terminal.modes()).toBe('0 1');
  }, 60_000);

  it('refuses to start without a terminal', async () => {
    const { tool } = await import('../harness/proxy.ts');
    const end = await tool('proxyd', 'adm', ['-n', proxy.dir], { input: '' });
    expect(end).toMatchObject({ code: 0, stdout: '' });
  });
});
