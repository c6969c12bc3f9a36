// The scripts of test/proxytest, played by proxytest on proxyd and on Varnish, and by Varnish's own program: the verdicts are the same.
// A script whose name begins with fail- must fail, with the text of its first line; skip- must be skipped. Those that begin with newer-
// use commands that the installed program has not.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { findProgram, Sandbox, until } from '../harness/processes.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const FOLDER = `${ROOT}test/proxytest/`;
const SCRIPTS = readdirSync(FOLDER).filter((name) => name.endsWith('.vtc'));
const PROXYTEST = [process.execPath, `${ROOT}dist/console/bin/proxytest.js`];
const isMissing = findProgram('varnishd') === null || findProgram('varnishtest') === null;

function play(command: readonly string[], files: readonly string[]): Promise<{ code: number; out: string }> {
  const [program = '', ...args] = command;
  return new Promise((resolve) => {
    const options = { cwd: FOLDER, encoding: 'latin1', maxBuffer: 1e9, timeout: 280_000 } as const;
    execFile(program, [...args, ...files], options, (cause, out, err) => {
      resolve({ code: cause === null ? 0 : Number(cause.code), out: out + err });
    });
  });
}

/** Verdicts by the names of scripts. */
function verdicts(out: string): Record<string, string> {
  const lines = out.matchAll(/^# {4}top {2}TEST (?:\S*\/)?(\S+\.vtc) (passed|FAILED|skipped)/gm);
  return Object.fromEntries([...lines].map(([, name, verdict]) => [name, verdict]));
}

function wanted(name: string): string {
  return name.startsWith('fail-') ? 'FAILED' : name.startsWith('skip-') ? 'skipped' : 'passed';
}

const expected = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, wanted(name)]));

describe('on proxyd', () => {
  let out = '';
  let code = 0;
  beforeAll(async () => {
    ({ out, code } = await play([...PROXYTEST, '-k', '-j', '4'], SCRIPTS));
  });

  it('gives each script its verdict', () => {
    expect(verdicts(out)).toEqual(expected(SCRIPTS));
    expect(code).toBe(2);
  });

  it('says why a script has failed, and where', () => {
    const reasons = new Map(
      [...out.matchAll(/TEST \S*\/(\S+\.vtc) FAILED: (.*)$/gm)].map(([, name = '', why = '']) => [name, why]),
    );
    for (const name of SCRIPTS.filter((each) => each.startsWith('fail-'))) {
      const [, text = ''] = /^# fails: ?(.*)$/m.exec(readFileSync(FOLDER + name, 'utf8')) ?? [];
      expect(reasons.get(name), name).toContain(text);
      expect(reasons.get(name), name).toMatch(new RegExp(`${name.replaceAll('.', '\\.')}:\\d+: `));
    }
  });

  it('shows the transactions of the daemon beside the line that failed', async () => {
    const { out: log } = await play([...PROXYTEST, '-t', '20'], ['fail-logexpect.vtc']);
    expect(log).toMatch(/^\*\*\*\* v1 {4}log\|.*ReqURL/m);
    expect(log).toMatch(/^---- l1 {4}at .*fail-logexpect\.vtc:\d+$/m);
  });
});

describe('as a command', () => {
  it('stops at the first failure without -k, and is silent about the others with -q', async () => {
    const { out, code } = await play([...PROXYTEST, '-q'], ['fail-macro.vtc', 'operators.vtc']);
    expect(verdicts(out)).toEqual({ 'fail-macro.vtc': 'FAILED' });
    expect(code).toBe(2);
  });

  it('says why a daemon does not start', async () => {
    const { out } = await play([...PROXYTEST, '-p', 'nonsense=7'], ['miss-and-hit.vtc']);
    expect(out).toMatch(
      /FAILED: .*: daemon exited during launch, status 2: Error: Unknown parameter "nonsense"\.$/m,
    );
  });

  it('ends all that it has started when a signal ends it', async () => {
    const box = new Sandbox('proxyd-proxytest');
    const script = join(box.dir, 'waits.vtc');
    writeFileSync(
      script,
      'varnishtest "waits"\nserver s1 { } -start\nvarnish v1 -vcl+backend { } -start\n' +
        'logexpect l1 -v v1 { expect * * Error } -start\ndelay 100\n',
    );
    const temporary = box.path('temporary');
    mkdirSync(temporary);
    const [program = '', ...args] = PROXYTEST;
    const child = spawn(program, [...args, '-k', script, script], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.on('data', (text) => {
      out += text;
    });
    const code = new Promise((resolve) => child.once('exit', resolve));
    const reader = await until('the reader of the log', () => {
      const [test = ''] = readdirSync(temporary);
      const file = join(temporary, test, '_l1.1.pid');
      return existsSync(file) ? Number(readFileSync(file, 'utf8')) || null : null;
    });
    child.kill('SIGTERM');
    expect(await code).toBe(2);
    expect(verdicts(out)).toEqual({ 'waits.vtc': 'FAILED' });
    expect(out).toMatch(/waits\.vtc:[45]: top: ended by SIGTERM/);
    expect(readdirSync(temporary)).toEqual([]);
    expect(() => process.kill(reader, 0)).toThrow('ESRCH');
    await box.dispose();
  });

  it('ends with 77 when all was skipped, 0 when all passed, 1 for what is wrong', async () => {
    expect((await play(PROXYTEST, ['skip-feature.vtc'])).code).toBe(77);
    expect((await play(PROXYTEST, ['operators.vtc'])).code).toBe(0);
    for (const args of [
      [],
      ['-j', '0', 'operators.vtc'],
      ['none.vtc'],
      ['-D', 'x', 'operators.vtc'],
      ['--on', 'nginx', 'operators.vtc'],
    ])
      expect((await play(PROXYTEST, args)).code, args.join(' ')).toBe(1);
  });

  it('defines macros, repeats, ends what takes too long', async () => {
    const { code, out } = await play([...PROXYTEST, '-D', 'no_such_macro=x', '-n', '2'], ['fail-macro.vtc']);
    expect([code, out.match(/ passed /g)?.length]).toEqual([0, 2]);
    const late = await play([...PROXYTEST, '-t', '1'], ['fail-timeout.vtc', 'fail-expect-close.vtc']);
    expect(late.code).toBe(2);
  });
});

describe.skipIf(isMissing)(
  `on Varnish${isMissing ? ' (skipped: varnishd and varnishtest are not installed)' : ''}`,
  () => {
    it('gives each script its verdict there, too', async () => {
      expect(verdicts((await play([...PROXYTEST, '--on', 'varnish', '-k', '-j', '4'], SCRIPTS)).out)).toEqual(
        expected(SCRIPTS),
      );
    });

    it('says why a daemon does not start', async () => {
      const { out } = await play([...PROXYTEST, '--on', 'varnish', '-p', 'nonsense=7'], ['miss-and-hit.vtc']);
      expect(out).toContain(
        'v1: daemon exited during launch, status 2: Error: Unknown parameter "nonsense".',
      );
    });

    it("so does Varnish's own program", async () => {
      const known = SCRIPTS.filter((name) => !name.startsWith('newer-'));
      expect(verdicts((await play(['varnishtest', '-k', '-j', '4'], known)).out)).toEqual(expected(known));
    });
  },
);
