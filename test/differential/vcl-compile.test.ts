// The same small programs through the real compiler and ours: both take them or both refuse them. The cases are
// the lines of vcl-cases.txt and programs made by the fuzzer's grammar. The real one runs without its C compiler
// after it, which takes most of its time and would only find what the front end let through. It is a process for each program:
// a third of them has its turn each day, all of them with ALL_CASES=1.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { compile } from '../../daemon/extensions/compile-with-builtins.ts';
import { mutate } from '../fuzz/mutate.ts';
import { ProgramGrammar } from '../fuzz/program-grammar.ts';
import { Random } from '../fuzz/random.ts';

/** Meant to differ, with the reason. */
const KNOWN: Readonly<Record<string, string>> = {
  'set req.http.x = -"a";': 'their C compiler refuses it',
  'set req.http.x = 5 / 0;': 'their C compiler refuses it',
  'set req.http.x = 5 % 0;': 'their C compiler refuses it',
  'p41| backend d { .host = "127.0.0.1"; .port = "65536"; }': 'no port: it would wrap around to another',
  'p41| backend d { .host = "127.0.0.1"; .port = "99999"; }': 'no port: it would wrap around to another',
  'p41| backend d { .host = "127.0.0.1"; .port = " 80"; }': 'no name of a port',
  'pd| acl a -pedantic { "1.2.3.4/"; } sub vcl_recv { if (client.ip ~ a) {} }':
    'no mask, not one of all addresses',
  'pd| acl a -pedantic { "1.2.3.4.5/8"; } sub vcl_recv { if (client.ip ~ a) {} }': 'no address',
  'p41| backend d { .host = "127.0.0.1"; .probe = { .expect_close = true; } }':
    'a field that later versions have',
};

const MADE = 100;
const PARTS = 3;
const HEAD = `vcl 4.1;
import std;
backend d none;
probe pr { }
backend e { .host = "127.0.0.1"; .probe = pr; }
acl ac { "1.2.3.4"; }
acl ac2 { "1.2.3.4"; }
sub su { }
sub use { if (client.ip ~ ac || client.ip ~ ac2) { call su; set req.backend_hint = d; set req.backend_hint = e; } }
sub vcl_pass { call use; }
`;
const ESCAPES: Readonly<Record<string, string>> = {
  ...{ n: '\n', t: '\t', r: '\r', v: '\v', f: '\f', 0: '\0', e: '\x1b' },
};

function programOf(line: string): string {
  const m = /^(\w+)\| ?(.*)$/s.exec(line);
  const [state, written] = m === null ? ['hit', line] : [m[1] as string, m[2] as string];
  const body = written.replace(/\\([ntrvf0e])/g, (_, c: string) => ESCAPES[c] as string);
  switch (state) {
    case 'prog':
      return body;
    case 'p41':
      return `vcl 4.1;\n${body}`;
    case 'p40':
    case 'pd':
      return `vcl 4.${state === 'pd' ? 1 : 0};\nimport std;\nbackend d none;\n${body}`;
    default:
      return `${HEAD}sub vcl_${state} { ${body} }\n`;
  }
}

function cases(): [name: string, text: string][] {
  const lines = readFileSync(new URL('vcl-cases.txt', import.meta.url), 'utf8').split('\n');
  const written = lines
    .filter((l) => l !== '' && !l.startsWith('# ') && KNOWN[l] === undefined)
    .map((l): [string, string] => [l, programOf(l)]);
  const made = Array.from({ length: MADE }, (_, i): [string, string] => {
    const random = new Random(7000 + i);
    const whole = new ProgramGrammar(random).program();
    return [`made from seed ${7000 + i}`, i % 3 === 2 ? mutate(whole, random) : whole];
  });
  const all = [...written, ...made];
  const today = Math.floor(Date.now() / 86_400_000);
  return process.env.ALL_CASES === '1' ? all : all.filter((_, i) => i % PARTS === today % PARTS);
}

const found = spawnSync('varnishd', ['-V']).error === undefined;
if (!found) console.warn('varnishd is not installed: the differential test of the compiler is skipped');
const dir = mkdtempSync(join(tmpdir(), 'vcl-diff-'));
// The real one compiles as another user.
chmodSync(dir, 0o755);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Whether the real compiler takes a program; throws when it died of it. */
function theirs(file: string, home: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const args = ['-C', '-n', home, '-p', 'cc_command=/bin/true', '-f', file];
    const child = spawn('varnishd', args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let text = '';
    child.stderr.on('data', (d: Buffer) => {
      if (text.length < 100_000) text += d.toString('latin1');
    });
    child.on('error', reject);
    child.on('close', (_code, signal) => {
      if (signal !== null) reject(new Error(`killed by ${signal}`));
      // The generated C comes on the same channel: only a refusal is reported in this way.
      else resolve(!/^Message from VCC-compiler:$/m.test(text) || !/VCC-compiler failed/.test(text));
    });
  });
}

describe.skipIf(!found)('the verdict on a program', () => {
  it('is the same from both compilers', async () => {
    const list = cases();
    const different: { name: string; text: string; theirs: boolean; ours: boolean }[] = [];
    let accepted = 0;
    let next = 0;
    const work = async (worker: number): Promise<void> => {
      const home = join(dir, `n${worker}`);
      mkdirSync(home, { recursive: true });
      const file = join(dir, `case${worker}.vcl`);
      for (let at = next++; at < list.length; at = next++) {
        const [name, text] = list[at] as [string, string];
        writeFileSync(file, text);
        const taken = await theirs(file, home);
        const ours = compile({ name: file, text }).program !== undefined;
        if (taken) accepted++;
        if (taken !== ours) different.push({ name, text, theirs: taken, ours });
      }
    };
    await Promise.all([0, 1, 2].map(work));
    expect(different).toEqual([]);
    // Both sides of the comparison have to be there.
    expect(accepted).toBeGreaterThan(list.length / 5);
    expect(accepted).toBeLessThan((list.length * 4) / 5);
  }, 900_000);

  it('differs where it is meant to', () => {
    const wrong = Object.keys(KNOWN).filter((line) => {
      const ours = compile({ name: 'known', text: programOf(line) }).program !== undefined;
      return ours !== line.includes('expect_close');
    });
    expect(wrong).toEqual([]);
  });
});
