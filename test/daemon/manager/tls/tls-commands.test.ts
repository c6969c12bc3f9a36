// tls.cert.* of a manager on a stand-in for the worker: replies, and what the worker is sent.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { InitMessage, WorkerCall } from '../../../../daemon/link.ts';
import { type MadeCertificate, makeCertificate } from '../../../harness/made-certificates.ts';
import { type Fixture, startManager, until } from '../fixture.ts';

let dir: string;
let a: MadeCertificate;
let b: MadeCertificate;
let open: Fixture[] = [];

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'proxyd-certs-'));
  a = makeCertificate(dir, 'a.example');
  b = makeCertificate(dir, 'b.example', { days: 3 });
});
afterAll(() => rmSync(dir, { recursive: true }));
afterEach(async () => {
  await Promise.all(open.map((f) => f.close()));
  open = [];
});

async function start(...argv: string[]): Promise<Fixture> {
  const f = await startManager(argv);
  open.push(f);
  return f;
}
const run = async (f: Fixture, line: string): Promise<string> => {
  const { status, body } = await f.manager.command(line);
  return `${status} ${body}`;
};
async function initOf(f: Fixture): Promise<InitMessage> {
  return JSON.parse((await f.manager.command('debug.srandom init')).body) as InitMessage;
}
async function sent(f: Fixture): Promise<WorkerCall[]> {
  return JSON.parse((await f.manager.command('debug.srandom sent')).body) as WorkerCall[];
}
const ids = (calls: WorkerCall[]): string[][] =>
  calls.flatMap((call) => (call.op === 'tls.set' ? [call.settings.certificates.map(({ id }) => id)] : []));

/** A file for -A. */
function config(text: string): string {
  const path = join(dir, 'tls.conf');
  writeFileSync(path, text);
  return path;
}

const HTTPS = ['-a', 'web=127.0.0.1:0,HTTPS'];

describe('the start', () => {
  it('gives a worker everything, and the next one the same tickets', async () => {
    const file = config(`sni-nomatch-abort = on
      frontend = { name = web pem-file = "${b.pem}" tls-protos = TLSv1.3 }
      frontend = { name = more host = 127.0.0.1 port = 0 }
      workers = 2`);
    const f = await start('-F', '-b', 'none', ...HTTPS, '-A', file, '--cert', `${a.cert},key=${a.key}`);
    const { tls, listeners } = await initOf(f);
    expect(listeners.map(({ name, tls: isTls }) => [name, isTls === true])).toEqual([
      ['a0', false],
      ['web', true],
      ['more', true],
    ]);
    expect(tls?.settings.frontends).toMatchObject([
      { name: 'web', policy: { protocols: ['TLSv1.3'] }, sniNomatchAbort: true, matchGlobalCerts: false },
      { name: 'more', policy: { protocols: ['TLSv1.2', 'TLSv1.3'] }, matchGlobalCerts: true },
    ]);
    expect(tls?.settings.certificates).toMatchObject([
      { id: 'cert0', frontend: null, names: ['a.example'], key: readFileSync(a.key, 'utf8') },
      { id: 'cert1', frontend: 'web', names: ['b.example'] },
    ]);
    expect(tls?.tickets).toHaveLength(1);
    expect(tls?.challenges).toEqual({ http: {}, alpn: {} });
    expect(f.log.join()).toContain(
      `-A ${file}:4:7: workers has no effect; the parameter worker_threads does that`,
    );
    expect(await run(f, 'listen.list')).toMatch(/^200 a0 \S+ \d+\nweb \S+ \d+ HTTPS\nmore \S+ \d+ HTTPS\n$/);
    expect(await run(f, 'listen.list -j')).toContain('"protocol": "HTTPS"');
    // Three days.
    expect(await run(f, 'event.list')).toMatch(/ tls +Certificate cert1 \(b\.example\) expires in [23] days/);
    await f.manager.command('debug.srandom die');
    await until(() => f.manager.core.supervisor.state === 'running', 'another worker');
    expect((await initOf(f)).tls).toEqual(tls);
  });

  it('costs nothing without TLS', async () => {
    const f = await start('-F', '-b', 'none');
    expect((await initOf(f)).tls).toBeUndefined();
    expect(await run(f, 'tls.cert.list')).toBe('200 Frontend  ID  Status  Subject\n');
    expect(await run(f, `tls.cert.load ${a.pem}`)).toContain('Warning: No listener speaks TLS');
  });

  it.each([
    [['--cert', '/none'], '/none: No such file or directory'],
    [['-A', '/none'], '-A /none: No such file or directory'],
  ])('fails with %j', async (argv, message) => {
    await expect(start('-F', '-b', 'none', ...HTTPS, ...argv)).rejects.toThrow(message);
  });

  it('fails with a file of -A that is wrong', async () => {
    const file = config('\n pem-file = x\n ciphrs = y');
    await expect(start('-F', '-b', 'none', ...HTTPS, '-A', file)).rejects.toThrow(
      `-A ${file}:3:2: unknown key ciphrs; did you mean ciphers?`,
    );
  });
});

describe('a transaction', () => {
  it('is staged, shown, committed whole, and sent once', async () => {
    const f = await start('-F', '-b', 'none', ...HTTPS, '--cert', a.pem);
    expect(await run(f, `tls.cert.load two ${b.pem} -f web -p TLSv1.3 -d -o`)).toBe(
      '200 Staged as two: CN=b.example; tls.cert.commit makes it active.\n',
    );
    expect(await run(f, `tls.cert.load ${b.cert} -k ${b.key}`)).toContain('Staged as cert1');
    expect(await run(f, 'tls.cert.discard cert0')).toBe('200 ');
    expect(await run(f, 'tls.cert.list')).toBe(
      '200 Frontend  ID     Status     Subject\ndefault   cert0  discarded  CN=a.example\nweb       two    staged     CN=b.example\ndefault   cert1  staged     CN=b.example\n',
    );
    expect(await run(f, 'tls.cert.reload')).toContain('300 There are staged changes');
    expect(await sent(f)).toEqual([]);
    expect(await run(f, 'tls.cert.commit')).toBe('200 ');
    const calls = await sent(f);
    expect(ids(calls)).toEqual([['two', 'cert1']]);
    expect(calls[0]).toMatchObject({
      settings: {
        certificates: [
          { frontend: 'web', isDefault: true, policy: { protocols: ['TLSv1.3'], preferServerCiphers: true } },
          { frontend: null, isDefault: false, policy: {} },
        ],
      },
    });
    expect(await run(f, 'event.list')).toContain(
      ' tls        Certificates were committed; now presented: two, cert1; no longer: cert0\n',
    );
    await f.manager.command('debug.srandom die');
    await until(() => f.manager.core.supervisor.state === 'running', 'another worker');
    expect((await initOf(f)).tls?.settings.certificates.map(({ id }) => id)).toEqual(['two', 'cert1']);
  });

  it('has facts in JSON', async () => {
    const f = await start('-F', '-b', 'none', ...HTTPS, '--cert', a.pem);
    await run(f, `tls.cert.load two ${b.pem}`);
    const [, , , one, ...more] = JSON.parse((await f.manager.command('tls.cert.list -j')).body) as unknown[];
    expect(one).toEqual({
      frontend: 'default',
      id: 'cert0',
      status: 'active',
      subject: 'CN=a.example',
      names: ['a.example'],
      issuer: 'CN=a.example',
      serial: expect.stringMatching(/^[0-9A-F]+$/),
      notBefore: expect.stringMatching(/Z$/),
      notAfter: expect.stringMatching(/Z$/),
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      daysLeft: 29,
      default: false,
      ocsp: false,
      file: a.pem,
    });
    expect(more).toHaveLength(1);
    const staged = JSON.parse((await f.manager.command('tls.cert.list -s -j')).body) as unknown[];
    expect(staged.slice(3)).toMatchObject([{ id: 'two', status: 'staged' }]);
  });

  it('changes nothing when the worker refuses, or a file is bad', async () => {
    const file = join(dir, 'changing.pem');
    copyFileSync(a.pem, file);
    const f = await start('-F', '-b', 'none', ...HTTPS, '--cert', file);
    await run(f, `tls.cert.load sour ${b.pem}`);
    expect(await run(f, 'tls.cert.commit')).toBe('300 no sour certificates\n');
    expect(await run(f, 'tls.cert.list -s')).toContain('sour  staged');
    expect(await run(f, 'tls.cert.rollback')).toBe('200 ');
    expect(await run(f, 'tls.cert.list -s')).toBe('200 Frontend  ID  Status  Subject\n');
    writeFileSync(file, 'junk');
    expect(await run(f, 'tls.cert.reload')).toBe(`300 ${file}: no certificate but no PEM at all\n`);
    expect(await sent(f)).toEqual([]);
    copyFileSync(b.pem, file);
    expect(await run(f, 'tls.cert.reload')).toBe('200 Changed: cert0\n');
    expect(await run(f, 'tls.cert.reload')).toBe('200 Nothing has changed.\n');
    expect(await run(f, 'tls.cert.discard x')).toBe('300 ID not found');
    expect(await run(f, `tls.cert.load ${a.pem} -f nope`)).toBe(
      '300 There is no TLS listener nope: those with TLS are web\n',
    );
    expect(await run(f, `tls.cert.load ${a.pem} -p TLSv1.1`)).toContain(
      '300 -p: TLSv1.1 is insecure (RFC 8996) and refused',
    );
  });

  it('works while no worker runs', async () => {
    const f = await start('-d', ...HTTPS, '-b', 'none');
    await run(f, `tls.cert.load two ${b.pem}`);
    expect(await run(f, 'tls.cert.commit')).toBe('200 ');
    await run(f, 'start');
    expect((await initOf(f)).tls?.settings.certificates.map(({ id }) => id)).toEqual(['two']);
  });
});

it('loads files that change on disk, or says why not', async () => {
  const file = join(dir, 'watched.pem');
  copyFileSync(a.pem, file);
  const f = await start('-F', '-b', 'none', ...HTTPS, '--cert', file);
  copyFileSync(b.pem, file);
  await until(async () => ids(await sent(f)).length > 0, 'the file was loaded');
  const events = async (): Promise<string> => run(f, 'event.list');
  expect(await events()).toContain('Certificate cert0 (CN=b.example) was loaded from its file, valid until ');
  writeFileSync(file, 'junk');
  await until(async () => (await events()).includes('the old ones stay in use'), 'the event');
  expect(await events()).toContain(`${file}: no certificate but no PEM at all`);
  expect(await run(f, 'tls.cert.list')).toContain('CN=b.example');
});

it('takes certificates and challenges of an authority', async () => {
  const f = await start('-F', '-b', 'none', ...HTTPS, '--cert', a.pem);
  const { tls } = f.manager.core;
  const issued = { id: 'acme:b.example', frontend: null, names: ['b.example'] };
  const chain = readFileSync(b.cert, 'utf8');
  expect(await tls.install({ ...issued, chain, key: readFileSync(a.key, 'utf8') })).toContain(
    'is not that of the certificate',
  );
  expect(await tls.install({ ...issued, chain, key: readFileSync(b.key, 'utf8') })).toBeNull();
  const challenges = { http: { token: 'token.thumb' }, alpn: {} };
  await tls.setChallenges(challenges);
  const calls = await sent(f);
  expect(ids(calls)).toEqual([['cert0', 'acme:b.example']]);
  expect(calls.at(-1)).toEqual({ op: 'tls.challenges', challenges });
  await f.manager.command('debug.srandom die');
  await until(() => f.manager.core.supervisor.state === 'running', 'another worker');
  const state = (await initOf(f)).tls;
  expect(state?.challenges).toEqual(challenges);
  expect(state?.settings.certificates.map(({ id }) => id)).toEqual(['cert0', 'acme:b.example']);
});
