// Editing a program's source: files edited, checked and loaded, and edits kept after errors.
import { afterEach, expect, it } from 'vitest';
import type { Recording } from '../../../console/model/session/recording.ts';
import { fakeRecording } from '../fake-recording.ts';
import { FakeFiles, Stage, type StageOptions } from '../stage.ts';

const SOURCE = 'vcl 4.1;\ninclude "/etc/part.vcl";\n';
const PART = 'backend a { .host = "::1"; }\n';
const BUILTIN = 'sub vcl_recv { }\n';

function shown(files: Record<string, string>): { status: number; body: string } {
  const parts = Object.entries(files).map(
    ([name, text], i) => `// VCL.SHOW ${i} ${Buffer.byteLength(text)} ${name}\n${text}\n`,
  );
  return { status: 200, body: parts.join('') };
}

const list = (...names: string[]) => ({
  status: 200,
  body: JSON.stringify([
    2,
    ['vcl.list', '-j'],
    1,
    ...names.map((name, i) => ({
      name,
      status: i === 0 ? 'active' : 'available',
      state: 'auto',
      temperature: 'warm',
      busy: 0,
    })),
  ]),
});

function recordingOf(files: Record<string, string>, more: Recording['commands'] = {}): Recording {
  const base = fakeRecording(2);
  const commands = {
    ...base.commands,
    'vcl.list -j': list('boot'),
    'vcl.show -v boot': shown({ ...files, '<builtin>': BUILTIN }),
    ...more,
  };
  return { ...base, commands };
}

let stage: Stage | null = null;

async function open(recording: Recording, more: Partial<StageOptions> = {}): Promise<Stage> {
  stage = new Stage({ recording, columns: 100, rows: 30, ...more });
  await stage.play(2);
  await stage.keys('5');
  return stage;
}

async function settled(s: Stage): Promise<void> {
  for (let n = 0; n < 5; n++) await s.settle();
}

const changes = (s: Stage): string[] => s.source.sent.filter((line) => /^vcl\.(load|inline|use)/.test(line));

afterEach(() => {
  stage?.close();
  stage = null;
});

it('a text that is nowhere here is edited as a copy, loaded inline, compared, and used after a yes', async () => {
  const text = 'vcl 4.1;\nbackend b { .host = "::1"; }\n';
  const inline = `vcl.inline boot_2 << END_OF_PROGRAM\n${text}END_OF_PROGRAM`;
  const files = new FakeFiles();
  const edited: string[] = [];
  const s = await open(
    recordingOf(
      { '<vcl.inline>': PART },
      {
        [inline]: { status: 200, body: '' },
        'vcl.show -v boot_2': shown({ '<vcl.inline>': text, '<builtin>': BUILTIN }),
      },
    ),
    {
      files,
      onEdit: (path) => {
        edited.push(`${path}: ${files.files.get(path)}`);
        files.files.set(path, text);
        return Promise.resolve(0);
      },
    },
  );
  await s.keys('e');
  await settled(s);
  expect(edited).toEqual([`/copy/boot.vcl: ${PART}`]);
  expect(changes(s)).toEqual([inline]);
  const screen = await s.screen();
  expect(screen).toMatch(/Changes from boot to boot_2[\s\S]*\+ backend b[\s\S]*The same in 1 file/);
  expect(screen).toContain('use boot_2 instead of boot? y/n');
  expect(files.files.size).toBe(0);
});

it('the end of a long line can be seen while it is asked whether to use it', async () => {
  const text = `vcl 4.1;\nbackend b { .host = "::1"; .host_header = "${'x'.repeat(70)}.the-end"; }\n`;
  const files = new FakeFiles();
  const s = await open(
    recordingOf(
      { '<vcl.inline>': PART },
      {
        [`vcl.inline boot_2 << END_OF_PROGRAM\n${text}END_OF_PROGRAM`]: { status: 200, body: '' },
        'vcl.show -v boot_2': shown({ '<vcl.inline>': text, '<builtin>': BUILTIN }),
      },
    ),
    {
      files,
      onEdit: (path) => {
        files.files.set(path, text);
        return Promise.resolve(0);
      },
    },
  );
  await s.keys('e');
  await settled(s);
  const before = await s.screen();
  expect(before).toContain('{ } sideways');
  expect(before).not.toContain('the-end');
  await s.keys('}', '}', 'right');
  const moved = await s.screen();
  expect(moved).toMatch(/ 2 \+ .*the-end"; \}/);
  expect(moved).toContain('use boot_2 instead of boot? y/n');
  await s.keys('{', '{', 'left');
  expect(await s.screen()).toBe(before);
});

it('what does not compile is shown at its place and can be edited again; a no says where it is', async () => {
  const files = new FakeFiles();
  let edits = 0;
  const s = await open(
    recordingOf(
      { '<vcl.inline>': PART },
      {
        'vcl.inline boot_2 << END_OF_PROGRAM\nbad\nEND_OF_PROGRAM': {
          status: 106,
          body: "Message from VCC-compiler:\nExpected 'vcl'\n('<vcl.inline>' Line 1 Pos 1)\nbad\n###\n",
        },
      },
    ),
    {
      files,
      onEdit: (path) => {
        edits++;
        files.files.set(path, 'bad\n');
        return Promise.resolve(0);
      },
    },
  );
  await s.keys('e');
  await settled(s);
  expect(await s.screen()).toMatch(
    /1 bad[\s\S]*\^\^\^ Expected 'vcl'[\s\S]*edit again\? The file is \/copy\/boot\.vcl/,
  );
  await s.keys('y');
  await settled(s);
  expect(edits).toBe(2);
  await s.keys('n');
  expect(await s.screen()).toContain('not done: load the edited /copy/boot.vcl');
  expect(files.files.get('/copy/boot.vcl')).toBe('bad\n');
});

it('files that are here are edited where they are, an included one too, and checked before they are loaded', async () => {
  const files = new FakeFiles();
  files.files.set('/etc/main.vcl', SOURCE).set('/etc/part.vcl', PART);
  const s = await open(recordingOf({ '/etc/main.vcl': SOURCE, '/etc/part.vcl': PART }), {
    files,
    onEdit: (path) => {
      files.files.set(path, `${files.files.get(path)}# more\n`);
      return Promise.resolve(0);
    },
  });
  Object.defineProperty(s.source, 'local', { value: true });
  await s.keys('e');
  await settled(s);
  expect(await s.screen()).toMatch(/\/etc\/main\.vcl +the program[\s\S]*\/etc\/part\.vcl +included/);
  expect(await s.screen()).not.toContain('<builtin>');
  const place = { line: 1, column: 1, endColumn: 2, source: PART.trim(), includedFrom: [] };
  files.findings = [{ severity: 'error', rule: 'x', message: 'Broken', file: '/etc/part.vcl', ...place }];
  await s.keys('down', 'enter');
  await settled(s);
  expect(await s.screen()).toMatch(/\/etc\/part\.vcl[\s\S]*Broken[\s\S]*edit again\?/);
  expect(changes(s)).toEqual([]);
  files.findings = [];
  await s.keys('y');
  await settled(s);
  expect(changes(s)).toEqual(['vcl.load boot_2 "/etc/main.vcl"']);
});

it('nothing is loaded when nothing was changed, or the editor failed, or it is read-only', async () => {
  const files = new FakeFiles();
  const endings: (number | string)[] = [0, 1, 'ed not found: set EDITOR'];
  const s = await open(recordingOf({ '<vcl.inline>': PART }), {
    files,
    onEdit: () => Promise.resolve(endings.shift() ?? 0),
  });
  for (const output of ['unchanged', 'the editor ended with status 1; nothing is loaded', 'set EDITOR']) {
    await s.keys('e');
    await settled(s);
    expect(await s.screen()).toContain(output);
  }
  s.c.ui.set({ readonly: true });
  await s.keys('e');
  expect(await s.screen()).toContain('read-only: an edited program could not be loaded');
  expect(changes(s)).toEqual([]);
});
