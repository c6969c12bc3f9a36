// Programs compiled in a process of their own: the same findings as in the manager, which is not blocked meanwhile; a
// process that dies yields an error message.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { filesOf, makeBundle } from '../../../../daemon/fleet/program-bundle.ts';
import {
  type Compiled,
  type CompileJob,
  doJob,
  type JobAnswer,
  type SourceText,
} from '../../../../daemon/manager/programs/compile-job.ts';
import { makeCompile } from '../../../../daemon/manager/programs/compiler.ts';
import {
  AnswerReader,
  CompilerProcesses,
  jobBytes,
  readJob,
  writeAnswer,
} from '../../../../daemon/manager/programs/compiler-processes.ts';
import { ProcessCode } from '../../../../daemon/own-process.ts';
import { Params } from '../../../../daemon/params/parameter-set.ts';
import { isFull } from '../../../harness/runs.ts';

const root = mkdtempSync(join(tmpdir(), 'proxyd-compile-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const params = new Params({ vcl_path: root, vmod_path: root, vcc_err_unref: 'off' });
const NONE = 'vcl 4.1;\nbackend none none;\n';

function compilerOf(processes: CompilerProcesses | null, cache = join(root, 'cache')) {
  mkdirSync(cache, { recursive: true });
  return makeCompile(
    params,
    [],
    () => ['label'],
    { directory: cache, inUse: () => [], account: null },
    processes,
  );
}

/** Counts what it starts. */
class Counted extends CompilerProcesses {
  runs = 0;
  override run(...args: Parameters<CompilerProcesses['run']>): ReturnType<CompilerProcesses['run']> {
    this.runs++;
    return super.run(...args);
  }
}

/** Does the work of a process here, with all that goes between the two as bytes. */
class Here extends Counted {
  override async run(job: CompileJob): Promise<JobAnswer | string> {
    this.runs++;
    const reader = new AnswerReader();
    writeAnswer(doJob(readJob(Buffer.concat([...jobBytes(job)]))), (bytes) =>
      reader.take(Buffer.from(bytes)),
    );
    return reader.answer ?? 'no answer';
  }
}

function processes(largest: number, code?: string): Counted {
  if (code === undefined) {
    const made = new Counted();
    made.largestInline = largest;
    return made;
  }
  const file = join(root, `compiler${serial++}.mjs`);
  writeFileSync(file, code);
  const made = new Counted(() => new ProcessCode(file));
  made.largestInline = largest;
  return made;
}
let serial = 0;

function acl(networks: number): string {
  const lines = Array.from({ length: networks }, (_, i) => `"10.${i >> 8}.${i & 255}.0"/24;`);
  return `${NONE}acl many {\n${lines.join('\n')}\n}\nsub vcl_recv { if (client.ip ~ many) { return (pass); } }\n`;
}

writeFileSync(join(root, 'part.vcl'), 'sub part { set req.http.Part = "ü"; }\n');
writeFileSync(join(root, 'latin.vcl'), Buffer.from('sub latin { set req.http.Latin = "\xfc"; }\n', 'latin1'));
writeFileSync(join(root, 'wrong.vcl'), 'sub part { set req.http.Part = ; }\n');
writeFileSync(join(root, 'large.vcl'), `# ${'x'.repeat(1000)}\nsub part { }\n`);
writeFileSync(
  join(root, 'ext.mjs'),
  `export default { functions: { f: { signature: 'STRING f(STRING s)', call: (_, s) => s } } };`,
);

const main = (text: string): SourceText => ({ name: join(root, 'main.vcl'), text: NONE + text });
const bundled = (text: string): SourceText => {
  const { name, text: whole } = main(text);
  const files = [
    { name, text: whole },
    { name: join(root, 'part.vcl'), text: 'sub part { set req.url = "/bundled"; }' },
  ];
  return { name, text: whole, bundle: makeBundle('b', [root], filesOf(files), 'n', 0) };
};
const CALL = 'include "part.vcl";\nsub vcl_recv { call part; }\n';

describe('a program that a process compiles', () => {
  const KINDS: [string, SourceText][] = [
    ['an acl', main(acl(300).slice(NONE.length))],
    ['included files', main(CALL)],
    [
      'bytes above ASCII',
      main('include "latin.vcl";\nsub vcl_recv { call latin; set req.http.A = "\udcfcü"; }\n'),
    ],
    ['a shipped file', main('include "invalidate.vcl";\nacl invalidators { "::1"; }\n')],
    ['a bundle', bundled(CALL)],
    ['a file that its bundle lacks', bundled('include "latin.vcl";\n')],
    ['warnings', main('sub unused { }\n')],
    ['errors', main('sub vcl_recv { set req.url = 1 + ; }\nsub vcl_nothing { }\n')],
    ['an error in an included file', main('include "wrong.vcl";\n')],
    ['a missing file', main('include "missing.vcl";\n')],
    ['a host name', main('backend b { .host = "localhost"; }\nsub vcl_recv { set req.backend_hint = b; }\n')],
    ['a name of no host', main('backend b { .host = "nothing.invalid"; }\n')],
    ['a label', main('sub vcl_recv { return (vcl(label)); }\n')],
    ['an unknown label', main('sub vcl_recv { return (vcl(other)); }\n')],
    ['a built-in extension', main('import std;\nsub vcl_recv { std.log("x"); }\n')],
    ['an extension from a file', main('import ext;\nsub vcl_recv { set req.url = ext.f("x"); }\n')],
    ['an extension that is nowhere', main('import nowhere;\n')],
    ['a text that is no program', { name: 'x', text: '\0{"' }],
  ];
  it.each(KINDS)('is the same: %s', async (_, source) => {
    const apart = new Here();
    apart.largestInline = 0;
    const inline = await compilerOf(null)(source);
    expect(await compilerOf(apart)(source)).toEqual(inline);
    expect(apart.runs).toBeGreaterThan(0);
  });

  // Of the process itself, one of each way that it reads files, names and modules.
  const APART = /^(included files|a shipped file|a bundle|errors|a label|an extension from a file)$/;
  it.each(KINDS.filter(([name]) => isFull || APART.test(name)))(
    'is the same from a process: %s',
    async (_, source) => {
      const apart = processes(0);
      expect(await compilerOf(apart)(source)).toEqual(await compilerOf(null)(source));
      expect(apart.runs).toBeGreaterThan(0);
    },
  );

  it('leaves the turns of this process to others', async () => {
    const apart = processes(64 * 1024);
    const source = { name: 'acl', text: acl(6000) };
    let turns = 0;
    let over = false;
    const count = (): void => {
      turns++;
      if (!over) setImmediate(count);
    };
    const compiling = compilerOf(apart)(source);
    setImmediate(count);
    const result = (await compiling) as Compiled;
    over = true;
    expect(result.program.files[0]?.text).toBe(source.text);
    // Compiled here, it would be over within the first ones.
    expect(turns).toBeGreaterThan(50);
  }, 120_000);
});

describe('an answer', () => {
  it.each([1, 3, 4, 5, 1000, 65_536, 10_000_000])('arrives in chunks of %i bytes', (size) => {
    const code = 'x'.repeat(300_000);
    const program = () => ({
      pieces: [code, 'y', code].map((text, line) => ({ text, line })),
      files: [code, '', 'z'].map((text, i) => ({ name: `${i}.vcl`, text })),
      positions: code,
    });
    const answer = () => ({
      findings: { program: program() as Compiled['program'], text: 'a warning' },
      requests: { imports: [], names: ['b'] },
    });
    const written: Buffer[] = [];
    writeAnswer(answer(), (bytes) => written.push(bytes));
    const bytes = Buffer.concat(written);
    const reader = new AnswerReader();
    let early = 0;
    for (let at = 0; at < bytes.length; at += size) {
      if (reader.answer !== null) early++;
      reader.take(bytes.subarray(at, at + size));
    }
    expect(early).toBe(0);
    expect(reader.answer).toEqual(answer());
    // No value is long.
    expect(Math.max(...written.map(({ length }) => length))).toBeLessThan(code.length);
  });
});

describe('the size from which a process compiles', () => {
  it.each<[string, SourceText, number]>([
    ['small', main(CALL), 0],
    ['large by its own text', main(`# ${'x'.repeat(1000)}\n`), 1],
    ['large by what it includes', main('include "large.vcl";\nsub vcl_recv { call part; }\n'), 1],
    ['large by its bundle', bundled(`# ${'x'.repeat(1000)}\n${CALL}`), 1],
  ])('%s', async (_, source, started) => {
    const apart = processes(1000);
    const inline = await compilerOf(null)(source);
    expect(await compilerOf(apart)(source)).toEqual(inline);
    expect(apart.runs).toBe(started);
  });

  it('is less once the daemon has started', () => {
    const made = new CompilerProcesses();
    const before = made.largestInline;
    made.started();
    expect(made.largestInline).toBeLessThan(before);
  });
});

describe('a compiler that fails', () => {
  const end = '\nVCL compilation failed';
  const ends: [string, string, string][] = [
    ['by a signal', 'process.kill(process.pid, "SIGKILL");', 'signal 9 (SIGKILL)'],
    ['with a status', 'process.exit(3);', 'exited with 3'],
    ['by an error', 'throw new TypeError("broken");', 'exited with 1: TypeError: broken'],
    [
      'with what is no result',
      `import { writeSync } from 'node:fs'; writeSync(3, Buffer.from([4, 0, 0, 0, 1, 2, 3, 4]));
       setInterval(() => undefined, 1000);`,
      'signal 9 (SIGKILL)',
    ],
    ['without a word', '', 'its process gave no result'],
    [
      'with half a result',
      `import { writeSync } from 'node:fs'; writeSync(3, 'half');`,
      'its process gave no result',
    ],
  ];
  it.each(ends)('%s', async (_, code, why) => {
    const result = await compilerOf(processes(0, code))(main(CALL));
    expect(result).toBe(`Running VCC-compiler failed, ${why}${end}`);
  });

  it('for want of memory', async () => {
    const code = 'const all = []; for (;;) all.push(Array.from({ length: 1000 }, () => ({})));';
    const { NODE_OPTIONS } = process.env;
    process.env.NODE_OPTIONS = '--max-old-space-size=16';
    try {
      const why = 'signal 6 (SIGABRT): it ran out of memory';
      expect(await compilerOf(processes(0, code))(main(CALL))).toBe(
        `Running VCC-compiler failed, ${why}${end}`,
      );
    } finally {
      if (NODE_OPTIONS === undefined) delete process.env.NODE_OPTIONS;
      else process.env.NODE_OPTIONS = NODE_OPTIONS;
    }
  });

  it('is reported as in this process, when it throws', async () => {
    const frames: number[] = [];
    writeAnswer({ thrown: 'Maximum call stack size exceeded' }, (bytes) => frames.push(...bytes));
    const code = `import { writeSync } from 'node:fs'; writeSync(3, Buffer.from(${JSON.stringify(frames)}));`;
    await expect(compilerOf(processes(0, code))(main(CALL))).rejects.toThrow(
      'Maximum call stack size exceeded',
    );
  });

  it('takes nothing with it: another one continues', async () => {
    const good = compilerOf(processes(0));
    const [one, bad, two] = await Promise.all([
      good(main(CALL)),
      compilerOf(processes(0, 'process.exit(3);'))(main(CALL)),
      good(main('sub vcl_recv { wrong; }')),
    ]);
    expect(one).toEqual(await compilerOf(null)(main(CALL)));
    expect(bad).toContain('exited with 3');
    expect(two).toEqual(await compilerOf(null)(main('sub vcl_recv { wrong; }')));
  });

  it('has ended with the daemon', async () => {
    const apart = processes(0, 'setInterval(() => undefined, 1000);');
    const compile = compilerOf(apart);
    const under = [compile(main(CALL)), compile(main(CALL))];
    while (apart.runs < 2) await new Promise((resolve) => setImmediate(resolve));
    apart.close();
    const stopping = `Running VCC-compiler failed, the daemon is stopping${end}`;
    expect(await Promise.all(under)).toEqual([stopping, stopping]);
    expect(await compile(main(CALL))).toBe(stopping);
  });

  it('needs its file no longer once the daemon has started', async () => {
    const file = join(root, 'gone.mjs');
    writeFileSync(file, 'process.exit(7);');
    const apart = new CompilerProcesses(() => new ProcessCode(file));
    apart.started();
    apart.largestInline = 0;
    rmSync(file);
    expect(await compilerOf(apart)(main(CALL))).toContain('exited with 7');
  });
});
