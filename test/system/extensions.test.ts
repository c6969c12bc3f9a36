// Extensions from files in a running proxy: the samples in JavaScript and in C, files that cannot be used, failures
// of calls, and what a restart or a changed file means. Black box: only dist/ and its commands.
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildNative } from '../extensions/build-native.ts';
import { field } from '../harness/http-client.ts';
import { alive, Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy, tool } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-ext');
const folder = box.path('modules');
const SAMPLE = new URL('../extensions/sample.mjs', import.meta.url).pathname;

mkdirSync(folder, { recursive: true });
copyFileSync(SAMPLE, join(folder, 'sample.mjs'));
const module = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

afterAll(() => box.dispose());

const native = await buildNative(box.path('native'));
if (native.missing !== undefined) console.warn(`The sample in C is not tested: ${native.missing}`);

/** A program that answers itself: `recv` runs first, and the value it puts into req.http.x is the response's header x. */
function program(head: string, recv: string, more = ''): string {
  return `vcl 4.1;\n${head}\nbackend b1 { .host = "127.0.0.1"; .port = "1"; }
backend b2 { .host = "127.0.0.1"; .port = "2"; }
${more}
sub vcl_recv {\n  set req.backend_hint = b2;\n${recv}\n  return (synth(200));\n}
sub vcl_synth { set resp.http.x = req.http.x; return (deliver); }
sub vcl_hash { if (req.backend_hint == b1) { return (lookup); } }\n`;
}

/** Loads a text under a name by a file; the answer of the command. */
async function load(
  proxy: RunningProxy,
  name: string,
  text: string,
): Promise<{ code: number; text: string }> {
  const file = box.path(`${name}.vcl`);
  writeFileSync(file, text);
  const done = await proxy.adm('vcl.load', name, file);
  return { code: done.code ?? -1, text: done.stdout + done.stderr };
}

async function loadAndUse(proxy: RunningProxy, name: string, text: string): Promise<void> {
  const loaded = await load(proxy, name, text);
  expect(loaded).toEqual({ code: 0, text: expect.any(String) });
  expect((await proxy.adm('vcl.use', name)).code).toBe(0);
}

async function x(proxy: RunningProxy, path = '/'): Promise<string> {
  const answer = await proxy.get(path);
  return `${answer.status} ${field(answer, 'x') ?? '-'}`;
}

const errorsOf = async (proxy: RunningProxy): Promise<string[]> =>
  [...(await proxy.log('-g', 'raw')).matchAll(/ VCL_Error +c (.*)/g)].map((m) => m[1] ?? '');

let proxy: RunningProxy;
beforeAll(async () => {
  // The objects of an extension, and what they count, are a thread's own.
  const params = { vmod_path: `/nowhere:${folder}`, worker_threads: '1' };
  proxy = await startProxy(box, { program: program('', ''), params });
});

describe('the sample in JavaScript', () => {
  it('has functions with defaults, names, ENUMs and every type', async () => {
    const call = [
      'sample.greet()',
      'sample.greet("x", loud, 2)',
      'sample.greet(how = loud)',
      'sample.add(2, b = 5)',
      'sample.half()',
      'sample.half(1m)',
      'sample.is_private(client.ip)',
      'sample.reverse(:YWJj:)',
      'sample.pick(b1, b2, true)',
      'sample.fields(req)',
    ].join(' + "; " + ');
    await loadAndUse(proxy, 'types', program('import sample;', `set req.http.x = ${call};`));
    expect(await x(proxy)).toMatch(
      /^200 hello world; HELLO X, HELLO X; HELLO WORLD; 7; 5\.000; 30\.000; true; :Y2Jh:; b2; \d+$/,
    );
  });

  it('writes to header fields and to the log', async () => {
    const body = 'sample.stamp(req.http.x, "mark"); sample.log("one " + req.http.none + "two");';
    await loadAndUse(proxy, 'writes', program('import sample;', body));
    expect(await x(proxy)).toBe('200 recv true mark');
    await proxy.logged(/VCL_Log +c one two\n/, '-g', 'raw', '-i', 'VCL_Log');
  });

  it('keeps private data for a place, a program, a task and a top request', async () => {
    const calls = 'sample.calls() + "" + sample.of_program() + sample.of_task() + sample.of_top()';
    const body = `set req.http.x = ${calls}; set req.http.x = req.http.x + " " + ${calls};`;
    await loadAndUse(proxy, 'private', program('import sample;', body));
    expect(await x(proxy)).toBe('200 1111 1222');
    expect(await x(proxy)).toBe('200 2311 2422');
  });

  it('has objects with methods, also under another name', async () => {
    const init = `sub vcl_init { new up = s.counter(5); new down = s.counter(direction = down);
      if (s.add(1) > 5) { new maybe = s.maybe(); } }`;
    const body = 'set req.http.x = up.next() + " " + down.next(2) + " " + up.name() + " " + maybe.there();';
    await loadAndUse(proxy, 'objects', program('import sample as s;', body, init));
    expect(await x(proxy)).toBe('200 6 -2 up false');
    expect(await x(proxy)).toBe('200 7 -4 up false');
  });

  it('receives events, and can refuse a program', async () => {
    await loadAndUse(proxy, 'events', program('import sample;', 'set req.http.x = sample.events();'));
    expect(await x(proxy)).toMatch(/load:events warm:events$/);
    const refused = await load(proxy, 'unwanted', program('import sample;', 'sample.add(1);'));
    expect(refused.code).not.toBe(0);
    expect(refused.text).toContain('sample: not this program');
    expect((await proxy.adm('vcl.list')).stdout).not.toContain('unwanted');
  });

  it('fails a transaction and never the worker', async () => {
    const body = `if (req.url == "/throw") { set req.http.x = sample.throw_error(); }
      if (req.url == "/refuse") { sample.refuse("not " + req.url); }
      if (req.url == "/type") { set req.http.x = sample.wrong_type(); }
      if (req.url == "/promise") { set req.http.x = sample.promise(); }
      set req.http.x = "went on";`;
    await loadAndUse(proxy, 'failures', program('import sample;', body));
    const worker = proxy.workerPid();
    for (const path of ['/throw', '/refuse', '/type', '/promise']) {
      expect((await proxy.get(path)).status).toBe(503);
    }
    expect(await x(proxy)).toBe('200 went on');
    expect(proxy.workerPid()).toBe(worker);
    await expect
      .poll(async () => (await errorsOf(proxy)).slice(-4))
      .toEqual([
        'sample.throw_error: thrown on purpose',
        'not /refuse',
        'sample.wrong_type() returned string seven, not INT',
        "sample.promise() returned a promise: its row has no 'waits'",
      ]);
  });

  it('fails the load from vcl_init, in words', async () => {
    const init = 'sub vcl_init { new low = sample.counter(-1); }';
    const refused = await load(proxy, 'low', program('import sample;', 'low.next();', init));
    expect(refused.code).not.toBe(0);
    expect(refused.text).toContain('low starts below zero');
  });

  it('is called in its states alone', async () => {
    const body = 'sub vcl_backend_fetch { set bereq.http.x = sample.client_only(); }';
    const refused = await load(proxy, 'places', program('import sample;', '', body));
    expect(refused.text).toContain("'sample.client_only': Not available in subroutine 'vcl_backend_fetch'.");
  });
});

describe.skipIf(native.missing !== undefined)('the sample in C', () => {
  const from = `import sample_c from "${native.file}";`;

  it('does the same', async () => {
    const init =
      'sub vcl_init { new up = sample_c.counter(5); new down = sample_c.counter(direction = down); }';
    const body = `set req.http.x = sample_c.greet() + "; " + sample_c.greet("x", loud) + "; " + sample_c.add(2)
        + sample_c.add(2, 3) + "; " + sample_c.field("Host") + "; " + up.next() + up.next() + down.next();
      set req.http.x = req.http.x + "; " + sample_c.calls() + sample_c.of_program() + sample_c.of_task()
        + sample_c.of_task() + sample_c.of_top();`;
    await loadAndUse(proxy, 'c_same', program(from, body, init));
    expect(await x(proxy)).toMatch(/^200 hello world; HELLO x; 35; \S+; 67-1; 11121$/);
    expect(await x(proxy)).toMatch(/; 89-2; 22121$/);
  });

  it('fails transactions and refuses a program', async () => {
    const body = `if (req.url == "/throw") { set req.http.x = sample_c.throw_error(); }
      if (req.url == "/refuse") { sample_c.refuse("no, says C"); } set req.http.x = sample_c.greet("C");`;
    await loadAndUse(proxy, 'c_fails', program(from, body));
    const worker = proxy.workerPid();
    expect((await proxy.get('/throw')).status).toBe(503);
    expect((await proxy.get('/refuse')).status).toBe(503);
    expect(await x(proxy)).toBe('200 hello C');
    expect(proxy.workerPid()).toBe(worker);
    await expect
      .poll(async () => (await errorsOf(proxy)).slice(-2))
      .toEqual(['sample_c.throw_error: thrown on purpose', 'no, says C']);
    const refused = await load(proxy, 'unwanted', program(from, 'sample_c.add(1);'));
    expect(refused.text).toContain('sample_c: not this program');
  });

  it('is found by the name that Varnish gives such files', async () => {
    copyFileSync(native.file as string, join(folder, 'libvmod_sample_c.so'));
    await loadAndUse(proxy, 'c_so', program('import sample_c;', 'set req.http.x = sample_c.add(1);'));
    expect(await x(proxy)).toBe('200 2');
  });

  it('survives that its file is overwritten', async () => {
    const file = join(folder, 'over.node');
    copyFileSync(native.file as string, file);
    await loadAndUse(
      proxy,
      'c_over',
      program(`import sample_c from "${file}";`, 'set req.http.x = sample_c.add(1);'),
    );
    writeFileSync(file, 'no addon any more');
    expect(await x(proxy)).toBe('200 2');
  });
});

describe('a file that cannot be used', () => {
  const refused = async (name: string, from: string | null = null): Promise<string> => {
    const head = from === null ? `import ${name};` : `import ${name} from "${from}";`;
    const answer = await load(proxy, `bad_${name}`, program(head, ''));
    expect(answer.code).not.toBe(0);
    return answer.text;
  };

  it.each([
    ['absent', null, 'Could not find VMOD absent'],
    ['throws', 'throw new Error("no module");', '\tno module'],
    ['broken', 'this is no JavaScript', 'Could not open VMOD broken'],
    ['waits', 'await new Promise(() => setTimeout(() => 0, 1e6)); export default {};', 'within 5 s'],
    ['leaves', 'process.exit(7);', 'it ended the process that read it (status 7)'],
    ['dies', 'process.kill(process.pid, "SIGSEGV");', 'it crashed while it was read (SIGSEGV)'],
    ['eats', 'const all = []; for (;;) all.push(Buffer.alloc(1e7, 1));', 'it took too much memory'],
    ['nothing', 'export const x = 1;', "(it exports neither 'extension' nor a default)"],
    ['no_abi', 'export default { functions: {} };', "(it has no 'abi')"],
    ['new_abi', 'export default { abi: 99 };', '(it was written for version 99 of the interface, this is 1)'],
    ['other', 'export default { abi: 1, name: "x" };', "(it calls itself 'x')"],
    ['empty', 'export default { abi: 1 };', '(it has neither functions nor objects nor filters)'],
    [
      'type',
      'export default { abi: 1, functions: { f: { signature: "STRIGN f()", call() {} } } };',
      `(function f: Unknown type 'STRIGN' in the signature "STRIGN f()")`,
    ],
    [
      'code',
      'export default { abi: 1, functions: { f: { signature: "VOID f(INT a=process.exit())", call() {} } } };',
      "'process.exit()' is not a valid default for INT",
    ],
    [
      'no_call',
      'export default { abi: 1, functions: { f: { signature: "VOID f()" } } };',
      "(function f has no function 'call')",
    ],
    [
      'getter',
      'export default { abi: 1, get functions() { throw new Error("no reading"); } };',
      '\tno reading',
    ],
  ])('%s is a compile error that names it', async (name, text, expected) => {
    if (text !== null) module(`${name}.mjs`, text);
    const before = proxy.workerPid();
    expect(await refused(name)).toContain(expected);
    expect(proxy.workerPid()).toBe(before);
    expect((await proxy.adm('ping')).code).toBe(0);
  });

  it('may be neither a module nor an addon', async () => {
    expect(await refused('text', module('text.txt', 'text'))).toContain('Is neither a JavaScript module');
    expect(await refused('fake', module('fake.node', 'text'))).toContain('Could not open VMOD fake');
    expect(await refused('dir', folder)).toContain('Is a directory');
  });

  it('does not keep others waiting while it is read', async () => {
    const done: string[] = [];
    const slow = refused('hangs', module('slow.mjs', 'for (;;);')).finally(() => done.push('load'));
    expect((await proxy.adm('ping')).code).toBe(0);
    expect(done).toEqual([]);
    expect(await slow).toContain('it did not describe itself within 5 s');
  });

  it('is a matter of the command line too', async () => {
    const file = box.path('cli.vcl');
    writeFileSync(file, program(`import no_abi from "${join(folder, 'no_abi.mjs')}";`, ''));
    const done = await tool('proxyd', 'daemon', ['-C', '-f', file]);
    expect(done.code).toBe(2);
    expect(done.stderr).toContain("it has no 'abi'");
  });
});

describe('a module in the worker', () => {
  const version = (n: number): string =>
    `export const extension = { abi: 1, functions: { n: { signature: 'INT n()', call: () => ${n} } } };`;
  const use = 'set req.http.x = changing.n();';

  it('is opened again when its file has changed, beside the old one', async () => {
    for (const [file, text] of [
      ['changing.mjs', version],
      ['changing.cjs', (n: number) => version(n).replace('export const extension =', 'module.exports =')],
    ] as const) {
      const head = `import changing from "${module(file, text(1))}";`;
      const name = file.replace('.', '_');
      await loadAndUse(proxy, `old_${name}`, program(head, use));
      expect(await x(proxy)).toBe('200 1');
      module(file, text(2));
      await loadAndUse(proxy, `new_${name}`, program(head, use));
      expect(await x(proxy)).toBe('200 2');
      await proxy.adm('vcl.use', `old_${name}`);
      expect(await x(proxy)).toBe('200 1');
    }
  });

  it('is opened once for all programs', async () => {
    const text = `let opened = 0; opened++; let calls = 0;
      export const extension = { abi: 1, functions: { n: { signature: 'INT n()', call: () => ++calls * opened } } };`;
    const head = `import changing from "${module('shared.mjs', text)}";`;
    await loadAndUse(proxy, 'shared1', program(head, use));
    expect(await x(proxy)).toBe('200 1');
    await loadAndUse(proxy, 'shared2', program(head, use));
    expect(await x(proxy)).toBe('200 2');
  });

  it('comes back with a new worker, even when its file is gone', async () => {
    const common = version(4).replace('export const extension =', 'exports.extension =');
    const head = `import changing from "${module('gone.js', version(3))}";
      import other from "${module('gone_too.js', common)}";`;
    await loadAndUse(proxy, 'gone', program(head, 'set req.http.x = changing.n() + other.n();'));
    expect(await x(proxy)).toBe('200 7');
    for (const file of ['gone.js', 'gone_too.js']) rmSync(join(folder, file));
    const old = proxy.workerPid() as number;
    process.kill(old, 'SIGKILL');
    await until('a new worker', () => !alive(old) && proxy.workerPid() !== null && proxy.workerPid() !== old);
    await proxy.serving();
    expect(await until('an answer', () => x(proxy).catch(() => null))).toBe('200 7');
  });

  it('may throw from a timer or a promise without taking the worker along', async () => {
    const text = `let kept = null;
      export const extension = { abi: 1, functions: { n: { signature: 'INT n()', call: (ctx) => {
        kept = ctx;
        setTimeout(() => { throw new Error('from a timer'); }, 1);
        setTimeout(() => kept.log('too late'), 2);
        Promise.reject(new Error('from a promise'));
        return 4;
      } } } };`;
    await loadAndUse(proxy, 'later', program(`import changing from "${module('later.mjs', text)}";`, use));
    const worker = proxy.workerPid();
    expect(await x(proxy)).toBe('200 4');
    await until('three notes', () =>
      ['from a timer', 'from a promise', 'used after the call it belongs to'].every((t) =>
        proxy.daemon.stderr.includes(t),
      ),
    );
    expect(await x(proxy)).toBe('200 4');
    expect(proxy.workerPid()).toBe(worker);
  });

  it('is refused when it says something else there', async () => {
    const text = `export const extension = { abi: 1, functions: { n: {
      signature: process.send === undefined ? 'INT n()' : 'STRING n()', call: () => 1 } } };`;
    const answer = await load(
      proxy,
      'liar',
      program(`import changing from "${module('liar.mjs', text)}";`, use),
    );
    expect(answer.text).toContain('its description has changed since the program was compiled');
  });
});

it('names with a slash are refused when they are unsafe', async () => {
  const strict = await startProxy(box, {
    program: program('import sample;', 'set req.http.x = sample.add(1);'),
    params: { vmod_path: folder, vcc_unsafe_path: 'off' },
  });
  expect(await x(strict)).toBe('200 2');
  const answer = await load(strict, 'slash', program('import sample from "./sample.mjs";', ''));
  expect(answer.text).toContain("'import ... from path ...' is unsafe.");
  await strict.stop();
});
