import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { OptionError } from '../../../daemon/manager/options/option-error.ts';
import { runInitFile } from '../../../daemon/manager/start-files.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'proxyd-init-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** The commands that ran, the notes, and why it ended. */
async function play(text: string) {
  const file = join(dir, 'init');
  writeFileSync(file, text);
  const ran: string[] = [];
  const notes: string[] = [];
  const run = async (line: string) => {
    ran.push(line);
    if (line === 'quit') return { status: 500, body: 'Closing CLI connection' };
    if (line === 'long') return { status: 201, body: 'half an ans' };
    return line.startsWith('bad') ? { status: 106, body: 'No such thing' } : { status: 200, body: '' };
  };
  const error = await runInitFile(file, run, (note) => notes.push(note.replace(file, 'FILE'))).then(
    () => null,
    (cause: unknown) => (cause instanceof OptionError ? cause.message : 'thrown'),
  );
  return { ran, notes, error };
}

it('runs the commands in order, here-documents, blank lines and forgiven failures among them', async () => {
  expect(await play('one\r\n\n-bad x\n- bad y\nvcl.inline a << E\nvcl 4.1;\nE\nlong\nlast\n')).toEqual({
    ran: ['one', 'bad x', ' bad y', 'vcl.inline a << E\nvcl 4.1;\nE', 'long', 'last'],
    notes: [
      '-I FILE: one -> 200',
      '-I FILE: -bad x -> 106',
      '-I FILE: - bad y -> 200',
      '-I FILE: vcl.inline a << E -> 200',
      '-I FILE: long -> 201',
      '-I FILE: last -> 200',
    ],
    error: null,
  });
});

it.each([
  ['bad x\nnever', ['bad x'], '-I file CLI command failed (106)\n> bad x\nNo such thing'],
  ['one\nquit\nnever\n', ['one', 'quit'], '-I file CLI command failed (500)\n> quit\nClosing CLI connection'],
])('ends with the first failure: %j', async (text, ran, error) => {
  expect(await play(text)).toMatchObject({ ran, error });
});

it('reports why a file cannot be read', async () => {
  const file = join(dir, 'nosuch');
  await expect(
    runInitFile(
      file,
      async () => ({ status: 200, body: '' }),
      () => {},
    ),
  ).rejects.toThrow(`Can't open -I file ${file}: No such file or directory`);
});
