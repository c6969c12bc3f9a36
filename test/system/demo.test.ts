// The demo: a plain line per second without a terminal, the console on one, and no leftovers.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findBus, startBus } from '../../console/demo/bus-child.ts';
import { shopOfFleet } from '../../console/demo/shop.ts';
import { stagehand } from '../../console/demo/stagehand.ts';
import { NATS_MISSING } from '../harness/nats-server.ts';
import { alive, type Daemon, installed, processTree, run, Sandbox, until } from '../harness/processes.ts';
import { ROOT } from '../harness/proxy.ts';
import { TestTerminal } from '../harness/terminal.ts';

const DEMO = join(ROOT, 'dist/console/bin/demo.js');
const box = new Sandbox('proxyd-demo-test');

afterAll(() => box.dispose());

/** Starts the plain demo and waits for its first lines. */
async function running(): Promise<Daemon> {
  const demo = box.start('demo', process.execPath, [DEMO, '--plain']);
  await until('summaries', () => /requests\/s/.test(demo.stdout));
  return demo;
}

/** All processes of a demo: itself, the edge network, the manager, the worker. */
function processesOf({ pid }: Daemon): number[] {
  const tree = processTree(pid);
  expect(tree.length).toBeGreaterThanOrEqual(4);
  return tree;
}

async function leavesNothing(demo: Daemon, signal: NodeJS.Signals): Promise<void> {
  const tree = processesOf(demo);
  process.kill(demo.pid, signal);
  await gone(tree);
}

const gone = (tree: number[]) => until('all its processes gone', () => tree.every((pid) => !alive(pid)));

describe('demo', () => {
  it('prints a line a second and ends by itself', async () => {
    // From the first line on: three more on a machine that has time, one where half of them come late.
    const end = await run(process.execPath, [DEMO, '--for', '4']);
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(end.stdout).toMatch(/^This is a demo: proxyd, a web cache, .* simulated shop\.$/m);
    expect(end.stdout).toMatch(/^The cache: http:\/\/127\.0\.0\.1:\d+\/$/m);
    expect(end.stdout).toMatch(/^A simulated edge network .*: http:\/\/127\.0\.0\.1:\d+\/$/m);
    expect(end.stdout).toMatch(/^Each line is a second of traffic\./m);
    expect(end.stdout).toMatch(/^For the console, in another terminal: npx proxyadm -n \/\S+$/m);
    expect(end.stdout.slice(end.stdout.indexOf('To try next')).match(/^ {2}np[xm] .*$/gm)).toHaveLength(3);
    expect(end.stdout.match(/requests\/s +hit rate/g)?.length).toBeGreaterThanOrEqual(2);
  });

  it('has purges that clear proxyd and the edge network, and leaves no process after SIGINT', async () => {
    const demo = box.start('demo', process.execPath, [DEMO, '--plain', '--rate', '200']);
    // Either line may come first, and on a busy machine the first page that is purged may not have been visited yet.
    await until('a purge of proxyd', () =>
      /^PURGE \/products\/\d+: {"local":{"purged":[1-9]\d*},"edge":{"provider":"fake","op":"delete url","id":"\d+","state":"queued"}}$/m.test(
        demo.stdout,
      ),
    );
    await until('a purge of the edge network', () =>
      /^edge network: cleared delete url staging "https:\/\/shop\.example\/products\/\d+" copies [1-9]\d*$/m.test(
        demo.stdout,
      ),
    );
    await leavesNothing(demo, 'SIGINT');
  });

  it('has a proxy that bans what the drama wants banned and refuses the program with a mistake, and leaves no process after SIGTERM', async () => {
    const demo = await running();
    const hand = stagehand({ dir: /^Files of the cache: (\S+)$/m.exec(demo.stdout)?.[1] as string });
    expect(await hand.banStatic()).toMatch(/^Banned here\. The edge|^$/);
    expect(await hand.loadBadProgram()).toMatch(/Symbol not found: 'retrun'.*Line 6/);
    await leavesNothing(demo, 'SIGTERM');
  });

  it.each(['SIGHUP', 'SIGKILL'] as const)('leaves no process after %s', async (signal) => {
    await leavesNothing(await running(), signal);
  });

  it.skipIf(NATS_MISSING !== null).each(['SIGTERM', 'SIGKILL'] as const)(
    'has a fleet, whose purges reach every proxy, and of which nothing is left after %s',
    async (signal) => {
      const demo = box.start('demo', process.execPath, [DEMO, '--plain', '--fleet', '3']);
      await until('a purge', () => /^PURGE .*: stored \d+, applied by 3 of 3 nodes$/m.test(demo.stdout));
      expect(demo.stdout).toMatch(/^3 proxies of one fleet: (?:http:\/\/127\.0\.0\.1:\d+\/(?:, )?){3}$/m);
      const tree = processTree(demo.pid);
      // The demo itself, a shell, the bus, and of each proxy the manager and the worker.
      expect(tree.length).toBeGreaterThanOrEqual(9);
      process.kill(demo.pid, signal);
      await gone(tree);
    },
  );

  it.skipIf(NATS_MISSING !== null)('has a bus that goes with it when a terminal hangs up', async () => {
    const folder = box.path('bus');
    mkdirSync(folder);
    const before = new Set(processTree(process.pid));
    const bus = await startBus(findBus() as string, folder);
    const tree = processTree(process.pid).filter((pid) => !before.has(pid));
    expect(tree.length).toBeGreaterThanOrEqual(3);
    for (const pid of tree) process.kill(pid, 'SIGHUP');
    await bus.stop();
    await gone(tree);
  });

  it('reports what a fleet needs where there is no bus', async () => {
    const undo: unknown[] = [];
    await expect(shopOfFleet(1, 3, (step) => undo.push(step), null)).rejects.toThrow(
      '--fleet needs nats-server, which this machine does not have (Debian: apt install nats-server)',
    );
    expect(undo).toEqual([]);
  });

  it('ends with a reason when its daemon is killed', async () => {
    const demo = await running();
    const tree = processesOf(demo);
    const manager = tree.find((p) => p !== demo.pid && processTree(p).length > 1) as number;
    process.kill(manager, 'SIGKILL');
    await gone(tree);
  });

  it('reports what is wrong with its arguments', async () => {
    const end = await run(process.execPath, [DEMO, '--for', 'ever']);
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('usage:');
  });

  it('ends quietly when its reader is gone', async () => {
    const shell = spawn('bash', [
      '-c',
      `${process.execPath} ${DEMO} --plain | head -2; exit \${PIPESTATUS[0]}`,
    ]);
    const code = await new Promise((resolve) => shell.on('exit', resolve));
    expect(code).toBe(0);
  });

  it.skipIf(!installed('tmux'))('is a console on a terminal, and leaves it clean', async () => {
    const terminal = await TestTerminal.open(box, 100, 30);
    try {
      await terminal.type(`${process.execPath} ${DEMO}; echo "status $?"`);
      await terminal.press('Enter');
      await terminal.waitFor(/demo[\s\S]*● running[\s\S]*Welcome to the demo[\s\S]*Press Enter to begin/);
      await terminal.press('Enter');
      await terminal.waitFor(/● running[\s\S]*boot\.shop/);
      await terminal.press('2');
      await terminal.waitFor(/hit +200 +GET/);
      await terminal.press('q');
      await terminal.waitFor(
        /To try next[\s\S]*\n {2}npx proxyd -F[\s\S]*\n {2}npx proxyadm\n[\s\S]*\n {2}np[xm] [\s\S]*status 0/,
      );
      expect(await terminal.modes()).toBe('0 1');
    } finally {
      await terminal.close();
    }
  });

  it.skipIf(!installed('tmux') || NATS_MISSING !== null)(
    'of a fleet shows its nodes, and Enter continues in another one',
    async () => {
      const terminal = await TestTerminal.open(box, 110, 30);
      try {
        await terminal.type(`${process.execPath} ${DEMO} --fleet 2; echo "status $?"`);
        await terminal.press('Enter');
        await terminal.waitFor(/● running[\s\S]*Welcome to the demo/);
        await terminal.press('^');
        await terminal.waitFor(/shop-1 \(this\) +current[\s\S]*shop-2 +current[\s\S]*applied +1 purge/);
        await terminal.press('j', 'Enter');
        await terminal.waitFor(/shop-2 \(this\)[\s\S]*showing shop-2/);
        await terminal.press('q');
        await terminal.waitFor(/status 0/);
      } finally {
        await terminal.close();
      }
    },
  );
});
