// The command lines of all tools beside Varnish's: the same exit status, output on the same stream, and the same first
// line where that is a mistake's; and the same letters. Known differences are named in the cases themselves.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProgram, PATIENCE } from '../harness/processes.ts';
import { ROOT } from '../harness/proxy.ts';

const found = findProgram('varnishd') !== null;
if (!found) console.warn('command lines: not compared, no varnishd');

const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  bin: Record<string, string>;
};

interface Said {
  code: number | null;
  /** Whether there is any. */
  out: boolean;
  /** The first line, where it is one about the arguments. */
  err: string;
}

function say(command: string, lead: readonly string[], args: readonly string[]): Said {
  const end = spawnSync(command, [...lead, ...args], { encoding: 'utf8', input: '', timeout: PATIENCE });
  const first = end.stderr.split('\n')[0] ?? '';
  return {
    code: end.status,
    out: end.stdout !== '',
    err: first
      .replaceAll('varnish', 'proxy')
      .replace(/^(proxy\w+ \(proxy)d?-.*/, '$1)')
      .replace(/^(Usage: proxy\w+).*/, '$1'),
  };
}

const theirs = (name: string, args: readonly string[]): Said => say(`varnish${name}`, [], args);
const ours = (name: string, args: readonly string[]): Said =>
  say(process.execPath, [join(ROOT, bin[`proxy${name}`] as string)], args);

const LOG_TOOLS = ['log', 'ncsa', 'top', 'hist'];

/** Without a daemon: -n names a place where none is, and -t 0 waits for none. */
const NOWHERE = ['-t', '0', '-n', '/nonexistent/dir'];

describe.skipIf(!found)('the tools of the log', () => {
  const cases: string[][] = [
    ['-h'],
    ['-V'],
    ['-hV'],
    ['-Vh'],
    ['-h', 'extra'],
    ['extra', '-V'],
    ['-V', '-Z'],
    ['-h', '-Z'],
    ['-hn'],
    ['-t', 'off', '-h'],
    ['-?'],
    ['-Z'],
    ['-Z', '-h'],
    ['-CZ', '-h'],
    ['-CCZ'],
    ['-5'],
    ['extra', '-Z'],
    ['-n'],
    ['-Cn'],
    ['-t'],
    ['-tx'],
    ['-t', 'x', '-Z'],
    ['-Z', '-t', 'x'],
    ['-t=3', '-h'],
    ['-t', '-1'],
    ['-t', 'x', '-h'],
    ['-t', 'x', '-L', 'x'],
    ['-t', 'x', '-q', 'Foo eq 1'],
    ['-L', 'x'],
    ['-L', '0'],
    ['-q', 'Foo eq 1', ...NOWHERE],
    ['-C', '-q', '', '-C', '-q', 'ReqURL', '-h'],
    ['--optstring'],
    ['--', '-t', 'x'],
  ];
  it.each(LOG_TOOLS.flatMap((name) => cases.map((args) => [name, ...args])))(
    '%s %s %s %s',
    (name, ...args) => {
      const unexpected = ours(name, args);
      // Varnish names no word that is too many, but prints its usage; proxyd says which it is.
      const err = unexpected.err.replace(/^(proxy\w+): unexpected argument '.*'$/, 'Usage: $1');
      expect({ ...unexpected, err }).toEqual(theirs(name, args));
    },
  );

  it.each([
    ['log', '-k', 'x'],
    ['log', '-k0'],
    ['log', '-k', '-5'],
    ['log', '-dvZ'],
    ['log', '-dv', ...NOWHERE],
    ['log', '-dvn/nonexistent/dir', '-t0'],
    ['log', '-I', '-foo', '-X', '-bar', '-d', ...NOWHERE],
    ['log', '-I', '('],
    ['log', '-C', '-I', '(', '-Z'],
    ['log', '-i', 'NoSuch', '-h'],
    ['log', '-h', '-i', 'NoSuch'],
    ['log', '-r', '-', '-n', 'x'],
    ['log', '-r', '/nonexistent'],
    ['log', '-t', 'x', '-r', '/nonexistent'],
    ['log', '-D'],
    ['log', '-D', '-w', '-'],
    ['log', '-R', 'x'],
    ['log', '-g', 'x'],
    ['log', '-T', 'x'],
    ['log', '-w', '/nonexistent/x', '-r', '/nonexistent'],
    ['ncsa', '-F', '-', '-F', '-'],
    ['ncsa', '-F', '%{', ...NOWHERE],
    ['ncsa', '-f', '/nonexistent'],
    ['ncsa', '-g', 'raw', ...NOWHERE],
    ['ncsa', '-bF', '%h', '-d', ...NOWHERE],
    ['top', '-1p', '5', ...NOWHERE],
    ['hist', '-P', 'nosuch', ...NOWHERE],
    ['hist', '-B', '0'],
    ['hist', '-B', '-1'],
  ])('%s %s %s %s %s', (name, ...args) => {
    expect(ours(name, args)).toEqual(theirs(name, args));
  });

  it.each([...LOG_TOOLS.slice(0, 3), 'stat'])('%s takes the same letters', (name) => {
    const letters = (command: string, lead: string[]): string =>
      spawnSync(command, [...lead, '--optstring'], { encoding: 'utf8' }).stdout.trim();
    const own = letters(process.execPath, [join(ROOT, bin[`proxy${name}`] as string)]);
    // A process id file is ours to add; the others are of later releases.
    const added: Record<string, readonly string[]> = { stat: ['P:', 'c'], ncsa: ['k:'] };
    const shared = (added[name] ?? []).reduce((text, letter) => text.replace(letter, ''), own);
    expect(shared).toBe(letters(`varnish${name}`, []));
  });
});

describe.skipIf(!found)('proxystat', () => {
  it.each([
    ['-h'],
    ['-V'],
    ['-hV'],
    ['extra'],
    ['--', '-1'],
    ['-tx'],
    ['-t', '-1', '-1'],
    ['-1', ...NOWHERE],
    ['-t', 'x', '-V'],
    ['-1n/nonexistent/dir', '-t0'],
    ['-jf', '-x', ...NOWHERE],
    ['-1', '-I'],
  ])('%s %s', (...args) => {
    const own = ours('stat', args);
    const err = own.err.replace(/^(proxy\w+): unexpected argument '.*'$/, 'Usage: $1');
    expect({ ...own, err }).toEqual(theirs('stat', args));
  });

  // Varnish reports the error, continues and fails for another reason.
  it.each([['-Z'], ['-1Z'], ['-1', '-Z', ...NOWHERE]])('refuses %s at once', (...args) => {
    const { code, err } = theirs('stat', args);
    expect(ours('stat', args)).toEqual({ code, out: false, err });
  });
});

describe.skipIf(!found)('proxyadm', () => {
  it.each([
    ['-Z'],
    ['-pZ'],
    ['-5'],
    ['-n'],
    ['-pT'],
    ['-t', 'x'],
    ['-tx', '-Z'],
    ['-Z', '-t', 'x'],
    ['-pn/nonexistent/dir', '-t1', 'ping', '-Z'],
    ['-n', '/nonexistent/dir', '-t', '1', '--', '-Z'],
  ])('%s %s', (...args) => {
    const [own, other] = [ours('adm', args), theirs('adm', args)];
    // Varnish says with dots how long it waits.
    expect({ ...own, err: own.code === 2 ? '' : own.err }).toEqual({
      ...other,
      err: other.code === 2 ? '' : other.err,
    });
    expect(own.err).not.toBe('');
  });

  // Varnish only prints its usage; here it includes the reason, and -h prints to standard output.
  it.each([['-n', 'x', '-T', ':1', 'ping'], ['-h'], ['-hZ']])('exits alike on %s', (...args) => {
    expect(ours('adm', args).code).toBe(theirs('adm', args).code);
  });
});

describe.skipIf(!found)('proxyd', () => {
  it.each([
    ['-V'],
    ['-V', 'extra'],
    ['extra', '-V'],
    ['-V', '-Z'],
    ['extra'],
    ['-d', 'extra', '-F'],
    ['-x', 'foo'],
    ['-x', 'optstring'],
    ['-x', 'vsl', '-V'],
    ['-?'],
    ['-dF'],
    ['-C'],
    ['-b', ':1', '-f', 'x'],
    ['-d', '-p', 'x'],
    ['-d', '-I', 'x', '-I', 'y'],
  ])('%s %s', (...args) => {
    expect(ours('d', args)).toEqual(theirs('d', args));
  });

  // Varnish prints its usage on standard output then, and proxyd how to get it.
  it.each([['-Z'], ['-n'], ['-dZ'], ['-5'], ['--foo']])('exits alike on %s', (...args) => {
    const own = ours('d', args);
    expect(own.code).toBe(theirs('d', args).code);
    expect(own.err).toMatch(/^Error: (invalid|unknown) option|^Error: option requires an argument -- 'n'/);
  });

  // They are Varnish 9's.
  it('gives the same letters, and -A and -E', () => {
    const letters = (command: string, lead: string[]): string =>
      spawnSync(command, [...lead, '-x', 'optstring'], { encoding: 'utf8' }).stdout;
    expect(letters(process.execPath, [join(ROOT, bin.proxyd as string)])).toBe(
      letters('varnishd', []).replace('a:', 'a:A:').replace('Cd', 'CdE:'),
    );
  });
});
