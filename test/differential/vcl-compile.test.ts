// The same small programs through the real compiler and ours: both take them or both refuse them. The cases are
// the lines of vcl-cases.txt and programs made by the fuzzer's grammar. The real one runs without its C compiler
// after it, which takes most of its time and would only find what the front end let through.
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../../daemon/extensions/compile-with-builtins.ts';
import { mutate } from '../fuzz/mutate.ts';
import { ProgramGrammar } from '../fuzz/program-grammar.ts';
import { Random } from '../fuzz/random.ts';
import { inPool, type Reference, recording } from './recording.ts';

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
  'synth| set resp.body = req.hash;': 'a place that later versions have',
  'pd| acl a +fold { "1.1.1.0"/24; "1.1.1.1"; } sub vcl_recv { if (client.ip ~ a) {} }':
    'a flag that later versions have',
  'pd| acl a -fold { "1.1.1.0"/24; "1.1.1.1"; } sub vcl_recv { if (client.ip ~ a) {} }':
    'a flag that later versions have',
};

const MADE = 100;
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
  return [...new Map([...written, ...made])];
}

const verdicts = recording('vcl-compile');
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

describe('the verdict on a program', () => {
  const all = cases();
  let reference: Reference<boolean>;
  beforeAll(async () => {
    reference = await verdicts.reference(new Map(all), async () => {
      const output = await inPool(all, 3, async ([, text], worker) => {
        const home = join(dir, `n${worker}`);
        mkdirSync(home, { recursive: true });
        const file = join(dir, `case${worker}.vcl`);
        writeFileSync(file, text);
        return theirs(file, home);
      });
      return new Map(all.map(([name], i) => [name, output[i] === true]));
    });
  }, 900_000);

  it('is the same from both compilers', () => {
    const different = all.flatMap(([name, text]) => {
      const taken = reference.get(name);
      const ours = compile({ name: join(dir, 'case.vcl'), text }).program !== undefined;
      return taken === ours ? [] : [{ name, text, theirs: taken, ours }];
    });
    expect(different).toEqual([]);
    // Both sides of the comparison have to be there.
    const accepted = reference.values().filter((taken) => taken).length;
    expect(accepted).toBeGreaterThan(all.length / 5);
    expect(accepted).toBeLessThan((all.length * 4) / 5);
  });

  it('differs where it is meant to', () => {
    const wrong = Object.entries(KNOWN).flatMap(([line, reason]) => {
      const ours = compile({ name: 'known', text: programOf(line) }).program !== undefined;
      return ours === reason.endsWith('that later versions have') ? [] : [line];
    });
    expect(wrong).toEqual([]);
  });
});
