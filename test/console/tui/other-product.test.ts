// The console on a Varnish: it offers nothing unsupported and shows nothing of this project's daemon.
import { afterEach, expect, it } from 'vitest';
import { ProgramFlow } from '../../../console/views/programs/program-flow.ts';
import { fakeRecording } from '../fake-recording.ts';
import { FakeFiles, Stage } from '../stage.ts';

const stages: Stage[] = [];
afterEach(() => {
  for (const stage of stages.splice(0)) stage.close();
});

const item = (line: string, ...items: unknown[]): [string, string] => [
  line,
  JSON.stringify([2, [], 1, ...items]),
];
const BODIES = new Map([
  item(
    'ban.list -j',
    { time: 9, refs: 2, completed: true },
    { time: 8, refs: 1, completed: false, spec: 'req.url ~ x' },
  ),
  item(
    'param.show -j',
    { name: 'pool_req', value: { min_pool: 10, max_pool: 100, max_age: 10 }, default: '10,100,10' },
    { name: 'pool_vbo', value: { min_pool: 1, max_pool: 2, max_age: 3 }, default: '10,100,10' },
  ),
]);

async function varnish(files?: FakeFiles): Promise<Stage> {
  const stage = new Stage({
    recording: fakeRecording(20),
    columns: 120,
    rows: 40,
    ...(files === undefined ? {} : { files }),
  });
  stages.push(stage);
  Object.assign(stage.c.session.source, {
    product: 'Varnish',
    commands: new Set(['ban', 'ban.list', 'param.show', 'vcl.list', 'backend.list']),
    command: async (line: string) =>
      BODIES.has(line)
        ? { status: 200, body: BODIES.get(line) as string }
        : { status: 101, body: 'Unknown request.' },
  });
  await stage.play(5);
  return stage;
}

it('offers no command that Varnish does not have', async () => {
  const stage = await varnish();
  expect(await stage.screen()).not.toMatch(/@ ?Edg/);
  await stage.keys('@');
  const edge = await stage.screen();
  expect(edge).toContain('Varnish has no edge network connector');
  expect(edge).not.toMatch(/R retry|Del drop|P pause|retry all/);
  await stage.keys('x');
  expect(await stage.screen()).not.toContain('Send a dead letter again');
  // Before a condition is written for nothing.
  await stage.keys('escape', '9', 'B');
  expect(await stage.screen()).toContain('Varnish has no command ban.soft');
  await stage.keys('^');
  expect(await stage.screen()).toContain('Varnish has no fleet');
});

it('shows that the condition of a completed ban is not kept', async () => {
  const stage = await varnish();
  await stage.keys('7');
  await stage.settle();
  expect(await stage.screen()).toMatch(
    /completed +\(completed: its condition is not kept\)[\s\S]*active +req\.url ~ x/,
  );
});

it('has the three numbers of a pool', async () => {
  const stage = await varnish();
  await stage.keys('6');
  await stage.settle();
  expect(await stage.screen()).toMatch(
    /1 changed[\s\S]*pool_req +10,100,10 +is default[\s\S]*pool_vbo +1,2,3 +10,100,10/,
  );
});

it('keeps no program from Varnish that only this project does not compile', async () => {
  const files = new FakeFiles();
  files.files.set('/x.vcl', 'vcl 4.1;\nimport nowhere;');
  files.findings = [
    {
      severity: 'error',
      rule: '',
      message: 'no module',
      file: '/x.vcl',
      line: 2,
      position: 8,
      length: 7,
    } as never,
  ];
  const stage = await varnish(files);
  expect(await new ProgramFlow(stage.c).showErrors('/x.vcl')).toBe(false);
});

it('shows why commands are not answered, and why there is no connection', async () => {
  const stage = await varnish();
  const { session } = stage.c;
  const body = 'varnishadm ended: Cannot open /etc/varnish/secret: Permission denied';
  Object.assign(session.source, { command: async () => ({ status: 0, body }) });
  Object.assign(session, { backends: [], lastPoll: 0 });
  await stage.play(8);
  expect(await stage.screen()).toMatch(/╭─ Backends[\s\S]*varnishadm ended: Cannot open/);
  await stage.keys('5');
  await stage.settle();
  expect((await stage.screen()).replace(/\s+/g, ' ')).toContain(body);
  const reason = `ssh web1: Permission denied (publickey). ${'and so on '.repeat(15)}try ssh by hand`;
  Object.assign(session, {
    connection: { state: 'waiting', attempt: 1, retryAt: session.now() + 3, reason },
  });
  await stage.keys('9', '7');
  await stage.settle();
  expect((await stage.screen()).replace(/\s+/g, ' ')).toContain('try ssh by hand');
});

it('counts nothing of a Varnish that was never reached, and says whose it is', async () => {
  const recording = fakeRecording(20);
  const reason = 'ssh web1: Connection refused';
  const stage = new Stage({
    recording: { ...recording, steps: [{ after: 0, kind: 'down', reason }] },
    columns: 120,
    rows: 40,
  });
  stages.push(stage);
  Object.assign(stage.c.session.source, { product: 'Varnish' });
  await stage.play(1);
  const screen = await stage.screen();
  expect(screen).toMatch(/no Varnish, retrying in \d s: ssh web1/);
  expect(screen).not.toMatch(/0\/s|objects +0|no traffic yet|no misses yet|none so far|no backends/);
  expect(screen).toMatch(/─ Last errors[\s\S]*ssh web1: Connection refused/);
});
