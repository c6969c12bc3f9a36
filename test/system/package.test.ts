// The package as npm makes and installs it: its contents, its independence, that every command runs from it, and that
// a daemon survives its replacement or removal, or that of Node. Black box: the tarball alone.
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { processTree, run, Sandbox, until } from '../harness/processes.ts';
import { ROOT, RunningProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-package');
const at = (name: string): string => join(box.dir, name);
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  bin: Record<string, string>;
  man: string[];
};
/** Nothing but Node and what a shell needs: as on a machine without a compiler and without this checkout. */
const env = { PATH: '', HOME: at('home') };
let tarball = '';
let files: { path: string; size: number }[] = [];

beforeAll(async () => {
  mkdirSync(env.HOME, { recursive: true });
  const bin = at('bin');
  mkdirSync(bin);
  env.PATH = `${bin}:/usr/bin:/bin`;
  writeFileSync(join(bin, 'node'), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });
  // The code under test is already built.
  const packed = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', box.dir], {
    cwd: ROOT,
  });
  expect(packed.code).toBe(0);
  const [made] = JSON.parse(packed.stdout) as { filename: string; files: typeof files }[];
  tarball = join(box.dir, made?.filename ?? '');
  files = made?.files ?? [];
});
afterAll(() => box.dispose());

const PLACE = 'lib/node_modules/proxyd';
let installed: Promise<string> | null = null;

/** Installs the tarball as `npm i -g` does; the registry cannot be asked. */
async function install(): Promise<string> {
  const prefix = at('installed');
  const args = ['i', '-g', '--offline', '--no-audit', '--no-fund', '--prefix', prefix, tarball];
  const done = await run('npm', args, { cwd: box.dir });
  expect(done).toMatchObject({ code: 0 });
  // No scripts of ours need approval.
  expect(done.stderr).not.toContain('install-scripts');
  return prefix;
}

/** Where all tests have it, which leave it as it is. */
function installation(): Promise<string> {
  installed ??= install();
  return installed;
}

/** One for a test that does not. */
async function copied(name: string): Promise<string> {
  const prefix = at(name);
  cpSync(await installation(), prefix, { recursive: true, verbatimSymlinks: true });
  return prefix;
}

let added: Promise<string> | null = null;

/** A project that has the package among its dependencies. */
function project(): Promise<string> {
  added ??= (async () => {
    const folder = at('project');
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    const args = ['i', '--offline', '--no-audit', '--no-fund', tarball];
    expect(await run('npm', args, { cwd: folder })).toMatchObject({ code: 0 });
    return folder;
  })();
  return added;
}

describe('what is packed', () => {
  it('is what users need: no sources, no source maps, nothing of the build', () => {
    const odd = files.filter(({ path }) =>
      /\.(map|ts|tsx|tsbuildinfo|ne)$|^(test|dist\/modules)\//.test(path),
    );
    // The types that authors of extensions import.
    expect(odd.filter(({ path }) => !/^dist\/author\/.*\.d\.ts$/.test(path))).toEqual([]);
    for (const path of [...Object.values(manifest.bin), ...manifest.man]) {
      expect(files.map((f) => f.path)).toContain(path);
    }
  });

  it('needs no other package', () => {
    const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
      readFileSync(join(ROOT, 'package.json'), 'utf8'),
    ) as Record<string, unknown>;
    expect([dependencies, optionalDependencies, peerDependencies]).toEqual([undefined, undefined, undefined]);
  });

  it('names each library it holds, with the version of the lockfile and its licence', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string }>;
    };
    const locked = new Set(
      Object.entries(packages).map(
        ([path, { version }]) => `${path.replace(/^.*node_modules\//, '')} ${version}`,
      ),
    );
    const text = readFileSync(join(ROOT, 'dist/THIRD-PARTY.md'), 'utf8');
    const named = [...text.matchAll(/^## (\S+ \d\S*)\n\nLicence: (.*)$/gm)];
    expect(named.length).toBeGreaterThan(10);
    for (const [, library, licence] of named) {
      expect(locked).toContain(library);
      expect(licence).toMatch(/^(MIT|ISC|Unlicense|BSD-\d-Clause|Apache-2\.0|\(MIT OR .*\)|MIT\/X11)$/);
    }
    for (const name of ['ws', 'nearley', 'moo', 'ink', 'react', 'blessed-contrib']) {
      expect(text).toMatch(new RegExp(`^## ${name} \\d`, 'm'));
    }
  });
});

describe('installed from the tarball', () => {
  it('is one package, and every command of it runs', async () => {
    const prefix = await installation();
    expect(existsSync(join(prefix, PLACE, 'node_modules'))).toBe(false);
    expect(readdirSync(join(prefix, 'lib/node_modules'))).toEqual(['proxyd']);
    for (const name of Object.keys(manifest.bin)) {
      const version = await run(join(prefix, 'bin', name), ['-V'], { env });
      expect([name, version.code, version.stdout + version.stderr]).toEqual([
        name,
        0,
        expect.stringContaining('proxyd'),
      ]);
    }
    for (const page of manifest.man) {
      const section = page.at(-1);
      expect(existsSync(join(prefix, `share/man/man${section}`, page.split('/').at(-1) as string))).toBe(
        true,
      );
    }
  });

  it('shows its demo', async () => {
    const folder = join(await installation(), PLACE);
    const demo = await run('npm', ['run', '-s', 'demo', '--', '--for', '3'], {
      cwd: folder,
      env: { ...env, PATH: `${env.PATH}:${process.env.PATH}` },
    });
    expect(demo.code).toBe(0);
    expect(demo.stdout.split('\n').length).toBeGreaterThanOrEqual(3);
  });
});

describe('an author of an extension', () => {
  const TYPED = `import { EXTENSION_INTERFACE, type Context, type Extension, type ExtensionTest, type SharedTable } from 'proxyd/extension';
const table = (ctx: Context): SharedTable => ctx.shared.table('own', { numbers: 1 });
export const extension: Extension = {
  abi: 1,
  functions: {
    own: { signature: 'STRING own(STRING s)', call: (ctx: Context, s: string | null) => s ?? ctx.req?.get('host') ?? null },
    seen: { signature: 'INT seen()', call: (ctx) => table(ctx).update('k', (row) => (row.numbers[0] = table.length)) },
  },
  objects: {
    box: {
      signature: 'box(INT n)',
      create: (_ctx, _name, n: number) => ({ n }),
      methods: { n: { signature: 'INT n(PRIV_TASK)', call: (_ctx, self: { n: number }, cell) => (cell.value = self.n) } },
    },
  },
  filters: { upper: { side: 'delivery', open: () => ({ transform: (bytes, last) => (last ? null : bytes) }) } },
  event: (ctx, event, cell) => (event === 'load' && cell.value === ctx.program ? 'no' : undefined),
};
export const tests: ExtensionTest[] = [{ name: 'a', value: '1', expect: String(EXTENSION_INTERFACE) }];
`;
  const WRONG = TYPED.replace('abi: 1,', "abi: '1',").replace('ctx.program', 'ctx.programme');

  it('compiles against the package, tests with it and sees its version', async () => {
    const cwd = await project();
    for (const name of ['greeting.mjs', 'greeting.test.mjs'])
      copyFileSync(join(cwd, 'node_modules/proxyd/daemon/extensions/template', name), join(cwd, name));
    writeFileSync(join(cwd, 'typed.ts'), TYPED);
    const options = [
      '--strict',
      '--exactOptionalPropertyTypes',
      '--module',
      'nodenext',
      '--target',
      'es2023',
    ];
    const compile = (...names: string[]) =>
      run(join(ROOT, 'node_modules/.bin/tsc'), [...options, ...names], { cwd });
    expect(await compile('typed.ts')).toMatchObject({ code: 0, stdout: '' });
    const checked = await compile(
      '--noEmit',
      '--allowJs',
      '--noImplicitAny',
      'false',
      'greeting.mjs',
      'greeting.test.mjs',
    );
    expect(checked).toMatchObject({ code: 0, stdout: '' });
    writeFileSync(join(cwd, 'wrong.ts'), WRONG);
    const { code, stdout } = await compile('--noEmit', 'wrong.ts');
    expect(code).not.toBe(0);
    expect(stdout.match(/error TS\d+/g)).toHaveLength(2);
    const proxyd = join(cwd, 'node_modules/.bin/proxyd');
    for (const [file, line] of [
      ['greeting.mjs', 'ok 6 - counts'],
      ['typed.js', '# typed.own has no help'],
    ] as const) {
      const done = await run(proxyd, ['--test-extension', file], { cwd, env });
      expect([done.code, done.stderr, done.stdout]).toEqual([0, '', expect.stringContaining(line)]);
    }
  });
});

describe('a program that limits its calls', () => {
  const TYPED = `import { allOf, daysUntilUsedUp, limit, perMinuteFromHourly, perMinuteFromQuota } from 'proxyd/throttle';
import type { Limit, LimitClock, LimitGroup, LimitOptions, LimitSnapshot, Release } from 'proxyd/throttle';
import { Worker } from 'node:worker_threads';
const clock: LimitClock = { now: () => 1, after: () => () => {} };
const options: LimitOptions = { calls: perMinuteFromHourly(3000), period: 60, concurrency: 5, clock };
const api: Limit = limit(options);
const other = limit({ ...options, shared: api.shared });
const both: LimitGroup = allOf([api, limit({ calls: perMinuteFromQuota(1_000_000), period: 60, strict: true })]);
const twice: (n: number) => Promise<number> = api.sleepAndRetry(async (n: number) => n * 2);
const release: Release = await both.take([1, 2], AbortSignal.timeout(1000));
release();
api.penalize(0);
export const watch = (worker: Worker) => api.watch(worker);
const { used, left }: LimitSnapshot = other.snapshot();
console.log(await twice(2), other.tryTake() !== undefined, used, left, daysUntilUsedUp(1e6, { calls: 60, period: 60 }));
`;
  const WRONG = TYPED.replace('period: 60, concurrency', "period: '60', concurrency").replace(
    'api.penalize(0)',
    'api.punish(0)',
  );

  it('compiles against the package and runs with it', async () => {
    const cwd = await project();
    const types = join(ROOT, 'node_modules/@types');
    const options = `--strict --exactOptionalPropertyTypes --module nodenext --target es2023 --types node --typeRoots ${types}`;
    const compile = (name: string) =>
      run(join(ROOT, 'node_modules/.bin/tsc'), [...options.split(' '), name], { cwd });
    writeFileSync(join(cwd, 'limits.ts'), TYPED);
    expect(await compile('limits.ts')).toMatchObject({ code: 0, stdout: '' });
    const done = await run(join(at('bin'), 'node'), ['limits.js'], { cwd, env });
    expect(done).toMatchObject({ code: 0, stderr: '', stdout: '4 true 1 49 11.57\n' });
    writeFileSync(join(cwd, 'wrong-limits.ts'), WRONG);
    expect((await compile('wrong-limits.ts')).stdout.match(/error TS\d+/g)).toHaveLength(2);
    expect(existsSync(join(cwd, 'node_modules/proxyd/daemon/throttle/README.md'))).toBe(true);
  });
});

describe('a daemon', () => {
  const EXTENSION = `export default { abi: 1, functions: { twice: { signature: 'STRING twice(STRING)', call: (ctx, s) => s + s } } };`;
  const program = (more: string) => `vcl 4.1;
import twin from "${at('twin.mjs')}";
${more}
backend default none;
sub vcl_recv { return (synth(200)); }
sub vcl_synth { set resp.http.x = twin.twice("a"); return (deliver); }`;
  const withRecipe = 'acl invalidators { "127.0.0.1"; }\ninclude "invalidate.vcl";';

  async function start(name: string, node: string, folder: string): Promise<RunningProxy> {
    writeFileSync(at('twin.mjs'), EXTENSION);
    const file = at(`${name}.vcl`);
    writeFileSync(file, program(''));
    const dir = at(`${name}-n`);
    const args = [join(folder, 'dist/daemon/proxyd.js'), '-F', '-n', dir, '-a', '127.0.0.1:0', '-f', file];
    const proxy = new RunningProxy('proxyd', dir, box.start(name, node, args));
    await proxy.serving();
    return proxy;
  }

  /** A worker dies and is back, and programs can be loaded: what the daemon needs is in its memory. */
  async function goesOn(proxy: RunningProxy): Promise<void> {
    const workers = () => processTree(proxy.pid).filter((pid) => pid !== proxy.pid);
    const [before = 0] = workers();
    process.kill(before, 'SIGKILL');
    await until('another worker', () => workers().some((pid) => pid !== before));
    const served = async () => (await proxy.get('/')).status === 200;
    await until('an answer', () => served().catch(() => false));
    expect(field(await proxy.get('/'), 'x')).toBe('aa');
    const file = at('again.vcl');
    writeFileSync(file, program(withRecipe));
    // So large that a process compiles it, and that its code goes to the worker in parts.
    const large = at('large.vcl');
    writeFileSync(
      large,
      program(`${withRecipe}\nsub vcl_backend_fetch { set bereq.http.x = "${'x'.repeat(300_000)}"; }\n`),
    );
    writeFileSync(at('twin.mjs'), `${EXTENSION}\n// another content is described anew`);
    for (const words of [
      ['vcl.load', 'again', file],
      ['vcl.use', 'again'],
      ['param.set', 'http_profile', 'rfc9111'],
      ['vcl.load', 'third', file],
      ['vcl.use', 'third'],
      ['vcl.load', 'large', large],
      ['vcl.use', 'large'],
      ['stop'],
      ['start'],
    ]) {
      const done = await proxy.adm(...words);
      expect([words, done.code, done.code === 0 ? '' : done.stdout + done.stderr]).toEqual([words, 0, '']);
    }
    expect(field(await proxy.get('/'), 'x')).toBe('aa');
    await proxy.logged('RespHeader', '-g', 'raw');
    expect(await proxy.stop()).toMatchObject({ code: 0 });
  }

  it('continues when its package is removed', async () => {
    const prefix = await copied('removed');
    const proxy = await start('removed', process.execPath, join(prefix, PLACE));
    rmSync(prefix, { recursive: true });
    await goesOn(proxy);
  });

  it('continues when its package is replaced by another', async () => {
    const folder = join(await copied('replaced'), PLACE);
    const proxy = await start('replaced', process.execPath, folder);
    for (const { path } of files) {
      if (/\.(js|vcl|json)$/.test(path)) writeFileSync(join(folder, path), 'this is another version');
    }
    await goesOn(proxy);
  });

  it('continues when the Node that runs it is removed', async () => {
    const folder = join(await installation(), PLACE);
    const node = at('node');
    copyFileSync(process.execPath, node);
    chmodSync(node, 0o755);
    const proxy = await start('node', node, folder);
    rmSync(node);
    await goesOn(proxy);
  });
});
