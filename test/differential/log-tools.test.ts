// proxyncsa, proxytop and proxyhist beside Varnish's tools: the same recordings and arguments give the same
// bytes on standard output and the same error text; and of live traffic through either daemon the tool of that
// daemon says the same. proxyhist's pictures are its own; only what it refuses is compared.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Origin, respond } from '../harness/origin.ts';
import { findProgram, PATIENCE, Sandbox } from '../harness/processes.ts';
import { backendProgram, type Product, ROOT, startProxy } from '../harness/proxy.ts';
import { makeRecording } from './log-recording.ts';

const TOOLS = ['ncsa', 'top', 'hist'] as const;
type Name = (typeof TOOLS)[number];
const missing = TOOLS.filter((name) => findProgram(`varnish${name}`) === null);
if (missing.length > 0) console.warn(`log tools: not compared, no varnish${missing.join(', varnish')}`);

const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  bin: Record<string, string>;
};

interface Said {
  out: string;
  err: string;
  code: number;
}

/** Runs a tool; the products' names are made the same in what it says. */
function say(product: Product, name: Name, args: readonly string[]): Promise<Said> {
  const program = product === 'proxyd' ? process.execPath : `varnish${name}`;
  const lead = product === 'proxyd' ? [join(ROOT, bin[`proxy${name}`] as string)] : [];
  const neutral = (text: string): string => text.replaceAll('varnish', 'proxy');
  return new Promise((resolve) => {
    const child = execFile(
      program,
      [...lead, ...args],
      { encoding: 'latin1', maxBuffer: 1 << 24, timeout: PATIENCE, env: { ...process.env, TERM: 'dumb' } },
      (_error, out, err) => resolve({ out, err: neutral(err), code: child.exitCode ?? -1 }),
    );
    child.stdin?.end();
  });
}

async function same(name: Name, args: readonly string[]): Promise<void> {
  const [theirs, ours] = await Promise.all([say('varnish', name, args), say('proxyd', name, args)]);
  expect(ours, args.join(' ')).toEqual(theirs);
}

/** The same for -j of proxyncsa but for what would be no JSON: bytes of a text that is no UTF-8, which Varnish writes as
 * they are and proxyd as characters. */
async function sameJson(args: readonly string[]): Promise<void> {
  const [theirs, ours] = await Promise.all([say('varnish', 'ncsa', args), say('proxyd', 'ncsa', args)]);
  const escaped = (text: string): string =>
    text.replace(/[\x80-\xff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  expect({ ...ours, out: escaped(ours.out) }, args.join(' ')).toEqual({
    ...theirs,
    out: escaped(theirs.out),
  });
}

/** Text formats only: in place of a missing number Varnish prints the text it has, proxyd 0. */
const TEXTS = [
  '%h|%l|%u|%r|%{Referer}i|%{X-A}i|%{x-b}o|%H|%m|%q|%U',
  '%{Varnish:hitmiss}x|%{Varnish:handling}x|%{Varnish:side}x|%{Varnish:vxid}x|%{VCL_Log:key}x|%{VCL_Log:}x',
  '%{VSL:ReqHeader:Host}x|%{VSL:ReqHeader:x-a[1]}x|%{VSL:ReqAcct[3]}x|%{VSL:Timestamp:Process[2]}x|%{VSL:Begin[3]}x',
].join('|');

/** Formats of which no line depends on a time that may be missing. */
const FACTS = [
  '%h|%l|%u|%r|%s|%b|%{Referer}i|%{X-A}i|%{x-b}o|%H|%I|%m|%O|%q|%U',
  '%{Varnish:time_firstbyte}x|%{Varnish:hitmiss}x|%{Varnish:handling}x|%{Varnish:side}x|%{Varnish:vxid}x',
  '%{VCL_Log:key}x|%{VCL_Log:}x|%{VCL_Log:other}x|%{VCL_Log:KEY}x',
  '%{VSL:ReqHeader:Host}x|%{VSL:ReqHeader:x-a[1]}x|%{VSL:ReqAcct[3]}x|%{VSL:Timestamp:Process[2]}x|%{VSL:Begin[3]}x',
  '%{VSL:Begin}x|%{VSL:End}x|%{VSL:Error}x|%{VSL:VCL_Log:foo[2]}x|%{VSL:ReqU}x|%{VSL:BogoHeader:x}x|%{VSL:lostheader}x',
].join('|');
const TIMES =
  '%t|%D|%T|%{s}T|%{ms}T|%{us}T|%{sec}t|%{msec}t|%{usec}t|%{msec_frac}t|%{usec_frac}t|%{%Y-%m-%dT%H:%M:%S%z %j %e %a %U %V %s %%}t|%{%A %b %B %c %C}t|%{%D %F %g %G %h %I %k %l}t|%{%M %p %P %r %R %T %u %w}t|%{%W %x %X %y %Z %+ %Q}t|%{%-d %_H %^a %#Z %#p %010Y}t|%{%12F %-5d %^10b %Ey %Od}t';

describe.skipIf(missing.length > 0)('beside Varnish log tools', () => {
  let dir = '';
  const files: string[] = [new URL('../queries/fixtures/mixed.vsl', import.meta.url).pathname];

  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'log-tools-'));
    const made = join(dir, 'made.vsl');
    writeFileSync(made, makeRecording(77, 1200));
    files.push(made);
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it.each([[], ['-b'], ['-c'], ['-b', '-c'], ['-E']].map((a) => [a.join(' '), a] as const))(
    'proxyncsa %s writes the same lines',
    async (_name, args) => {
      for (const file of files) {
        for (const format of [[], ['-F', FACTS], ['-F', TIMES]])
          await same('ncsa', ['-r', file, ...args, ...format]);
      }
    },
  );

  it.each([['-j'], ['-j', '-b', '-c', '-E']].map((a) => [a.join(' '), a] as const))(
    'proxyncsa %s writes the same values',
    async (_name, args) => {
      for (const file of files) {
        for (const format of [TEXTS, TIMES]) await sameJson(['-r', file, ...args, '-F', format]);
      }
    },
  );

  it('proxyncsa has JSON values of binary records', async () => {
    for (const file of files)
      await same('ncsa', ['-r', file, '-j', '-F', '%{VSL:Debug}x|%{VSL:Hash}x|%{VSL:H2RxHdr}x']);
  });

  it.each([
    ['-g', 'request'],
    ['-g', 'request', '-b'],
    ['-g', 'request', '-j'],
    ['-q', 'RespStatus == 404'],
    ['-C', '-q', 'ReqMethod eq "get"'],
    ['-F', 'a\\tb\\nc\\q%s\\'],
    ['-F', ''],
  ])('proxyncsa %s %s %s', async (...args) => {
    const [mixed] = files as [string];
    await same('ncsa', ['-r', mixed, ...args.filter((a) => a !== undefined)]);
  });

  const refused = (...lines: string[]): string[][] => lines.map((line) => line.split(' '));
  it.each(
    refused(
      '-F a -F b',
      '-F %z',
      '-F %{a',
      '-F %{a}y',
      '-F %',
      '-F %%',
      '-F %>s',
      '-F %{x}h',
      '-F %{x}T',
      '-F %{}x',
      '-F %{Varnish:foo}x',
      '-F %{Foo:bar}x',
      '-F %{VCL_Log}x',
      '-F %{VSL:foo}x',
      '-F %{VSL:Req}x',
      '-F %{VSL:}x',
      '-F %{VSL:Debug}x',
      '-F %{VSL:Begin[0]}x',
      '-F %{VSL:Begin[256]}x',
      '-F %{VSL:Begin[-1]}x',
      '-F %{VSL:Begin[1}x',
      '-F %{VSL:Begin[1]a}x',
      '-F %{VSL:Begin[a]}x',
      '-F %{VSL:Begin[]}x',
      '-f /nonexistent',
      '-f /',
      '-f /dev/null',
      '-g raw',
      '-g foo',
      '-g foo -F %z',
      '-D',
      '-D -w -',
      '-q [',
      '-q [ -F %z',
      '-w /nonexistent/x',
      '-w /nonexistent/x -F %z',
      '-R x',
      '-L 0',
    ).map((args) => [args.join(' '), args] as const),
  )('proxyncsa refuses %s', async (_name, args) => {
    const [mixed] = files as [string];
    await same('ncsa', ['-r', mixed, ...args]);
  });

  it.each(
    refused(
      '-1',
      '-1 -f',
      '-1 -b',
      '-1 -c',
      '-1 -i Req*',
      '-1 -I ReqURL:a',
      '-1 -x Timestamp',
      '-1 -g raw',
    ).map((args) => [args.join(' '), args] as const),
  )('proxytop %s ranks the same', async (_name, args) => {
    for (const file of files) await same('top', ['-r', file, ...args]);
  });

  it.each(
    refused('-1 -i Foo', '-1 -q [', '-1 -g foo', '-1 -X (').map((args) => [args.join(' '), args] as const),
  )('proxytop refuses %s', async (_name, args) => {
    const [mixed] = files as [string];
    await same('top', ['-r', mixed, ...args]);
  });

  it.each(
    refused(
      '-P foo',
      '-P x:y',
      '-P Nope::1',
      '-P ReqAcct:5',
      '-P ReqAcct::x',
      '-P ReqAcct::5:1',
      '-P ReqAcct::5:a:b',
      '-P b:Timestamp:Process:x',
      '-P E:size',
      '-P c:',
      '-P ::',
      '-P Hash::1',
      '-p x',
      '-p 0',
      '-B x',
      '-B 0',
      '-B -1',
      '-g raw',
      '-g session',
    ).map((args) => [args.join(' '), args] as const),
  )('proxyhist refuses %s', async (_name, args) => {
    const [mixed] = files as [string];
    await same('hist', ['-r', mixed, ...args]);
  });
});

describe.skipIf(missing.length > 0)('live', () => {
  const box = new Sandbox('log-tools');
  afterAll(() => box.dispose());

  it('each tool says the same of the same traffic through its daemon', async () => {
    const origin = await Origin.start();
    for (const path of ['/', '/a?b=c', '/pass', '/restart']) {
      origin.on(path, () => respond('200 OK', { 'X-B': 'b"1' }, path));
    }
    const program = backendProgram(
      origin.port,
      `import std;
       sub vcl_recv {
         std.log("key:value of " + req.url);
         if (req.url == "/pass") { return (pass); }
         if (req.url == "/synth") { return (synth(403)); }
         if (req.url == "/restart" && req.restarts == 0) { return (restart); }
       }`,
    );
    const format =
      '%h %m %U%q %H %s %{X-A}i %{X-B}o %{VCL_Log:key}x %{Varnish:handling}x %{Varnish:hitmiss}x %{Varnish:side}x';
    const paths = ['/', '/', '/a?b=c', '/pass', '/synth', '/restart'];
    const output: Record<string, { lines: string; urls: string }> = {};
    for (const product of ['varnish', 'proxyd'] as const) {
      const proxy = await startProxy(box, { product, program });
      for (const path of paths) await proxy.get(path, { fields: { 'X-A': 'a b' } });
      await proxy.requestsLogged(paths.length);
      const lines = (await say(product, 'ncsa', ['-n', proxy.dir, '-d', '-b', '-c', '-F', format])).out;
      const urls = (await say(product, 'top', ['-n', proxy.dir, '-1', '-i', 'ReqURL,BereqURL'])).out;
      output[product] = { lines: lines.split('\n').sort().join('\n'), urls };
      await proxy.stop();
    }
    await origin.close();
    expect(output.proxyd).toEqual(output.varnish);
    expect(output.proxyd?.lines).toContain('GET /a?b=c HTTP/1.1 200');
  });
});
