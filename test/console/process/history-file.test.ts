import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { EMPTY_RECALL, remember } from '../../../console/model/ui/line-editor.ts';
import { HistoryFile, historyPath } from '../../../console/process/history-file.ts';

let folder = '';
let path = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'history-'));
  path = join(folder, 'state', 'console-history');
});

afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true });
});

const session = () => {
  const file = new HistoryFile(path);
  let state = file.load();
  return {
    state,
    types: (name: 'commands' | 'queries', text: string) => {
      state = { ...state, [name]: remember(state[name], text) };
      file.keep(state);
      // Any other change of the interface.
      file.keep(state);
    },
  };
};

it('what is typed is there in the next session, and readable by its owner alone', () => {
  const first = session();
  expect(first.state.commands).toEqual(EMPTY_RECALL);
  first.types('commands', 'param.show');
  first.types('queries', 'RespStatus >= 500');
  first.types('commands', 'x'.repeat(3000));
  first.types('commands', 'vcl.list');
  const next = session();
  expect(next.state.commands.entries).toEqual(['param.show', 'vcl.list']);
  expect(next.state.queries.entries).toEqual(['RespStatus >= 500']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('two sessions at once lose none of each other’s lines', () => {
  const one = session();
  const other = session();
  one.types('commands', 'a');
  other.types('commands', 'b');
  one.types('commands', 'c');
  expect(session().state.commands.entries).toEqual(['a', 'b', 'c']);
});

it('a long file is shortened to what is kept, and nonsense in it is passed over', () => {
  session().types('commands', 'first');
  const line = `${JSON.stringify(['commands', 'y'.repeat(1000)])}\n${JSON.stringify(['commands', 'z'])}\n`;
  writeFileSync(path, `nonsense\n[1,2]\n["keys","a"]\nnull\n${line.repeat(400)}`);
  expect(session().state.commands.entries).toHaveLength(200);
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(201);
});

it('a file that cannot be written costs nothing', () => {
  writeFileSync(join(folder, 'state'), '');
  const one = session();
  one.types('commands', 'a');
  expect(session().state.commands.entries).toEqual([]);
});

it('is kept where the state of programs belongs', () => {
  expect(historyPath({ XDG_STATE_HOME: '/s' })).toBe('/s/proxyd/console-history');
});
