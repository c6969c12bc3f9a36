// The describing of modules with a child process of the test's own, that answers what the test wants.
import {
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { ModuleDescriber } from '../../../daemon/extensions/load/describe.ts';
import { findModule } from '../../../daemon/extensions/load/module-file.ts';
import { ProcessCode } from '../../../daemon/own-process.ts';

const root = mkdtempSync(join(tmpdir(), 'proxyd-describe-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let dir: string;
let serial = 0;
beforeEach(() => {
  dir = join(root, String(serial++));
  mkdirSync(dir);
  writeFileSync(join(dir, 'ext.mjs'), '1');
});

const GOOD = { kind: 'esm', manifest: { functions: { f: { signature: 'INT f()' } } } };

/** Describes `ext` with a child that runs this code; each run leaves a line in the file `runs`. */
function run(code: string, describer = new ModuleDescriber(), inUse: string[] = []) {
  const child = join(dir, 'child.mjs');
  writeFileSync(
    child,
    `import { appendFileSync, writeSync } from 'node:fs';
     appendFileSync(${JSON.stringify(join(dir, 'runs'))}, process.argv.slice(2).join(' ') + '\\n');
     const answer = (value) => writeSync(3, typeof value === 'string' ? value : JSON.stringify(value));
     ${code}`,
  );
  return describer.describe(
    { name: 'ext', from: null },
    {
      path: [dir],
      cache: { directory: join(dir, 'cache'), inUse: () => inUse, account: null },
      child: new ProcessCode(child),
      timeoutMs: 3000,
    },
  );
}

const good = `answer(${JSON.stringify(GOOD)});`;

describe('an answer', () => {
  it('is an extension with its module', async () => {
    const found = await run(good);
    expect(found.problem).toBeUndefined();
    if (found.problem !== undefined) return;
    expect(Object.keys(found.extension.functions)).toEqual(['f']);
    expect(found.module).toMatchObject({ name: 'ext', file: join(dir, 'ext.mjs'), kind: 'esm' });
    expect(found.module.copy).toBe(join(dir, 'cache', `ext.${found.module.digest}.mjs`));
    expect(existsSync(found.module.copy as string)).toBe(true);
  });

  it.each([
    ['', 'it ended the process that read it (status 0)'],
    ['answer("{");', 'it ended the process that read it (status 0)'],
    ['process.exit(3);', 'it ended the process that read it (status 3)'],
    ['console.error("why\\nlast words"); process.exit(1);', '(status 1): last words'],
    ['process.kill(process.pid, "SIGKILL");', 'it crashed while it was read (SIGKILL)'],
    ['setInterval(() => 0, 1000);', 'it did not describe itself within 3 s'],
    ['for (;;) answer("x".repeat(65536));', 'its description is too long'],
    ['answer({ problem: "no" });', '\tno'],
    ['answer({ problem: "no", malformed: true });', 'Malformed VMOD ext'],
    ['answer({ kind: "esm", manifest: 5 });', 'its description is damaged'],
    ['answer({ kind: "esm", manifest: { functions: { "a b": {} } } });', "'a b' is not a valid name"],
    [
      'answer({ kind: "esm", manifest: { functions: { f: { signature: "INT f()", places: "nowhere" } } } });',
      "there is no state 'nowhere'",
    ],
    [
      'answer({ kind: "esm", manifest: { functions: { f: { signature: "INT g()" } } } });',
      "signature of 'g'",
    ],
    ['answer({ kind: "wasm", manifest: {} });', 'it ended the process that read it (status 0)'],
  ])('%s is a problem', async (code, expected) => {
    expect((await run(code)).problem).toContain(expected);
  });

  it('is remembered until the content changes', async () => {
    const describer = new ModuleDescriber();
    const runs = () => readdirSync(dir).includes('runs');
    await run(good, describer);
    expect(runs()).toBe(true);
    rmSync(join(dir, 'runs'));
    expect((await run(good, describer)).problem).toBeUndefined();
    expect(runs()).toBe(false);
    writeFileSync(join(dir, 'ext.mjs'), '2');
    await run(good, describer);
    expect(runs()).toBe(true);
  });
});

describe('copies', () => {
  it('are created again if something else is in their place, which is not written to', async () => {
    const copyOf = async (): Promise<string> => {
      const found = await run(good, new ModuleDescriber());
      return found.problem === undefined ? (found.module.copy ?? '') : found.problem;
    };
    const copy = await copyOf();
    const kept = statSync(copy).ino;
    expect(statSync(await copyOf()).ino).toBe(kept);
    const other = join(dir, 'other');
    copyFileSync(copy, other);
    rmSync(copy);
    symlinkSync(other, copy);
    expect(lstatSync(await copyOf()).isFile()).toBe(true);
    rmSync(copy);
    linkSync(other, copy);
    expect(statSync(await copyOf()).nlink).toBe(1);
    expect(statSync(copy).mode & 0o777).toBe(0o500);
  });

  it('go when they are old and no program has them', async () => {
    const cache = join(dir, 'cache');
    mkdirSync(cache);
    const [needed, old, fresh] = ['needed', 'old', 'fresh'].map((n) => join(cache, `${n}.mjs`)) as [
      string,
      string,
      string,
    ];
    for (const f of [needed, old, fresh]) writeFileSync(f, 'x');
    for (const f of [needed, old]) utimesSync(f, 1, 1);
    await run(good, new ModuleDescriber(), [needed]);
    expect([needed, old, fresh].map((f) => existsSync(f))).toEqual([true, false, true]);
  });
});

describe('a file', () => {
  it('is looked for in each directory by the names it may have', () => {
    const second = join(dir, 'second');
    mkdirSync(second);
    for (const f of ['a.node', 'libvmod_a.so', 'b.js', 'b.cjs', 'c.mjs']) writeFileSync(join(second, f), '');
    const path = ['/nowhere', dir, second];
    expect(findModule('a', null, path)).toBe(join(second, 'a.node'));
    expect(findModule('b', null, path)).toBe(join(second, 'b.js'));
    expect(findModule('ext', null, path)).toBe(join(dir, 'ext.mjs'));
    expect(findModule('d', null, path)).toBeNull();
    expect(findModule('x', 'c.mjs', path)).toBe(join(second, 'c.mjs'));
    expect(findModule('x', './second/c.mjs', path)).toBe(join(second, 'c.mjs'));
    expect(findModule('x', '/nowhere/c.mjs', path)).toBe('/nowhere/c.mjs');
  });
});
