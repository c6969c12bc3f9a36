// The one-shots against one running daemon: output, exit codes, and bad arguments.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeRecord, LOG_FILE_MAGIC } from '../../protocol/log-record.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { Origin, respond } from '../harness/origin.ts';
import { findProgram, run, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, command, ROOT, type RunningProxy, startProxy, tool } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-tools');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
  proxy = await startProxy(box, { backend: `127.0.0.1:${origin.port}` });
  await proxy.get('/one');
  await proxy.get('/one');
  await proxy.get('/two', { fields: { 'X-Mark': 'blue' } });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

const log = (...args: string[]) => tool('proxyd', 'log', ['-n', proxy.dir, ...args]);
const stat = (...args: string[]) => tool('proxyd', 'stat', ['-n', proxy.dir, ...args]);

const adm = (...words: string[]) => tool('proxyd', 'adm', ['-n', proxy.dir, ...words]);

describe('proxyadm', () => {
  it.each([
    ['ping'],
    ['param.show', '-j', 'default_ttl'],
    ['--', 'vcl.list'],
    ['no.such.command'],
    ['param.set', 'default_ttl', 'abc'],
    ['vcl.discard', 'boot'],
  ])('prints the answer to %s %s and exits as its status says', async (...words) => {
    const [end, answer] = [await adm(...words), await proxy.adm(...words)];
    const { code, stderr } = answer;
    const stdout = answer.stdout.replace(/\d{10}(\.\d+)?/, 'TIME');
    expect({ ...end, stdout: end.stdout.replace(/\d{10}(\.\d+)?/, 'TIME') }).toMatchObject({
      code,
      stderr,
      stdout,
    });
    expect(code).toBe(/^(no|param.set|vcl.discard)/.test(words.join(' ')) ? 1 : 0);
  });

  it.each([
    ['ping', /^PONG \d+ 1\.0/],
    ['status', /^Child in state running\n$/],
    ['help', /vcl\.load/],
    ['param.show default_ttl', /^default_ttl\n +Value is: 120\.000 \[seconds\] \(default\)\n/],
    ['vcl.list', /^active +auto +warm +\d+ +boot\n/],
    ['vcl.show boot', /127\.0\.0\.1/],
    ['vcl.show -v boot', /sub vcl_recv/],
    [
      'backend.list',
      /^Backend name\s+Admin\s+Probe\s+Health\s+Last change\n[\s\S]*boot\.default\s+healthy\s+0\/0\s+healthy/,
    ],
    ['ban.list', /^Present bans:\n/],
    ['listen.list', /127\.0\.0\.1/],
    ['param.show ttl', /default_ttl/],
  ])('%s', async (line, expected) => {
    const end = await proxy.adm(line);
    expect(end.stdout).toMatch(expected);
    expect(end).toMatchObject({ code: 0, stderr: '' });
  });

  it.each([
    ['ping -j'],
    ['param.show -j default_ttl'],
    ['vcl.list -j'],
    ['backend.list -j'],
    ['ban.list -j'],
    ['help -j'],
  ])('%s is JSON that begins with version, command and time', async (line) => {
    const end = await proxy.adm(line);
    expect(end.code).toBe(0);
    const parsed = JSON.parse(end.stdout) as unknown[];
    expect(parsed[0]).toBeTypeOf('number');
    expect(parsed[1]).toEqual(line.split(' '));
    expect(parsed[2]).toBeTypeOf('number');
  });

  it.each([
    ['no.such.command', 101, /Unknown request/],
    ['vcl.load', 104, /Too few parameters/],
    ['ping a b c d', 105, /Too many parameters/],
    ['param.set default_ttl abc', 106, /abc/],
    ['param.set no_such 1', 106, /Unknown parameter "no_such"/],
    ['param.show no_such', 106, /no_such/],
    ['vcl.load x /no/such/file', 106, /\/no\/such\/file/],
    ['vcl.use nope', 106, /No VCL named nope/],
    ['vcl.discard boot', 300, /Cannot discard active VCL program boot/],
    ['ban req.nope == 1', 106, /req\.nope/],
    ['ban req.url ~ (', 106, /./],
    ['panic.show', 300, /panic/],
  ])('%s fails with status %i', async (line, status, expected) => {
    const end = await proxy.adm(line);
    expect(end.code).toBe(1);
    expect(end.stderr + end.stdout).toMatch(expected);
    expect(end.stderr).toContain(`error code ${status}`);
  });

  it('cannot connect: exit 2', async () => {
    const end = await tool('proxyd', 'adm', ['-n', box.path('nobody'), '-t', '1', 'ping']);
    expect(end.code).toBe(2);
    expect(end.stderr).not.toBe('');
  });

  it.each([
    [['-T', '127.0.0.1:1'], 'Connection failed (127.0.0.1:1): Connection refused\n'],
    [
      ['-T', 'nosuch.invalid:1'],
      /^Connection failed \(nosuch\.invalid:1\): (Name or service not known|Temporary failure in name resolution)\n$/,
    ],
    [['-T', 'bogus'], 'Connection failed (bogus): "bogus" is not host:port\n'],
  ])('%s: says why there is no connection, in the words of the system', async (args, output) => {
    const end = await tool('proxyd', 'adm', [...args, 'ping']);
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toMatch(output);
  });

  it('reads commands from its standard input', async () => {
    const end = await tool('proxyd', 'adm', ['-n', proxy.dir], { input: 'ping\nstatus\n' });
    expect(end.code).toBe(0);
    expect(end.stdout).toMatch(/PONG[\s\S]*Child in state running/);
    const strict = await tool('proxyd', 'adm', ['-n', proxy.dir, '--strict'], { input: 'no.such\nstatus\n' });
    expect(strict.code).not.toBe(0);
    expect(strict.stdout).not.toContain('Child in state');
    expect(strict.stderr).toBe('Command failed with error code 101\n');
  });

  it('frames answers with -p, and ends a script with quit', async () => {
    const input =
      'ping -j 1\n\nvcl.inline h << E\nvcl 4.1;\nbackend d none;\nE\nvcl.discard h\nno.such\nquit\nstatus\n';
    const end = await tool('proxyd', 'adm', ['-n', proxy.dir, '-p'], { input });
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(end.stdout.replace(/1\d{9}\.\d{3}/, 'TIME')).toBe(
      '200 52      \n[ 2, ["ping", "-j", "1"], TIME, "PONG"\n\n]\n200 0       \n200 0       \n' +
        "101 44      \nUnknown request.\nType 'help' for more info.\n500 22      \nClosing CLI connection",
    );
  });

  it('marks an answer that was cut', async () => {
    expect((await proxy.adm('param.set', 'cli_limit', '128')).code).toBe(0);
    const end = await adm('param.show');
    expect(end).toMatchObject({ code: 0, stderr: '' });
    expect(end.stdout).toMatch(/^auto_restart[\s\S]{100,120}\n\[response was truncated\]\n$/);
    expect((await proxy.adm('param.reset', 'cli_limit')).code).toBe(0);
  });

  it('waits for a daemon that is only just starting', async () => {
    const dir = box.path('late');
    const asked = tool('proxyd', 'adm', ['-n', dir, '-t', '20', 'status', '-j']);
    const late = await startProxy(box, { backend: 'none', dir });
    expect((await asked).stdout).toContain('"status"');
    await late.stop();
  });

  it('loads, uses and discards programs', async () => {
    const file = box.path('program');
    writeFileSync(
      file,
      backendProgram(origin.port, 'sub vcl_deliver { set resp.http.X-Program = "loaded"; }'),
    );
    expect(await proxy.adm('vcl.load', 'mine', file)).toMatchObject({ code: 0, stdout: '\n' });
    expect((await proxy.adm('vcl.use', 'mine')).code).toBe(0);
    expect((await proxy.get('/one')).fields).toContainEqual(['X-Program', 'loaded']);
    expect((await proxy.adm('vcl.use', 'boot')).code).toBe(0);
    expect((await proxy.get('/one')).fields.some(([n]) => n === 'X-Program')).toBe(false);
    expect((await proxy.adm('vcl.discard', 'mine')).code).toBe(0);
    // It goes with its last request.
    await until('its end', async () => !(await proxy.adm('vcl.list')).stdout.includes('mine'));
  });

  it('a program with an error is refused with its place, and nothing changes', async () => {
    const file = box.path('program');
    writeFileSync(file, `${backendProgram(origin.port)}sub vcl_recv { set req.http.X = foo; }\n`);
    const end = await proxy.adm('vcl.load', 'broken', file);
    expect(end.code).toBe(1);
    expect(end.stderr + end.stdout).toMatch(/foo/);
    expect(end.stderr + end.stdout).toMatch(/Line 3|:3:/);
    expect((await proxy.adm('vcl.list')).stdout).not.toContain('broken');
    expect((await proxy.get('/one')).status).toBe(200);
  });

  it('bans the given condition', async () => {
    const count = origin.seen('/banned').length;
    await proxy.get('/banned');
    await proxy.get('/banned');
    expect(origin.seen('/banned')).toHaveLength(count + 1);
    expect((await proxy.adm('ban', 'req.url', '==', '/banned')).code).toBe(0);
    expect((await proxy.adm('ban.list')).stdout).toContain('req.url == /banned');
    await proxy.get('/banned');
    expect(origin.seen('/banned')).toHaveLength(count + 2);
    expect((await proxy.get('/one')).status).toBe(200);
  });

  it('a parameter set takes effect at once', async () => {
    origin.on('/lifetime', respond('200 OK', {}, 'x'));
    expect((await proxy.adm('param.set', 'default_ttl', '4321')).code).toBe(0);
    await proxy.get('/lifetime');
    await until('the lifetime in the log', async () => /TTL +. RFC 4321 /.test(await proxy.log('-g', 'raw')));
    expect((await proxy.adm('param.reset', 'default_ttl')).code).toBe(0);
  });
});

describe('proxylog', () => {
  it.each(['raw', 'vxid', 'request', 'session'])(
    '-d -g %s prints what the ring holds and exits 0',
    async (grouping) => {
      const text = await until('the log', async () => {
        const end = await log('-d', '-g', grouping);
        expect(end.code).toBe(0);
        return end.stdout.includes('/two') ? end.stdout : null;
      });
      expect(text).toMatch(/ReqURL +(?:c )?\/one/);
      if (grouping === 'raw') expect(text).toMatch(/^ +\d+ ReqMethod +c GET$/m);
      else expect(text).toMatch(/^\*.*<< (Request|Session) +>> \d+ *$/m);
      if (grouping === 'session') expect(text).toMatch(/^\*\*\* << BeReq +>> \d+/m);
    },
  );

  it('-q filters, -i chooses records', async () => {
    const end = await log(
      '-d',
      '-g',
      'request',
      '-q',
      'ReqHeader:X-Mark eq "blue"',
      '-i',
      'ReqURL,RespStatus',
    );
    expect(end.code).toBe(0);
    expect(end.stdout).toContain('/two');
    expect(end.stdout).not.toContain('/one');
    const tags = [...end.stdout.matchAll(/^-+ +(\S+)/gm)].map((m) => m[1]);
    expect(new Set(tags)).toEqual(new Set(['ReqURL', 'RespStatus']));
  });

  it('-c and -b choose sides', async () => {
    expect((await log('-d', '-c')).stdout).not.toContain('BereqURL');
    const backend = (await log('-d', '-b')).stdout;
    expect(backend).toContain('BereqURL');
    expect(backend).not.toMatch(/ ReqURL/);
  });

  it('-k ends after a number of transactions', async () => {
    const end = await log('-d', '-k', '1', '-c', '-g', 'request');
    expect(end.stdout.match(/<< Request/g)).toHaveLength(1);
  });

  it.each([
    ['a query with an error', ['-q', 'ReqURL eq'], /Query expression error:\n.*\(Pos 10\)\nReqURL eq\n/],
    ['a query with an unknown tag', ['-q', 'Nope eq "a"'], /Nope/],
    ['an unknown tag', ['-i', 'Nope'], /"Nope" matches zero tags/],
    ['an unknown grouping', ['-g', 'nope'], /nope/],
    ['a bad regular expression', ['-I', 'ReqURL:('], /./],
  ])('%s: exit 1 and the reason on stderr', async (_what, args, expected) => {
    const end = await log('-d', ...args);
    expect(end.stderr).toMatch(expected);
    expect(end.code).toBe(1);
  });

  it('follows from the end, writes its pid file when attached, ends on SIGTERM', async () => {
    const [program, lead] = command('proxyd', 'log');
    const pidFile = box.path('pid');
    const follower = box.start('proxylog', program, [
      ...lead,
      '-n',
      proxy.dir,
      '-g',
      'request',
      '-P',
      pidFile,
    ]);
    const written = await until('the pid file', () => {
      try {
        return readFileSync(pidFile, 'utf8').trim();
      } catch {
        return null;
      }
    });
    expect(written).toBe(String(follower.pid));
    await proxy.get('/followed');
    await until('the request', () => follower.stdout.includes('/followed'));
    expect(follower.stdout).not.toContain('/two');
    follower.child.kill('SIGTERM');
    expect(await follower.exit(30_000)).toMatchObject({ code: 0 });
  });

  it('cannot attach: exit 1 and a reason', async () => {
    const end = await tool('proxyd', 'log', ['-n', box.path('nobody'), '-d', '-t', '1']);
    expect(end.code).toBe(1);
    expect(end.stderr).not.toBe('');
  });

  it('-w writes a recording that -r reads', async () => {
    const file = box.path('recording');
    expect((await log('-d', '-g', 'raw', '-w', file)).code).toBe(0);
    const again = await tool('proxyd', 'log', ['-r', file, '-g', 'raw']);
    expect(again.code).toBe(0);
    expect(again.stdout).toContain('/two');
  });
});

describe('proxystat', () => {
  it('prints a snapshot where there is no terminal and nothing is asked for', async () => {
    const names = (text: string): string[] => text.split('\n').map((line) => line.split(' ')[0] as string);
    const [plain, once, raw] = await Promise.all([stat(), stat('-1'), stat('-r', '-I', 'MGT.uptime')]);
    expect(plain).toMatchObject({ code: 0, stderr: '' });
    expect(names(plain.stdout)).toEqual(names(once.stdout));
    expect(names(plain.stdout)).toContain('MAIN.cache_hit');
    expect(names(raw.stdout)).toEqual(['MGT.uptime', '']);
    expect(await stat('-c')).toMatchObject({ code: 1, stderr: expect.stringContaining('needs a terminal') });
  });

  it('-1 prints one line a counter', async () => {
    const text = await until('the counters', async () => {
      const end = await stat('-1');
      expect(end.code).toBe(0);
      return /^MAIN\.cache_hit +[1-9]/m.test(end.stdout) ? end.stdout : null;
    });
    expect(text).toMatch(/^MAIN\.client_req +\d+ +\d+\.\d\d \S/m);
    expect(text).toMatch(/^VBE\.boot\.default\.req +\d+/m);
    expect(text).toMatch(/^SMA\.s0\.g_bytes +\d+/m);
    expect(text).toMatch(/^MGT\.uptime +\d+/m);
  });

  it('-j is JSON', async () => {
    const end = await stat('-j');
    const parsed = JSON.parse(end.stdout) as { counters: Record<string, Record<string, unknown>> };
    expect(parsed.counters['MAIN.cache_hit']).toMatchObject({ flag: 'c', format: 'i' });
  });

  it('-l lists names, -f filters', async () => {
    const list = await stat('-l');
    expect(list.code).toBe(0);
    expect(list.stdout).toContain('MAIN.cache_hit');
    const some = await stat('-1', '-f', 'MAIN.cache_*');
    const names = some.stdout
      .trim()
      .split('\n')
      .map((l) => l.split(' ')[0] ?? '');
    expect(names.length).toBeGreaterThan(1);
    expect(names.every((n) => n.startsWith('MAIN.cache_'))).toBe(true);
    expect(some.stderr).toBe('');
  });

  // Standard output and status are those of Varnish's tool, which says nothing.
  it.each([
    ['-1', /^$/],
    ['-j', /"counters": {\s*}/],
    ['-x', /<proxystat [^>]*>\s*<\/proxystat>/],
    ['-l', /^Proxystat -f option fields:\n.*\n-+ +-+\n$/],
  ])('%s says where no counter matches the filters', async (form, empty) => {
    const none = await stat(form, '-f', 'nope', '-I', 'NOR.this');
    expect(none).toMatchObject({ code: 0, stdout: expect.stringMatching(empty) });
    expect(none.stderr).toBe('proxystat: no counter matches -f, -I and -X; -l lists their names\n');
  });

  it('counts what happened', async () => {
    const before = (await proxy.counters())['MAIN.cache_hit'] ?? 0;
    for (let i = 0; i < 5; i++) await proxy.get('/one');
    expect(await proxy.counterReaches('MAIN.cache_hit', before + 5)).toBe(before + 5);
  });

  it('still prints the last values when the worker is stopped', async () => {
    const quiet = await startProxy(box, { backend: `127.0.0.1:${origin.port}` });
    await quiet.get('/one');
    await quiet.counterReaches('MAIN.client_req', 1);
    expect((await quiet.adm('stop')).code).toBe(0);
    const end = await tool('proxyd', 'stat', ['-n', quiet.dir, '-j']);
    expect(end.code).toBe(0);
    expect(end.stdout).toContain('MGT.uptime');
    await quiet.stop();
  });
});

describe.skipIf(findProgram('script') === null)('on a terminal', () => {
  const HOSTILE = Buffer.from('/c1\x9b31m-\xe2\x80\xaeexe', 'latin1');
  const LEAK = /[\x80-\x9f]31m|\xe2\x80\xae/;

  beforeAll(async () => {
    const file = join(box.dir, 'hostile.vsl');
    const records = [
      [Tag.Begin, 'req 1 rxreq'],
      [Tag.ReqMethod, 'GET'],
      [Tag.ReqURL, HOSTILE.toString('latin1')],
      [Tag.RespStatus, '200'],
      [Tag.Timestamp, 'Start: 1700000000.250000 0.000000 0.000000'],
      [Tag.End, ''],
    ] as const;
    writeFileSync(
      file,
      Buffer.concat([LOG_FILE_MAGIC, ...records.map(([tag, text]) => encodeRecord(tag, 2, 'c', text))]),
    );
  });

  it.each([
    ['log', []],
    ['log', ['--json']],
    ['ncsa', ['-F', '%r %U']],
    ['ncsa', ['-j', '-F', '"%U"']],
    ['top', ['-1']],
  ])('proxy%s %j shows no byte that a terminal would obey, and a pipe gets them all', async (name, args) => {
    const program = `${ROOT}/dist/console/bin/proxy${name}.js`;
    const words = [process.execPath, program, '-r', join(box.dir, 'hostile.vsl'), ...args];
    const piped = await run(words[0] as string, words.slice(1));
    expect(piped.stdout).toMatch(name === 'ncsa' ? /c1/ : LEAK);
    const quoted = words.map((w) => `'${w}'`).join(' ');
    const shown = await run('script', ['-qec', quoted, '/dev/null']);
    expect(shown.stdout).toContain('/c1');
    expect(shown.stdout).not.toMatch(LEAK);
  });

  it('an answer and an error are shown in the same way', async () => {
    const line = `'${process.execPath}' '${ROOT}/dist/console/bin/proxyadm.js' -n '${proxy.dir}' 'vcl.discard \u202e\u009b31m'`;
    const shown = await run('script', ['-qec', line, '/dev/null']);
    expect(shown.stdout).toContain('No VCL name matches');
    expect(shown.stdout).not.toMatch(LEAK);
    expect((await adm('vcl.discard \u202e\u009b31m')).stdout).toMatch(LEAK);
  });
});
