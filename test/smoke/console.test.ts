// The console in a terminal (tmux): its first screen, the log with a query, and the terminal as it was.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Origin, respond } from '../harness/origin.ts';
import { installed, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, command, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { TestTerminal } from '../harness/terminal.ts';

const missing = !installed('tmux');
if (missing) console.warn('notice: smoke test of the console skipped: tmux is not installed');

describe.skipIf(missing)('the console', () => {
  const box = new Sandbox('proxyd-smoke-console');
  let origin: Origin;
  let proxy: RunningProxy;
  let terminal: TestTerminal;

  beforeAll(async () => {
    origin = await Origin.start();
    origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
    [proxy, terminal] = await Promise.all([
      startProxy(box, { program: backendProgram(origin.port) }),
      TestTerminal.open(box, 100, 30),
    ]);
  });
  afterAll(async () => {
    await terminal?.close();
    await box.dispose();
    await origin?.close();
  });

  it('shows the daemon on its first screen, and what a query selects of the log', async () => {
    const [node, [proxyadm]] = command('proxyd', 'adm');
    await terminal.type(`${node} ${proxyadm} -n ${proxy.dir}; echo "status $?"`);
    await terminal.press('Enter');
    await terminal.waitFor(/1 Dash[\s\S]*● running[\s\S]*boot\.default +healthy/);
    expect(await terminal.modes()).toBe('1 0');
    await terminal.press('2');
    await terminal.waitFor(/following/);
    await terminal.type('/ReqURL ~ "^/wanted"');
    await terminal.waitFor(/valid/);
    await terminal.press('Enter');
    await terminal.waitFor(/query ReqURL ~/);
    await until('only the wanted request', async () => {
      await proxy.get('/other');
      await proxy.get('/wanted');
      return /hit +200 +GET +\/wanted/.test(await terminal.screen());
    });
    expect((await terminal.screen()).split('query ReqURL')[1]).not.toContain('/other');
    await terminal.press('q');
    await terminal.waitFor(/status 0/);
    expect(await terminal.modes()).toBe('0 1');
  });
});
