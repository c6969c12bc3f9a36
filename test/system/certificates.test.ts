// Certificates of a real daemon: from options and the file of -A, by commands, from files that change; and that no key is
// anywhere but in memory.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WORKDIR_FILES } from '../../protocol/workdir.ts';
import { type MadeCertificate, makeCertificate } from '../harness/made-certificates.ts';
import { freePort } from '../harness/origin.ts';
import { run, Sandbox, until } from '../harness/processes.ts';
import { ROOT, type RunningProxy, startProxy, tool } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-certificates');
let a: MadeCertificate;
let b: MadeCertificate;
let c: MadeCertificate;
let proxy: RunningProxy;
let metrics: number;

beforeAll(async () => {
  const dir = box.path('certs');
  a = makeCertificate(dir, 'a.example');
  b = makeCertificate(dir, 'b.example');
  c = makeCertificate(dir, 'c.example', { days: 5 });
  const config = box.path('tls.conf');
  writeFileSync(
    config,
    `frontend = { name = "web" pem-file = "${b.pem}" }
     frontend = { name = "more" host = "127.0.0.1" port = 0 }
     backend = "[127.0.0.1]:6086"\n`,
  );
  metrics = await freePort();
  const args = ['-a', 'web=127.0.0.1:0,HTTPS', '-A', config, '--cert', `${a.cert},key=${a.key}`];
  args.push('--metrics', `127.0.0.1:${metrics}`);
  proxy = await startProxy(box, { backend: '127.0.0.1:9', args });
});
afterAll(() => box.dispose());

async function adm(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await proxy.adm(...words);
  return code === 0 ? stdout : `${code} ${stdout}${stderr}`;
}
interface Listed {
  frontend: string;
  id: string;
  status: string;
  names: string[];
}
const listed = async (): Promise<Listed[]> =>
  (JSON.parse(await adm('tls.cert.list', '-j')) as unknown[]).slice(3) as Listed[];
const shown = async (): Promise<string[]> =>
  (await listed()).map(({ frontend, id, status, names }) => [frontend, id, status, ...names].join(' '));

it('has those of its options, and lists them', async () => {
  expect(await adm('listen.list')).toMatch(/^a0 \S+ \d+\nweb \S+ \d+ HTTPS\nmore \S+ \d+ HTTPS\n$/m);
  expect(await shown()).toEqual(['default cert0 active a.example', 'web cert1 active b.example']);
  expect(await adm('tls.cert.list')).toContain('default   cert0  active  CN=a.example\n');
  expect(proxy.daemon.stderr).toContain('backend has no effect; the program and -b say where requests go');
  const counters = JSON.parse((await tool('proxyd', 'stat', ['-n', proxy.dir, '-j'])).stdout) as {
    counters: Record<string, { value: number }>;
  };
  expect(counters.counters['TLS.certs']?.value).toBe(2);
  expect(counters.counters['TLS.days_left']?.value).toBe(29);
  const page = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  expect(page).toContain('\n# TYPE proxyd_tls_certs gauge\nproxyd_tls_certs 2\n');
  expect(page).toContain('\nproxyd_tls_days_left 29\n');
});

describe('commands', () => {
  it('stage, roll back and commit', async () => {
    expect(await adm('tls.cert.load', 'new', c.pem, '-f', 'web', '-d')).toContain(
      'Staged as new: CN=c.example',
    );
    await adm('tls.cert.discard', 'cert1');
    expect((await shown()).slice(1)).toEqual(['web cert1 discarded b.example', 'web new staged c.example']);
    await adm('tls.cert.rollback');
    expect(await shown()).toEqual(['default cert0 active a.example', 'web cert1 active b.example']);
    await adm('tls.cert.load', 'new', c.cert, '-k', c.key);
    await adm('tls.cert.discard', 'cert1');
    await adm('tls.cert.commit');
    expect(await shown()).toEqual(['default cert0 active a.example', 'default new active c.example']);
  });

  it('refuse bad files in words and change nothing', async () => {
    const before = await shown();
    expect(await adm('tls.cert.load', a.cert, '-k', b.key)).toMatch(
      /^1 .*the private key is not that of the certificate in/,
    );
    expect(await adm('tls.cert.load', '/etc/passwd')).toContain('no certificate but no PEM at all');
    expect(await adm('tls.cert.load', a.pem, '-c', 'NONSENSE')).toContain(
      'OpenSSL refuses it: it knows no such cipher',
    );
    expect(await adm('tls.cert.load', a.pem, '-f', 'nowhere')).toContain('those with TLS are web, more');
    expect(await adm('tls.cert.discard', 'nothing')).toContain('ID not found');
    expect(await shown()).toEqual(before);
    expect(await adm('tls.cert.reload')).toContain('Nothing has changed.');
  });
});

it('loads files that change, and keeps the old ones where it cannot', async () => {
  const changes = async (text: string): Promise<void> => {
    await until(text, async () => (await adm('event.list')).includes(text));
  };
  copyFileSync(c.cert, a.cert);
  await changes('the old ones stay in use');
  expect((await shown())[0]).toBe('default cert0 active a.example');
  copyFileSync(c.key, a.key);
  await changes('Certificate cert0 (CN=c.example) was loaded from its file');
  expect((await shown())[0]).toBe('default cert0 active c.example');
  // Once a day for a certificate, by whichever name it was active first.
  await changes('(c.example) expires in ');
});

it('has keys in memory only, and tickets in a file that goes with it', async () => {
  const tickets = join(proxy.dir, WORKDIR_FILES.tickets);
  expect(statSync(tickets).mode & 0o777).toBe(0o600);
  const secrets = (JSON.parse(readFileSync(tickets, 'utf8')) as { name: string; aes: string; hmac: string }[])
    .flatMap(({ aes, hmac }) => [aes, hmac])
    .concat([a, b, c].map(({ key }) => readFileSync(key, 'utf8').split('\n')[1]?.slice(0, 24) as string));
  const archive = `${box.path('archive')}.tar.gz`;
  const gather = join(ROOT, 'dist/console/bin/proxy-gather.js');
  expect(await run(process.execPath, [gather, '-n', proxy.dir, '-t', '0.2', '-o', archive])).toMatchObject({
    code: 0,
  });
  const texts = [
    execFileSync('tar', ['-xzOf', archive]).toString('latin1'),
    proxy.daemon.stderr,
    ...readdirSync(proxy.dir, { recursive: true, encoding: 'utf8' })
      .filter((name) => name !== WORKDIR_FILES.tickets && statSync(join(proxy.dir, name)).isFile())
      .map((name) => readFileSync(join(proxy.dir, name), 'latin1')),
  ];
  expect(texts[0]).toContain('CN=c.example');
  for (const text of texts) for (const secret of secrets) expect(text.includes(secret)).toBe(false);
  await proxy.stop();
  expect(existsSync(tickets)).toBe(false);
});

it('has the same tickets after the manager was killed', async () => {
  const options = { backend: '127.0.0.1:9', args: ['-a', '127.0.0.1:0,HTTPS', '--cert', b.pem] };
  const first = await startProxy(box, options);
  const tickets = (): string => readFileSync(join(first.dir, WORKDIR_FILES.tickets), 'utf8');
  const before = tickets();
  first.daemon.child.kill('SIGKILL');
  await first.daemon.exit(30_000);
  const second = await startProxy(box, { ...options, dir: first.dir });
  expect(tickets()).toBe(before);
  await second.stop();
});

describe('a start with a mistake', () => {
  it.each([
    ['-A with no file', ['-A', '/nowhere'], /-A \/nowhere: No such file or directory/],
    ['--cert with no listener', ['--cert', '/etc/x.pem'], /Certificates without a listener that speaks TLS/],
    ['--cert with no file', ['-a', ':0,HTTPS', '--cert', '/nowhere'], /\/nowhere: No such file or directory/],
  ])('%s ends with status 2', async (_name, args, words) => {
    const dir = box.path('wrong');
    const { code, stderr } = await tool('proxyd', 'daemon', [
      '-F',
      '-n',
      dir,
      '-a',
      '127.0.0.1:0',
      '-b',
      'none',
      ...args,
    ]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(words)]);
  });
});
