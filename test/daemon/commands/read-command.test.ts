import { describe, expect, it } from 'vitest';
import { readCommand, wordProblem } from '../../../daemon/commands/read-command.ts';
import { parseCommand } from '../../../protocol/cli-quoting.ts';
import { COMMANDS, commandRow, STATE } from '../../../protocol/tables/commands.ts';

function read(line: string): unknown {
  const words = parseCommand(line);
  if (!Array.isArray(words)) throw words;
  const row = commandRow(words[0] as string);
  if (row === undefined) throw new Error(`no row: ${line}`);
  const call = readCommand(row, words);
  return 'status' in call ? `${call.status} ${call.body}` : [call.options, ...call.args];
}

describe('a row', () => {
  it.each([
    ['backend.list [-j] [-p] [<backend_pattern>]', 0, 2],
    ['ban <field> <operator> <arg> [&& <field> <oper> <arg> ...]', 3, -1],
    ['debug.xid [<xid> [<cachesize>]]', 0, 2],
    ['help [-j|<command>]', 0, 1],
    ['panic.clear [-z]', 0, 1],
    ['param.show [-l|-j] [<param>|changed|<text>]', 0, 2],
    ['vcl.discard <name_pattern>...', 1, -1],
    ['vcl.load <configname> <filename> [auto|cold|warm]', 2, 3],
    ['vcl.state <configname> [auto|cold|warm]', 2, 2],
  ])('%s', (syntax, min, max) => {
    const row = COMMANDS.find((r) => r.syntax === syntax);
    expect([row?.min, row?.max]).toEqual([min, max]);
  });
});

describe('a line', () => {
  it.each([
    ['vcl.list', ['']],
    ['vcl.list -j', ['j']],
    ['backend.list -pj x', ['pj', 'x']],
    ['backend.list -j -p', ['jp']],
    ['vcl.show -v boot', ['v', 'boot']],
    ['vcl.show -v -v', ['v', '-v']],
    ['vcl.show -x', ['', '-x']],
    ['ban "obj.status == 200 && req.url ~ a"', ['', 'obj.status', '==', '200', '&&', 'req.url', '~', 'a']],
    ['ban obj.http.x == "a b"', ['', 'obj.http.x', '==', 'a b']],
    ['ban.count -j obj.http.x == -j', ['j', 'obj.http.x', '==', '-j']],
    ['backend.set_health x SICK', ['', 'x', 'SICK']],
    // Its state is wrong; that is found out when the name is known to be right.
    ['vcl.state x odd', ['', 'x', 'odd']],
  ])('%s', (line, expected) => {
    expect(read(line)).toEqual(expected);
  });

  it.each([
    ['vcl.use -j x', '102 JSON unimplemented\n'],
    ['vcl.use', '104 Too few parameters\n'],
    ['vcl.use a b', '105 Too many parameters\n'],
    ['backend.list -px', '106 Invalid flag x'],
    ['backend.list a b', '106 Too many arguments'],
    ['backend.set_health x ill', '106 Invalid state ill'],
    ['debug.xid -1', '106 Not a transaction id'],
    ['debug.xid 1073741824', '106 Not a transaction id'],
    ['panic.clear -x', '106 Unknown parameter "-x".'],
    ['param.show a b', '105 Too many parameters'],
    ['param.show -l a b', '105 Too many parameters\n'],
    ['param.show -j -l', '106 -l not permitted with param.show -j'],
    ['vcl.show a b', "106 Too many parameters: 'b'"],
  ])('%s: %s', (line, expected) => {
    expect(read(line)).toBe(expected);
  });
});

it('finds a word that is none of the choices', () => {
  expect(wordProblem(STATE, 'warm')).toBeNull();
  expect(wordProblem(STATE, 'WARM')).toBe('State must be one of auto, cold or warm.');
});

describe('options with values', () => {
  function values(line: string): unknown {
    const words = parseCommand(line);
    if (!Array.isArray(words)) throw words;
    const row = commandRow(words[0] as string);
    const call = row === undefined ? null : readCommand(row, words);
    return call !== null && 'values' in call ? call.values : call;
  }

  it('may stand anywhere after the name', () => {
    expect(read('tls.cert.load a b -d -f web')).toEqual(['d', 'a', 'b']);
    expect(values('tls.cert.load a b -d -f web')).toEqual({ f: 'web' });
    expect(read('tls.cert.load -o -k k a -d')).toEqual(['od', 'a']);
    expect(values('tls.cert.load -o -k -d a -p "TLSv1.2, TLSv1.3"')).toEqual({
      k: '-d',
      p: 'TLSv1.2, TLSv1.3',
    });
    expect(read('tls.cert.load -d -- -x')).toEqual(['d', '-x']);
    expect(read('tls.cert.list -s -j')).toEqual(['sj']);
    expect(read('tls.cert.list -j -s')).toEqual(['js']);
  });

  it.each([
    ['tls.cert.load', '104 Too few parameters\n'],
    ['tls.cert.load -d -o', '104 Too few parameters\n'],
    ['tls.cert.load a b c', '105 Too many parameters\n'],
    ['tls.cert.load a -x', '300 Unknown TLS option: -x'],
    ['tls.cert.load a -toString', '300 Unknown TLS option: -toString'],
    ['tls.cert.load a -k', '300 No value specified for: -k'],
    ['tls.cert.load a -k 1 -k 2', '106 -k is given twice'],
    ['tls.cert.load a -d -d', '106 -d is given twice'],
    ['tls.cert.load -j a', '102 JSON unimplemented\n'],
    ['tls.cert.list -x', '106 Unknown option: -x'],
    ['tls.cert.list a', '105 Too many parameters\n'],
    ['tls.cert.commit -x', '105 Too many parameters\n'],
  ])('%s', (line, problem) => {
    expect(read(line)).toBe(problem);
  });
});
