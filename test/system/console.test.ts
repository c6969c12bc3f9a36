// The console in a real terminal (tmux) on a real daemon: looks around, queries the log, runs a command,
// loses and regains the daemon, and leaves the terminal as it found it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
    await terminal.press('G', 'k', 'Right', 'Right', 'Right');
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

    // Another size, and the smallest.
    await terminal.press('1');
    await terminal.resize(60, 20);
    await terminal.waitFor(/Traffic and storage/);
    await terminal.resize(130, 40);
    await terminal.waitFor(/╭─ Storage/);

    // The daemon goes: data stays, the banner counts; it comes back: live again.
    const { dir } = proxy;
    await proxy.stop();
    await terminal.waitFor(/▲ stale[\s\S]*stale \d+ s: .*attempt \d+/);
    expect(await terminal.screen()).toContain('boot.default');
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
