import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { EventList } from '../../../daemon/manager/reports.ts';
import { type Fixture, startManager, until } from './fixture.ts';

let open: Fixture | null = null;
afterEach(async () => {
  await open?.close();
  open = null;
});

/** Without the long turns of this process, which has other things to do beside a manager. */
const kinds = (f: Fixture): string[] =>
  f.manager.core.events
    .all()
    .filter(({ kind }) => kind !== 'turn')
    .map(({ kind, text }) => `${kind}: ${text}`);

it('keeps the last of each kind, whatever the others do', () => {
  const list = new EventList();
  list.add('program', 'loaded a', 1);
  for (let i = 0; i < 500; i++) list.add('health', `${i}`, 2 + i);
  list.add('ban', `x\n${'y'.repeat(1000)}`, 900);
  const all = list.all();
  expect(all).toHaveLength(202);
  expect([all[0]?.text, all[1]?.text, all[200]?.text]).toEqual(['loaded a', '300', '499']);
  expect(all[201]?.text).toBe(`x ${'y'.repeat(497)}…`);
});

it('has what commands changed, with what was before, and nothing of those that failed or changed nothing', async () => {
  const f = await startManager(['-F', '-b', 'none']);
  open = f;
  const began = kinds(f).length;
  for (const line of [
    'param.set default_ttl 60',
    'param.set default_ttl 60',
    'param.set default_ttl no',
    'param.reset default_ttl',
    'vcl.inline b << E\nvcl 4.1;\nE',
    'vcl.inline c << E\nerror\nE',
    'vcl.use b',
    'vcl.label l b',
    'ban req.url ~ "^/a b"',
    'ban.list',
    'backend.set_health boot.* sick',
  ])
    await f.manager.command(line);
  expect(kinds(f).slice(began)).toEqual([
    'parameter: default_ttl 60.000 (was 120.000)',
    'parameter: default_ttl 120.000 (was 60.000)',
    'program: loaded b',
    'program: using b',
    'program: l is a label of b',
    'ban: ban req.url ~ ^/a b',
    'health: backend.set_health boot.* sick',
  ]);
});

it('outlives the worker, and has its death and the next start', async () => {
  const f = await startManager(['-F', '-b', 'none']);
  open = f;
  await f.manager.command('param.set default_ttl 60');
  const { pid } = f.manager.core.supervisor;
  await f.manager.command('debug.srandom panic');
  await until(() => kinds(f).filter((text) => /^worker: .* started/.test(text)).length === 2, 'a restart');
  expect(kinds(f).map((text) => text.replace(/\(\d+\)/, `(${pid})`))).toEqual([
    `worker: Child (${pid}) started`,
    'parameter: default_ttl 60.000 (was 120.000)',
    'panic: Assert error in fake()',
    `worker: Child (${pid}) died status=70; restarted at once; its cache and its bans are gone`,
    `worker: Child (${pid}) started`,
  ]);
  const { body } = await f.manager.command('event.list');
  expect(body).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z parameter {2}default_ttl 60\.000 \(was 120\.000\)$/m);
  const json = (JSON.parse((await f.manager.command('event.list -j')).body) as unknown[]).filter(
    (row) => (row as { kind?: string }).kind !== 'turn',
  );
  expect(json[3]).toMatchObject({ kind: 'worker', time: expect.any(Number) });
  expect(json).toHaveLength(3 + 5);
});

it.each([
  [[], 'its cache and its bans are gone'],
  [
    ['-s', 'malloc,1m', '-s', 'disk,PATH,64m'],
    'its cache in memory and its bans are gone, objects on disk remain',
  ],
] as const)('says what ended with a worker that was stopped, with %j', async (options, loss) => {
  const path = mkdtempSync(join(tmpdir(), 'proxyd-disk-'));
  try {
    const f = await startManager([
      '-F',
      '-b',
      'none',
      ...options.map((one) => one.replace('PATH', join(path, 'tier'))),
    ]);
    open = f;
    const { pid } = f.manager.core.supervisor;
    await f.manager.command('stop');
    expect(kinds(f).at(-1)).toBe(`worker: Child (${pid}) stopped; ${loss}`);
  } finally {
    rmSync(path, { recursive: true });
  }
});
