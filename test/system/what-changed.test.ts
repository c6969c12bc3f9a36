// "What changed in the last minute?", asked by one key in a real terminal, from wherever one is.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CountersHistory } from '../../daemon/stats/counters-history.ts';
import { describeCounters } from '../../daemon/stats/counters-reader.ts';
import { WORKDIR_FILES } from '../../protocol/workdir.ts';
import { Origin, respond } from '../harness/origin.ts';
import { installed, Sandbox } from '../harness/processes.ts';
import { backendProgram, command, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { drained } from '../harness/steps.ts';
import { TestTerminal } from '../harness/terminal.ts';

const missing = !installed('tmux');
if (missing) process.stderr.write('what-changed.test.ts is skipped: tmux is not installed\n');

describe.skipIf(missing)('what changed', () => {
  const box = new Sandbox('proxyd-changed');
  let origin: Origin;
  let proxy: RunningProxy;
  let terminal: TestTerminal;

  beforeAll(async () => {
    origin = await Origin.start();
    origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
    // Half an hour of a manager that was there before: a hundred requests a second, and ten in the last minute.
    const dir = join(box.dir, 'daemon');
    mkdirSync(dir, { mode: 0o700 });
    const history = new CountersHistory(join(dir, WORKDIR_FILES.history), () => undefined);
    history.open();
    const info = describeCounters(['MAIN.uptime', 'MAIN.client_req', 'MAIN.cache_hit']);
    const now = Date.now();
    let requests = 0n;
    for (let ago = 1850; ago > 0; ago--) {
      requests += ago > 60 ? 100n : 10n;
      drained(history.take(now - ago * 1000, { info, values: [BigInt(9000 - ago), requests, requests] }));
    }
    history.close();
    proxy = await startProxy(box, { program: backendProgram(origin.port), dir });
    terminal = await TestTerminal.open(box, 100, 30);
    const [node, [proxyadm]] = command('proxyd', 'adm');
    await terminal.type(`${node} ${proxyadm} -n ${proxy.dir}`);
    await terminal.press('Enter');
    await terminal.waitFor(/1 Dash[\s\S]*● running/);
  });

  afterAll(async () => {
    await terminal?.close();
    await box.dispose();
    await origin.close();
  });

  it.each(['1', '2', '3', '7', '9'])(
    'is one key from view %s: what happened and what moved',
    async (view) => {
      await terminal.press(view);
      await proxy.adm('param.set', 'default_grace', `1${view}`);
      let keys = 0;
      await terminal.press('%');
      keys++;
      const screen = await terminal.waitFor(
        // Counters that move together are one row, and so are more than three events of a kind.
        new RegExp(
          `S parameter +(the newest: )?default_grace 1${view}\\.000 [\\s\\S]*- counter +MAIN\\.cache_hit and 1 that`,
        ),
      );
      expect(screen).toMatch(/What changed +the last minute against the one before/);
      expect(screen).toMatch(/W worker +Child \(\d+\) started/);
      expect(keys).toBe(1);
    },
  );

  it('looks back five and fifteen minutes', async () => {
    await terminal.press('%', 'w');
    // 100 a second in the five minutes before, and 82 in these.
    await terminal.waitFor(/the last 5 minutes against the 5 before/);
    await terminal.press('w');
    await terminal.waitFor(/the last 15 minutes against the 15 before/);
    expect(await terminal.screen()).not.toContain('not known for long enough');
  });
});
