// proxy-gather against a live daemon, one whose worker is stopped, and none at all: what the archive holds, and that no
// secret is in it.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Origin, respond } from '../harness/origin.ts';
import { run, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, ROOT, type RunningProxy, startProxy } from '../harness/proxy.ts';

const PLANTED = {
  cookie: 'sid-9081726354',
  setCookie: 'fresh-5647382910',
  authorization: 'QWxhZGRpbjpvcGVu',
  query: 'q-secret-11',
  program: 'backend-credential-77',
  comment: 'comment-credential-88',
  edgeSecret: 'edge-credential-55',
  edgeTarget: 'edge-target-66',
  ban: 'ban-secret-99',
};

const box = new Sandbox('proxyd-gather');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Set-Cookie': `s=${PLANTED.setCookie}` }, 'hello\n'));
  const settings = `${box.dir}/edge.conf`;
  const credentials = ['client_token', 'client_secret', 'access_token']
    .map((name) => `purge_${name} = ${PLANTED.edgeSecret}\n`)
    .join('');
  writeFileSync(settings, `provider = fake\npurge_host = 127.0.0.1:1\n${credentials}`, { mode: 0o600 });
  proxy = await startProxy(box, {
    env: { EDGE_CONNECTOR_CONFIG: settings },
    program: backendProgram(
      origin.port,
      `import std; import edge; include "edge_auto.vcl";
      # password ${PLANTED.comment}
      sub vcl_recv { std.log("who: " + req.http.Cookie); }
      sub vcl_backend_fetch { set bereq.http.Authorization = "Basic " + "${PLANTED.program}"; }`,
    ),
  });
  const fields = { Cookie: `sid=${PLANTED.cookie}`, Authorization: `Basic ${PLANTED.authorization}` };
  await proxy.get(`/page?token=${PLANTED.query}`, { fields });
  await proxy.adm('ban', '--local', `req.http.Cookie ~ ${PLANTED.ban}`);
  // Not accepted there: they wait.
  await proxy.get(`/page?token=${PLANTED.edgeTarget}`, { method: 'PURGE' });
  await until('the request in the log', async () => (await proxy.log('-g', 'request')).includes('/page'));
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

/** Runs the tool; the archive's files by name without its folder, and what the tool printed. */
async function gathered(
  dir: string,
): Promise<{ files: Map<string, string>; stdout: string; stderr: string; bytes: Buffer }> {
  const file = `${box.path('archive')}.tar.gz`;
  const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    bin: Record<string, string>;
  };
  const end = await run(process.execPath, [
    join(ROOT, bin['proxy-gather'] as string),
    '-n',
    dir,
    '-t',
    '0.2',
    '-o',
    file,
  ]);
  expect(end).toMatchObject({ code: 0 });
  expect(end.stdout.trimEnd().split('\n').at(-1)).toBe(file);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const names = execFileSync('tar', ['-tzf', file]).toString().trim().split('\n');
  const files = new Map<string, string>();
  for (const name of names) {
    files.set(name.slice(name.indexOf('/') + 1), execFileSync('tar', ['-xzOf', file, name]).toString());
  }
  return { files, stdout: end.stdout, stderr: end.stderr, bytes: gunzipSync(readFileSync(file)) };
}

function expectNoSecret(bytes: Buffer): void {
  for (const [what, secret] of Object.entries(PLANTED))
    expect([what, bytes.includes(secret)]).toEqual([what, false]);
}

it('contains the listed parts of a live daemon, and no secret', async () => {
  const secret = readFileSync(`${proxy.dir}/secret`, 'utf8').trim();
  const { files, stdout, bytes } = await gathered(proxy.dir);
  const contents = files.get('CONTENTS.txt') ?? '';
  const listed = contents
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/\s+/)[0]);
  expect([...files.keys()]).toEqual(['CONTENTS.txt', ...listed]);
  expect(stdout.startsWith(contents)).toBe(true);
  const has: [string, RegExp][] = [
    ['versions.txt', /^daemon \d+\.\d+\.\d+, identity test$/m],
    ['system.txt', /^cpus \d+$/m],
    [
      'processes.txt',
      /== manager: process \d+\ncommand line: .* -n .*[\s\S]*Max open files[\s\S]*== worker: process \d+/,
    ],
    ['directory.txt', /file system type 0x[\s\S]* worker\/log\.ring$/m],
    ['status.txt', /Child in state running/],
    ['parameters.txt', /default_ttl/],
    ['backends.txt', /boot\.default/],
    ['bans.txt', /req\.http\.Cookie ~ <masked>/],
    ['events.txt', /== event\.list\n.*ban/s],
    [
      'edge.txt',
      /"provider": ?"fake"[\s\S]*== edge\.queue\n1 .*delete url.*\/page\?token=<masked>[\s\S]*== edge\.dead/,
    ],
    ['fleet.txt', /== fleet\.nodes\nstatus 300\nThis proxy belongs to no fleet[\s\S]*== fleet\.log 256/],
    ['panic.txt', /not panicked/],
    ['programs.txt', /active .* boot/],
    ['programs/boot.vcl', /set bereq\.http\.Authorization = "<masked>" \+ "<masked>";/],
    ['counters.txt', /^MAIN\.client_req +2 /m],
    ['worker.txt', /THR\.\d\.requests +[12] [\s\S]*WRK\.loop_lag_us +\d+[\s\S]*WRK\.heap_bytes +[1-9]\d+/],
    ['log-ring.txt', /ReqURL +c \/page\?token=<masked>/],
  ];
  for (const [file, wanted] of has) expect(files.get(file), file).toMatch(wanted);
  // Unknown commands are skipped.
  for (const [file, text] of files)
    expect([file, text]).not.toEqual([file, expect.stringContaining('status 101')]);
  expect(files.get('log-ring.txt')).toMatch(/Cookie: <masked>[\s\S]*VCL_Log +c who: sid=<masked>/);
  expectNoSecret(bytes);
  expect(bytes.includes(secret)).toBe(false);
});

it('works while the worker is stopped, and when no daemon is there', async () => {
  expect((await proxy.adm('stop')).code).toBe(0);
  const stopped = await gathered(proxy.dir);
  expect(stopped.files.get('status.txt')).toContain('Child in state stopped');
  expect(stopped.files.get('processes.txt')).toContain('== worker\nnone');
  expect(stopped.files.get('log-ring.txt')).toContain('/page?token=<masked>');
  expectNoSecret(stopped.bytes);
  proxy.daemon.child.kill('SIGKILL');
  await proxy.daemon.exit(30_000);
  const dead = await gathered(proxy.dir);
  expect(dead.stderr).toContain('no daemon answers');
  expect(dead.files.get('status.txt')).toContain('not run');
  expect(dead.files.get('directory.txt')).toMatch(/ secret$/m);
  expectNoSecret(dead.bytes);
  expect((await gathered(box.path('nowhere'))).files.get('directory.txt')).toContain('cannot be read');
});
