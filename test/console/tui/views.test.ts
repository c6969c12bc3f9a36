// The admin views on the real screens: lists, their filters and details, and what an operator does in them.

import { afterEach, describe, expect, it } from 'vitest';
import { makeTheme } from '../../../console/draw/theme.ts';
import type { Recording } from '../../../console/model/session/recording.ts';
import { showView } from '../../../console/model/ui/navigation.ts';
import { submitLine } from '../../../console/model/ui/palette.ts';
import { click } from '../../../console/tui/click.ts';
import { openPanel } from '../../../console/views/dashboard/dashboard-panels.ts';
import { EVENTS_VIEW, openEvent } from '../../../console/views/events/events-view.ts';
import { applyQuery } from '../../../console/views/log/log-query.ts';
import { LOG_STATE } from '../../../console/views/log/log-state.ts';
import { PARAMETERS_VIEW } from '../../../console/views/parameters/parameters-view.ts';
import { STAT_STATE } from '../../../console/views/stats/stat-state.ts';
import { STATS_VIEW } from '../../../console/views/stats/stats-view.tsx';
import { TOP_VIEW } from '../../../console/views/top/top-view.ts';
import { VIEWS } from '../../../console/views/views.ts';
import { isFull } from '../../harness/runs.ts';
import { fakeRecording } from '../fake-recording.ts';
import { FakeFiles, Stage, type StageOptions } from '../stage.ts';

const json = (command: string, ...items: unknown[]): { status: number; body: string } => ({
  status: 200,
  body: JSON.stringify([2, command.split(' '), 1_795_220_600, ...items]),
});

/** The answer of `vcl.show -v`. */
const shownFiles = (files: Record<string, string>): { status: number; body: string } => ({
  status: 200,
  body: Object.entries(files)
    .map(([name, text], i) => `// VCL.SHOW ${i} ${Buffer.byteLength(text)} ${name}\n${text}\n`)
    .join(''),
});

const program = (name: string, status: string): object => ({
  status,
  state: 'auto',
  temperature: 'warm',
  busy: 0,
  name,
});
const parameter = (name: string, value: unknown, fallback: string): object => ({
  name,
  value,
  units: 'seconds',
  default: fallback,
  minimum: '0.000',
  description: `What ${name} means.`,
  flags: ['obj_sticky'],
});

/** An entry of the queue, or one that ended. */
const purge = (id: string, state: string, more: object): object => ({
  id,
  kind: 'delete',
  type: 'url',
  network: 'staging',
  target: `https://shop.example/${id}`,
  origin: `vxid 1${id}`,
  state,
  attempts: 0,
  added: 1_795_220_600_000,
  due: 1_795_220_600_000,
  detail: '',
  poll: '',
  ...more,
});

/** A node of the fleet, and an invalidation. */
const node = (name: string, more: object): object => ({
  node: name,
  self: false,
  state: 'current',
  seen: 1,
  version: '0.1.0',
  applied: 4713,
  lag: 0,
  lag_seconds: 0,
  worker: 'running',
  program: 'boot',
  requests: 120.4,
  hit_rate: 0.913,
  threads: 2,
  address: name,
  console: `${name}:6085`,
  listen: [`${name}:80`],
  ...more,
});
const invalidated = (seq: number | null, from: string, more: object): object => ({
  seq,
  at: 1_795_220_590 + (seq ?? 4714) - 4710,
  from,
  by: 'vxid 12',
  kind: 'keys',
  soft: false,
  subject: 'article-17',
  state: 'applied',
  problem: null,
  ...more,
});

const recording: Recording = ((): Recording => {
  const base = fakeRecording(40);
  return {
    ...base,
    commands: {
      ...base.commands,
      'backend.list -j -p': base.commands['backend.list -j'] as { status: number; body: string },
      'vcl.list -j': json('vcl.list -j', program('boot', 'active'), program('next', 'available')),
      'vcl.show -v boot': shownFiles({ '/etc/a.vcl': 'vcl 4.1;\nbackend a { .host = "::1"; }\n' }),
      'vcl.show -v next': shownFiles({ '/etc/a.vcl': 'vcl 4.1;\nbackend b { .host = "::1"; }\n' }),
      'vcl.use next': { status: 200, body: "VCL 'next' now active" },
      'param.show -j': json(
        'param.show -j',
        parameter('default_ttl', 33, '120.000'),
        parameter('default_grace', 10, '10.000'),
      ),
      'param.show -j default_ttl': json('param.show -j default_ttl', parameter('default_ttl', 33, '120.000')),
      'param.set default_ttl 44': { status: 200, body: '' },
      'param.set default_ttl 33': { status: 200, body: '' },
      'ban.list -j': json('ban.list -j', {
        time: 1_795_220_590,
        refs: 3,
        completed: false,
        spec: 'req.url ~ ^/x',
      }),
      'ban.count req.url == /y': { status: 200, body: '2 of 9 objects match.' },
      'ban req.url == /y': { status: 200, body: '' },
      'edge.status -j': json('edge.status -j', {
        provider: 'fake',
        configured: true,
        problem: null,
        paused: false,
        alarm: null,
        dryRun: false,
        recent: [
          purge('3', 'acked', { purgeId: 'fake-3', ended: 1_795_220_601_000 }),
          purge('2', 'acked', {
            purgeId: 'fake-2',
            ended: 1_795_220_600_500,
            attempts: 1,
          }),
        ],
        settings: { calls: '50' },
      }),
      'edge.queue -j': json('edge.queue -j', [purge('5', 'retry', { attempts: 2, detail: '503 Busy' })]),
      'edge.dead -j': json('edge.dead -j', [purge('4', 'dead', { attempts: 1, detail: '400 Bad request' })]),
      'edge.retry 4': { status: 200, body: '1\n' },
      'edge.retry all': { status: 200, body: '1\n' },
      'edge.pause': { status: 200, body: '' },
      'fleet.nodes -j': json(
        'fleet.nodes -j',
        node('web-1', { self: true }),
        node('web-2', { state: 'behind', applied: 4711, lag: 2, lag_seconds: 7 }),
        // Another version, which reports less.
        { node: 'web-3', self: false, state: 'silent', seen: 12, version: '0.2.0', applied: 4713, lag: 0 },
        node('web-4', { worker: 'stopped', console: null }),
      ),
      'fleet.log -j 100': json(
        'fleet.log -j',
        invalidated(4710, 'editor', {
          kind: null,
          by: '',
          subject: '',
          state: 'refused',
          problem: 'not JSON',
        }),
        invalidated(4711, 'web-1', { kind: 'purge', soft: true, subject: 'shop.example/news' }),
        invalidated(4712, 'web-3', {}),
        invalidated(4713, 'web-2', { subject: 'article-18' }),
        invalidated(null, 'web-1', { by: 'admin', state: 'unknown', problem: 'timeout for 5 s' }),
      ),
      'storage.list -j': json('storage.list -j', { name: 's0', storage: 'malloc' }),
      'panic.show': {
        status: 200,
        body: 'Panic at: Sat, 21 Nov 2026 00:23:20 GMT\nAssert error in lookup\nstack:\n  a\n',
      },
    },
  };
})();

/** Those that operators have; the quick tier draws one of them. */
const SIZES = (
  [
    [80, 24],
    [60, 20],
    [160, 45],
    [250, 70],
  ] as const
).slice(0, isFull ? 4 : 1);

let stage: Stage | null = null;

async function open(columns = 100, rows = 30, more: Partial<StageOptions> = {}): Promise<Stage> {
  stage = new Stage({ recording, columns, rows, ...more });
  await stage.play(30);
  return stage;
}

afterEach(() => {
  stage?.close();
  stage = null;
});

async function golden(s: Stage, name: string): Promise<void> {
  await expect(await s.screen()).toMatchFileSnapshot(`./golden/${name}.txt`);
}

describe('views', () => {
  it('are drawn at every size, in ASCII and without colour', async () => {
    const s = await open(60, 20, { theme: makeTheme('none', true) });
    for (const [columns, rows] of [
      [60, 20],
      [80, 24],
      [149, 40],
      [250, 80],
    ] as const) {
      await s.resize(columns, rows);
      for (const { key, title, short } of VIEWS) {
        await s.keys('1', key);
        const text = await s.screen();
        expect(text.split('\n').length).toBe(rows);
        const head = text.split('\n')[0] as string;
        expect(
          head.includes(`${key} ${title}`) || head.includes(`${key} ${short} `),
          `${head} of ${title}`,
        ).toBe(true);
        expect(text, `${title} at ${columns}x${rows}`).toMatch(/^[\x20-\x7e\n]+$/);
        expect(text).not.toMatch(/undefined|NaN|\[object/);
      }
    }
  });

  it.each(VIEWS.slice(3).map((view) => [view.name, view] as const))('%s', async (name, view) => {
    const s = await open();
    showView(s.c, view);
    await s.settle();
    await golden(s, `${name}-100x30`);
  });

  it.each(SIZES)('at %d columns and %d rows', async (columns, rows) => {
    const s = await open(columns, rows);
    for (const view of VIEWS) {
      showView(s.c, view);
      await s.settle();
      await golden(s, `${columns}x${rows}/${view.name}`);
    }
  });

  it('lists the largest objects of the cache', async () => {
    const objects = [
      { bytes: 5_000_000, hits: 12, age: 70, ttl: 3530, storage: 's0', host: 'shop.example', url: '/film' },
      { bytes: 900, hits: 0, age: 700, ttl: -100, storage: 's0', host: '', url: 'a key' },
    ];
    const body = JSON.stringify([2, ['storage.largest', '-j', '100'], 0, ...objects]);
    const commands = { ...recording.commands, 'storage.largest -j 100': { status: 200, body } };
    const s = await open(100, 30, { recording: { ...recording, commands } });
    await s.keys('8', 'L');
    await s.settle();
    expect(await s.screen()).toMatch(
      /Largest objects: 2[\s\S]*4\.8 MB +12 +1m10s +58m50s +shop\.example\/film[\s\S]*900 B? +0 +11m40s +expired +a key/,
    );
  });

  it('has the details beside the list on a wide screen, and the list has all rows', async () => {
    const s = await open();
    await s.resize(250, 70);
    await s.keys('4');
    await golden(s, 'backends-250x70');
    await s.resize(180, 45);
    await s.keys('9');
    await golden(s, 'top-180x45');
    // A click on the pane selects nothing.
    const before = s.c.view.spokenRow(s.c);
    s.c.view.click(s.c, { x: 170, y: 4 });
    expect(s.c.view.spokenRow(s.c)).toBe(before);
    await s.resize(169, 45);
    expect((await s.screen()).split('\n')[3]).not.toContain('URL /api');
    expect(await s.screen()).toMatch(/^╭─ URL \/api/m);
  });

  it('the edge network: dead letters first, what waits, what was taken last; retried by a key', async () => {
    const s = await open(140);
    await s.keys('@');
    const lines = (await s.screen()).split('\n');
    expect(lines[2]).toContain('fake active, 1 waiting, 1 dead letter, ');
    expect(lines[2]).toMatch(/\d+ of 50 calls left/);
    const rows = lines.filter((line) => line.includes('https://shop.example/'));
    expect(
      rows.map(
        (line) =>
          line
            .trim()
            .split(/\s{2,}|\s(?=\S+$)/)[0]
            ?.split(' ')[0],
      ),
    ).toEqual(['4', '5', '3', '2']);
    expect(rows[0]).toMatch(/dead .* 1 delete url .*400 Bad request/);
    expect(rows[2]).toMatch(/acked .* 0 delete url .*purge fake-3/);
    expect(rows[3]).toMatch(/acked .* 1 delete url .*purge fake-2/);
    await s.keys('R', 'a', 'P');
    expect(s.source.sent.filter((line) => /^edge\.(retry|pause|resume)/.test(line))).toEqual([
      'edge.retry 4',
      'edge.retry all',
      'edge.pause',
    ]);
    await golden(s, 'edge-140x30');
    // A finished one is neither resent nor forgotten.
    await s.keys('end', 'R');
    expect(await s.screen()).toContain('2 is acked: only dead letters can be retried');
    await s.keys('delete');
    expect(await s.screen()).toContain('2 is acked: only waiting operations and dead letters can be dropped');
    expect(s.c.ui.state.confirm).toBeNull();
  });

  it('the fleet: nodes with the progress of the last invalidations; Enter opens one of them', async () => {
    const s = await open(140);
    await s.keys('^');
    const shown = await s.screen();
    expect(shown).toContain('4 nodes, 2 not current; last article-17: perhaps stored');
    const line = (name: string): string =>
      shown.split('\n').find((text) => text.trimStart().startsWith(name)) ?? '';
    expect(line('web-1 (this)')).toMatch(/current +0 +▮▮▮▮ +boot +120 +91\.3% 0\.1\.0 +web-1:6085/);
    // The last one is its own, which it did before it published it.
    expect(line('web-2')).toMatch(/behind +2 +7s +▮▮▯▮/);
    expect(line('web-3')).toMatch(/silent +0 +▮▮▮▮ +0\.2\.0 +none/);
    expect(line('web-4')).toMatch(/stopped .*none/);
    await s.keys('enter');
    expect(await s.screen()).toContain('web-1 is already shown');
    await s.keys('j', 'enter');
    expect(await s.screen()).toContain(
      'web-2 at web-2:6085: no secret for it: give -S, or add it to the configuration file',
    );
    const met: string[] = [];
    const { instances } = s.c;
    instances.meet = (name, address) => {
      met.push(`${name} ${address}`);
      instances.add({ name, open: () => s.source });
      return '';
    };
    await s.keys('enter');
    expect(met).toEqual(['web-2 web-2:6085']);
    expect(await s.screen()).toContain('showing web-2');
    await s.keys('G', 'enter');
    expect(await s.screen()).toContain('web-4 has no --console');
  });

  it('of the fleet have titles, and are in the order of Tab, only where there is one', async () => {
    const alone = await open();
    expect(await alone.screen()).not.toMatch(/\^Flt|&Inv/);
    await alone.keys('%', 'tab');
    expect(await alone.screen()).toContain('1 Dash');
    await alone.keys('^');
    expect(await alone.screen()).toContain('^ Fleet');
    alone.close();
    const counter = {
      name: 'FLEET.connected',
      flag: 'g',
      format: 'i',
      level: 'info',
      description: '',
    } as const;
    const member = await open(100, 30, {
      recording: {
        ...recording,
        steps: recording.steps.map((step) =>
          step.kind === 'counters' ? { ...step, info: [...step.info, counter] } : step,
        ),
      },
    });
    expect(await member.screen()).toContain('^Flt &Inv');
    await member.keys('%', 'tab');
    expect(await member.screen()).toContain('^ Fleet');
  });

  it('what was invalidated in the fleet, and which nodes have not applied it', async () => {
    const s = await open(120);
    await s.keys('&');
    const rows = (await s.screen()).split('\n').filter((line) => /^ *\d\d:\d\d:\d\d/.test(line));
    expect(
      rows.map((line) =>
        line
          .trim()
          .split(/\s{2,}/)
          .at(-1),
      ),
    ).toEqual(['perhaps stored', '4 of 4', '3 of 4, not web-2', '4 of 4', 'refused']);
    expect(await s.screen()).toContain('1 in progress');
    await s.keys('j', 'j');
    await golden(s, 'invalidations-120x30');
  });

  it('filter, sort from the top, and keep the cursor on its row', async () => {
    const s = await open();
    await s.keys('6');
    await s.keys('o', 'O', 'j');
    expect(PARAMETERS_VIEW.selected(s.c)?.key).toBe('default_grace');
    await s.keys('/');
    await s.type('!grace');
    await s.keys('enter');
    expect(await s.screen()).toMatch(/\/!grace.* 1 of 2/);
    expect(PARAMETERS_VIEW.selected(s.c)?.key).toBe('default_ttl');
    await s.keys('escape');
    expect(await s.screen()).not.toContain('1 of 2');
    await s.keys('c');
    expect(PARAMETERS_VIEW.rows(s.c).map((r) => r.key)).toEqual(['default_ttl']);
  });

  it('copy a row, and export what the filter shows', async () => {
    const files = new FakeFiles();
    const s = await open(100, 30, { files });
    await s.keys('5');
    await s.keys('y');
    expect(s.copied).toEqual(['boot\tactive\tauto\twarm\t0\t']);
    await s.keys('X');
    await s.type('/tmp/p.json');
    await s.keys('enter');
    expect(files.files.get('/tmp/p.json')?.split('\n')[0]).toBe(
      '{"name":"boot","status":"active","state":"auto","target":""}',
    );
    await s.keys('2', 'X');
    showView(s.c, STATS_VIEW);
    await s.keys('X');
    await s.type('/tmp/s.txt');
    await s.keys('enter');
    expect(files.files.get('/tmp/s.txt')).toMatch(/^MGT\.uptime\t72\d\d\t/);
  });

  it('are not exported over a file without a question', async () => {
    const files = new FakeFiles();
    files.files.set('/tmp/p.txt', 'precious');
    const s = await open(100, 30, { files });
    await s.keys('5', 'X');
    await s.type('/tmp/p.txt');
    await s.keys('enter');
    expect(await s.screen()).toContain('/tmp/p.txt exists: overwrite? y/n');
    await s.keys('n');
    expect(await s.screen()).toContain('not done: export /tmp/p.txt');
    expect(files.files.get('/tmp/p.txt')).toBe('precious');
    submitLine(s.c, 'export /tmp/p.txt');
    await s.keys('y');
    expect(files.files.get('/tmp/p.txt')).toMatch(/^PROGRAM\t/);
  });

  it('rank by more than the URL, and over a window', async () => {
    const s = await open(100, 30, { recording: { ...recording, steps: fakeRecording(100).steps } });
    await s.keys('9');
    const title = async (): Promise<string> => (await s.screen()).split('\n')[2] ?? '';
    // Half of the last minute has been seen.
    expect(await title()).toMatch(/^ Top {2}by URL, [\d.]+% sampled, 93 requests since 00:23:21/);
    await s.keys('T');
    expect(await title()).toContain('by fragment, not requests, ');
    await s.keys('t', 't', 't');
    expect(await title()).toContain('by path prefix, ');
    expect((await s.screen()).split('\n')[4]).toMatch(/^ \/ /);
    await s.play(100);
    expect(await title()).toMatch(/[\d.]+% sampled, [\d,]+ requests, last minute /);
  });

  it('drill from the top into the log', async () => {
    const s = await open();
    await s.keys('9');
    const first = TOP_VIEW.selected(s.c)?.facts.key;
    await s.keys('enter');
    expect(s.c.view.name).toBe('log');
    expect(s.session.log.query).toBe(`ReqURL eq "${first}"`);
  });

  it('lead back with Escape to where Enter led from, through all views between', async () => {
    const s = await open();
    const at = async (...keys: string[]): Promise<string> => {
      await s.keys(...keys);
      return s.c.view.name;
    };
    showView(s.c, EVENTS_VIEW);
    openEvent(s.c, 'health');
    expect(await at()).toBe('backends');
    // A filter is taken away first.
    await s.keys('/');
    await s.type('boot');
    expect([await at('enter', 'escape'), await at('escape')]).toEqual(['backends', 'events']);
    openPanel(s.c, 'latency');
    openEvent(s.c, 'hit-rate');
    expect(await at('enter')).toBe('log');
    expect([await at('escape'), await at('escape'), await at('escape')]).toEqual([
      'causes',
      'latency',
      'events',
    ]);
    expect(await at('escape')).toBe('events');
    // A key of a view starts over.
    openPanel(s.c, 'latency');
    expect([await at('5'), await at('escape')]).toEqual(['programs', 'programs']);
  });
});

describe('changes', () => {
  it('of a parameter are checked, logged and undone', async () => {
    const s = await open();
    await s.keys('6');
    await s.keys('s', 'ctrl+u');
    await s.type('many');
    await s.keys('enter');
    expect(await s.screen()).toContain('seconds, as 1.5 or 90');
    await s.keys('ctrl+u');
    await s.type('44');
    await s.keys('enter');
    await s.settle();
    expect(s.source.sent).toContain('param.set default_ttl 44');
    expect(await s.screen()).toContain('U undoes  done: param.set default_ttl 44');
    await s.keys('U');
    expect(await s.screen()).toContain('undo "param.set default_ttl 44" by "param.set default_ttl 33"? y/n');
    await s.keys('y');
    await s.settle();
    expect(s.source.sent).toContain('param.set default_ttl 33');
    await s.keys('A');
    expect(await s.screen()).toMatch(/param\.set default_ttl 44 {2}\(undone\)/);
  });

  it('of the program are shown before it is used', async () => {
    const s = await open();
    await s.keys('5');
    await s.keys('j', 'u');
    await s.settle();
    const text = await s.screen();
    expect(text).toContain('use next instead of boot? y/n');
    expect(text).toMatch(/2 - backend a[\s\S]*2 \+ backend b/);
    expect(s.source.sent).not.toContain('vcl.use next');
    await s.keys('y');
    await s.settle();
    expect(s.source.sent).toContain('vcl.use next');
    expect(s.c.ui.state.actions[0]?.undo).toBe('vcl.use boot');
  });

  it('of a file that the program includes are shown under its name', async () => {
    const main = { '/etc/main.vcl': 'vcl 4.1;\ninclude "rules.vcl";\n' };
    const commands = {
      ...recording.commands,
      'vcl.show -v boot': shownFiles({ ...main, '/etc/rules.vcl': 'sub é { }\n', '/etc/old.vcl': '# o\n' }),
      'vcl.show -v next': shownFiles({ ...main, '/etc/rules.vcl': 'sub è { }\n', '/etc/more.vcl': '# m\n' }),
    };
    const s = await open(100, 30, { recording: { ...recording, commands } });
    await s.keys('5');
    await s.keys('j', 'u');
    await s.settle();
    const text = await s.screen();
    expect(text).not.toContain('No difference');
    expect(text).toMatch(
      /\/etc\/rules\.vcl[\s\S]*- sub é[\s\S]*\+ sub è[\s\S]*\/etc\/more\.vcl: only in next[\s\S]*\+ # m[\s\S]*\/etc\/old\.vcl: only in boot[\s\S]*- # o[\s\S]*The same in 1 file\./,
    );
  });

  it('of the program are not made when it does not compile: the words stand at their place', async () => {
    const files = new FakeFiles();
    files.files.set('/etc/bad.vcl', 'vcl 4.1;\nsub vcl_recv {\n  set req.http.x = ;\n}\n');
    const failing: Recording = {
      ...recording,
      commands: {
        ...recording.commands,
        [`vcl.inline bad << END_OF_PROGRAM\n${files.files.get('/etc/bad.vcl')}END_OF_PROGRAM`]: {
          status: 106,
          body: "Message from VCC-compiler:\nExpected a value got ';'\n('<vcl.inline>' Line 3 Pos 20)\n  set req.http.x = ;\n-------------------#-\n\nRunning VCC-compiler failed, exited with 2\nVCL compilation failed",
        },
      },
    };
    const s = await open(100, 30, { files, recording: failing });
    await s.keys('5');
    await s.keys('l');
    await s.type('/etc/b');
    await s.keys('tab', 'enter');
    await s.settle();
    const lines = (await s.screen()).split('\n');
    const at = lines.findIndex((l) => l.includes('set req.http.x = ;'));
    expect(lines[at + 1]).toContain("^ Expected a value got ';'");
    expect(lines[at + 1]?.indexOf('^')).toBe(lines[at]?.indexOf(';'));
    expect(s.c.ui.state.confirm).toBeNull();
  });

  it('of the program are not made when an included file does not compile: its line is shown', async () => {
    const files = new FakeFiles();
    files.files.set('/etc/bad.vcl', 'vcl 4.1;\ninclude "/srv/inc.vcl";\n');
    const commands = {
      ...recording.commands,
      [`vcl.inline bad << END_OF_PROGRAM\n${files.files.get('/etc/bad.vcl')}END_OF_PROGRAM`]: {
        status: 106,
        body: "Message from VCC-compiler:\nNo such thing\n('/srv/inc.vcl' Line 7 Pos 3)\n  set x;\n--#-----\nIncluded from: ('<vcl.inline>' Line 2 Pos 9)\n\nRunning VCC-compiler failed, exited with 2\nVCL compilation failed",
      },
    };
    const s = await open(100, 30, { files, recording: { ...recording, commands } });
    await s.keys('5');
    await s.keys('l');
    await s.type('/etc/bad.vcl');
    await s.keys('enter');
    await s.settle();
    expect(await s.screen()).toMatch(
      /\/srv\/inc\.vcl {2}included from \/etc\/bad\.vcl line 2[\s\S]*source is not available here[\s\S]* 7 {3}set x;[\s\S]* \^ No such thing/,
    );
  });

  it('of the check are shown in the files that they are about', async () => {
    const files = new FakeFiles();
    files.files.set('/etc/main.vcl', 'vcl 4.1;\ninclude "/etc/inc.vcl";\n');
    files.files.set('/etc/inc.vcl', '# first\nset x;\n');
    files.findings = [
      {
        severity: 'warning',
        message: 'never',
        rule: 'r',
        file: '/etc/inc.vcl',
        line: 2,
        column: 5,
        endColumn: 5,
        source: 'set x;',
        includedFrom: [{ file: '/etc/main.vcl', line: 2 }],
      },
    ];
    const s = await open(100, 30, { files });
    await s.keys('5');
    await s.keys('L');
    await s.type('/etc/main.vcl');
    await s.keys('enter');
    await s.settle();
    expect(await s.screen()).toMatch(
      /\/etc\/inc\.vcl {2}included from \/etc\/main\.vcl line 2[\s\S]* 2 set x;[\s\S]* {5}\^ warning: never \[r\]/,
    );
  });

  it('of the program are tried on the log before it is loaded', async () => {
    const line = 'vcl.try trial "/etc/next.vcl"';
    const body = '120 requests, 3 decided otherwise\nGET /basket  hit > pass\n';
    const commands = { ...recording.commands, [line]: { status: 200, body } };
    const s = await open(100, 30, { recording: { ...recording, commands } });
    await s.keys('5', 'T');
    await s.type('/etc/next.vcl');
    await s.keys('enter');
    await s.settle();
    expect(await s.screen()).toMatch(
      /next\.vcl: trial[\s\S]*120 requests, 3 decided otherwise[\s\S]*hit > pass/,
    );
    expect(s.c.ui.state.running).toBeNull();
  });

  it('are not what a trial from the command line is: its answer is shown whole, and it is no change', async () => {
    const line = 'vcl.try trial /etc/next.vcl';
    const body = '120 requests, 3 decided otherwise\nGET /basket  hit > pass\n';
    const load = 'vcl.load next /etc/next.vcl';
    const loaded = `VCL compiled.\n${'a remark on it. '.repeat(5)}\nthe last remark\n`;
    const commands = {
      ...recording.commands,
      [line]: { status: 200, body },
      [load]: { status: 200, body: loaded },
    };
    const s = await open(100, 30, { recording: { ...recording, commands } });
    await s.keys(':');
    await s.type(line);
    await s.keys('enter');
    await s.settle();
    expect(await s.screen()).toMatch(
      /vcl\.try trial \/etc[\s\S]*120 requests, 3 decided otherwise[ │]*\n[\s\S]*hit > pass/,
    );
    expect(s.c.ui.state.actions).toEqual([]);
    // Nor is the long answer to a change cut.
    await s.keys('escape', ':');
    await s.type(load);
    await s.keys('enter');
    await s.settle();
    expect(await s.screen()).toMatch(/VCL compiled\.[\s\S]*\n[^\n]*the last remark/);
    expect(s.c.ui.state.actions.map((action) => action.line)).toEqual([load]);
  });

  it('by a ban are counted first', async () => {
    const s = await open();
    await s.keys('7');
    await s.keys('b');
    await s.type('req.url == /y');
    await s.keys('enter');
    await s.settle();
    expect(await s.screen()).toMatch(/ban req\.url == \/y[\s\S]* 2 of 9 objects match\. Ban them\? y\/n/);
    await s.keys('n');
    expect(s.source.sent).not.toContain('ban req.url == /y');
    await s.keys('b');
    await s.type('req.url == /y');
    await s.keys('enter');
    await s.settle();
    await s.keys('y');
    await s.settle();
    expect(s.source.sent).toContain('ban req.url == /y');
  });

  it.each([
    ['D', 'select another one to compare with it'],
    ['delete', 'use another one first'],
  ])('of the active program are not begun in vain by %s', async (key, words) => {
    const s = await open();
    await s.keys('5', '/');
    await s.type('active');
    await s.keys('enter');
    const before = s.source.sent.length;
    await s.keys(key);
    expect(await s.screen()).toMatch(new RegExp(`is the active program: ${words}`));
    expect(s.c.ui.state.confirm).toBeNull();
    expect(s.source.sent.slice(before).filter((line) => !line.includes('-j'))).toEqual([]);
  });

  it('of a backend are asked for', async () => {
    const s = await open();
    await s.keys('4');
    await s.keys('s');
    // Where the question has no room for them, the clauses are in a panel.
    const screen = await s.screen();
    expect(screen).toMatch(/│ it gets [\d.]+ requests\/s now +│\s+│ no director has another backend +│/);
    expect(screen).toMatch(/Confirm backend\.set_health boot\.\w+ sick\? y\/n/);
    await s.keys('y');
    await s.settle();
    expect(s.source.sent.some((line) => line.startsWith('backend.set_health boot.'))).toBe(true);
  });

  it('are not to be had when read-only', async () => {
    const s = await open(100, 30, { readonly: true });
    const before = s.source.sent.length;
    for (const [view, keys] of [
      ['4', 'sha'],
      ['5', 'ulsu'],
      ['6', 's'],
      ['7', 'bBtp'],
      ['9', 'pb'],
      ['!', ''],
    ] as const)
      await s.keys('1', view, ...keys, 'delete', 'escape');
    await s.keys('U');
    await s.settle();
    const sent = s.source.sent
      .slice(before)
      .filter(
        (l) => !/^(backend\.list|vcl\.(list|deps|show)|param\.show|ban\.list|panic\.show|storage)/.test(l),
      );
    expect(sent).toEqual([]);
    expect(await s.screen()).toContain('read-only');
  });
});

describe('the mouse', () => {
  /** Clicks on the first place of this text, in the row that holds it. */
  async function on(s: Stage, text: string): Promise<void> {
    const rows = (await s.screen()).split('\n');
    const y = rows.findIndex((row) => row.includes(text));
    expect(y, text).toBeGreaterThanOrEqual(0);
    click(s.c, { x: (rows[y] as string).indexOf(text), y });
    await s.settle();
  }

  it('shows a view, selects, sorts and opens', async () => {
    const s = await open(100, 30);
    await on(s, '6Par');
    expect(s.c.view.name).toBe('parameters');
    await on(s, 'VALUE');
    expect(s.c.ui.stateOf(PARAMETERS_VIEW.state)).toMatchObject({ sort: 1, descending: false });
    expect(PARAMETERS_VIEW.selected(s.c)?.key).toBe('default_grace');
    await on(s, 'default_ttl');
    expect([PARAMETERS_VIEW.selected(s.c)?.key, s.c.ui.state.field]).toEqual(['default_ttl', null]);
    await on(s, 'default_ttl');
    expect(s.c.ui.state.field?.prompt?.subject).toBe('default_ttl');
    // An open one is neither clicked away nor answered.
    await on(s, '1Dash');
    expect(s.c.view.name).toBe('parameters');
  });

  it('knows rows of the log and of the statistics, and the panels of the dashboard', async () => {
    const s = await open(100, 30);
    await on(s, 'Last errors');
    await on(s, 'Last errors');
    expect([s.c.view.name, s.session.log.query]).toEqual(['log', 'RespStatus >= 500']);
    await s.keys('3');
    await on(s, 'MAIN.client_req');
    expect(s.c.ui.stateOf(STAT_STATE).selected).toBe('MAIN.client_req');
    await on(s, 'MAIN.client_req');
    expect(s.c.view.name).toBe('log');
    applyQuery(s.c, '');
    await s.play(48);
    const rows = (await s.screen()).split('\n');
    click(s.c, { x: 12, y: 8 });
    await s.settle();
    const { selected } = s.c.ui.stateOf(LOG_STATE);
    click(s.c, { x: 12, y: 6 });
    await s.settle();
    expect([
      rows.length,
      s.c.ui.stateOf(LOG_STATE).follow,
      selected - s.c.ui.stateOf(LOG_STATE).selected,
    ]).toEqual([30, false, 2]);
  });
});

describe('the subjects of the dashboard, the counters and the latencies', () => {
  it('is one key away', async () => {
    const s = await open(120, 40);
    await s.keys('right');
    expect(await s.screen()).toMatch(/─ ▸ Requests ─/);
    await s.keys('left', 'left', 'enter');
    expect(s.c.view.name).toBe('top');
    expect(await s.screen()).toContain('by misses, highest first');
    await s.keys('0', 'enter');
    expect([s.c.view.name, s.session.log.query]).toEqual([
      'log',
      expect.stringMatching(/^Timestamp:Process\[2\] > [\d.]+$/),
    ]);
    await s.keys('1', '/');
    expect([s.c.view.name, s.c.ui.state.field?.kind]).toEqual(['log', 'query']);
  });

  it('is sorted as one likes, and shown from the top', async () => {
    const s = await open(100, 30);
    await s.keys('3', 'end');
    expect(await s.screen()).toMatch(/ \d+ above {2}\d+-/);
    await s.keys('o', 'o', 'o');
    expect(await s.screen()).toMatch(/ \d+ below {2}1-/);
    await s.keys('end', 'O');
    expect(await s.screen()).toMatch(/ \d+ below {2}1-/);
    await s.keys('O');
    const values = (await s.screen())
      .split('\n')
      .flatMap(
        (row) => /^ (?:MAIN|SMA|MGT|VBE)\.\S+ +\S+ +(-?[\d.]+)$/.exec(row.slice(0, 58).trimEnd())?.[1] ?? [],
      );
    expect(values.length).toBeGreaterThan(5);
    expect(values.map(Number)).toEqual(values.map(Number).sort((a, b) => b - a));
  });
});
