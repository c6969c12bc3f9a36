// The setup of the edge connector: files where proxyd looks for them, nothing overwritten, no link followed, and a proxy
// that runs what was installed.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { parseEdgeConfig } from '../../daemon/edge/edge-config.ts';
import { type Finished, installed, run, Sandbox } from '../harness/processes.ts';
import { ROOT, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-edge-setup');
afterAll(() => box.dispose());

const SETUP = join(ROOT, 'dist/console/bin/proxy-edge-setup.js');
const install = (root: string, ...more: string[]): Promise<Finished> =>
  run(process.execPath, [SETUP, 'install', ...more], { env: { PATH: process.env.PATH, DESTDIR: root } });
const NAMES = ['edge_auto.vcl', 'edge.vcl', 'edge-connector.conf'];
const verdicts = (end: Finished): string[] => end.stdout.match(/^(Success|Skipped.*)$/gm) ?? [];

it('installs three files, reports it, and changes nothing the second time', async () => {
  const root = box.path('root');
  const first = await install(root);
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(verdicts(first)).toEqual(['Success', 'Success', 'Success']);
  for (const name of NAMES) expect(first.stdout).toContain(`Destination: ${root}/etc/proxyd/${name}\n`);
  expect(statSync(`${root}/etc/proxyd/edge-connector.conf`).mode & 0o777).toBe(0o600);
  writeFileSync(`${root}/etc/proxyd/edge.vcl`, '# mine\n');
  const second = await install(root);
  expect(second.code).toBe(0);
  expect(verdicts(second)).toEqual(Array(3).fill('Skipped (exists)'));
  expect(readFileSync(`${root}/etc/proxyd/edge.vcl`, 'utf8')).toBe('# mine\n');
});

it('leaves links alone, whether they lead anywhere or not', async () => {
  const root = box.path('links');
  mkdirSync(`${root}/etc/proxyd`, { recursive: true });
  const target = box.path('target');
  symlinkSync(target, `${root}/etc/proxyd/edge.vcl`);
  const end = await install(root);
  expect(verdicts(end)).toEqual(['Success', 'Skipped (exists)', 'Success']);
  expect(lstatSync(target, { throwIfNoEntry: false })).toBeUndefined();
  const other = box.path('other');
  mkdirSync(`${other}/etc`, { recursive: true });
  mkdirSync(target);
  symlinkSync(target, `${other}/etc/proxyd`);
  const refused = await install(other);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(`${other}/etc/proxyd: it is there and no directory`);
});

it('takes directories from options and the environment, and refuses what it does not know', async () => {
  const root = box.path('dirs');
  await install(root, '--sysconfdir', '/opt/etc');
  expect(statSync(`${root}/opt/etc/proxyd/edge.vcl`).isFile()).toBe(true);
  for (const words of [[], ['remove'], ['install', '--sysconfdir', 'etc']])
    expect((await run(process.execPath, [SETUP, ...words])).code).toBe(1);
});

it('takes the modes that it promises, whatever the umask', async () => {
  const root = box.path('umask');
  const env = { PATH: process.env.PATH, DESTDIR: root };
  const end = await run('sh', ['-c', `umask 077; exec "${process.execPath}" "${SETUP}" install`], { env });
  expect(verdicts(end)).toEqual(['Success', 'Success', 'Success']);
  const modes = ['', ...NAMES].map((name) => statSync(`${root}/etc/proxyd/${name}`).mode & 0o777);
  expect(modes).toEqual([0o755, 0o644, 0o644, 0o600]);
});

it('leaves nothing but the files, and a draft of another process alone', async () => {
  const root = box.path('drafts');
  const preload = `${box.path('preload')}.mjs`;
  mkdirSync(`${root}/etc/proxyd`, { recursive: true });
  // The name that a draft would have if it only depended on the process id.
  const other = `${root}/etc/proxyd/edge.vcl.`;
  writeFileSync(
    preload,
    `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(other)} + process.pid + '.new', 'theirs');`,
  );
  const env = { PATH: process.env.PATH, DESTDIR: root };
  const end = await run(process.execPath, ['--import', preload, SETUP, 'install'], { env });
  expect(verdicts(end)).toEqual(['Success', 'Success', 'Success']);
  const names = readdirSync(`${root}/etc/proxyd`);
  const theirs = names.filter((name) => !NAMES.includes(name));
  expect([names.length, theirs.length]).toEqual([4, 1]);
  expect(readFileSync(`${root}/etc/proxyd/${theirs[0]}`, 'utf8')).toBe('theirs');
});

it.skipIf(process.getuid?.() === 0)('reports files that it may not create', async () => {
  const root = box.path('closed');
  mkdirSync(root);
  chmodSync(root, 0o500);
  const end = await install(root);
  expect([end.code, end.stderr]).toEqual([1, `proxy-edge-setup: ${root}/etc: Permission denied\n`]);
});

it('has settings that can be read, as they are and with every line in force', async () => {
  const text = readFileSync(join(ROOT, 'dist/edge-connector.conf.example'), 'utf8');
  expect(parseEdgeConfig(text, 'example').configured).toBe(false);
  const lines = text.match(/^#[a-z_]+ = /gm) ?? [];
  expect(lines.length).toBeGreaterThan(30);
  parseEdgeConfig(text.replace(/^#([a-z_]+ = )/gm, '$1'), 'example');
});

it('gives a proxy what it needs: edge.test passes', async () => {
  const root = box.path('run');
  await install(root);
  const proxy = await startProxy(box, {
    program: 'vcl 4.1; import std; import edge; include "edge_auto.vcl"; backend default none;',
    params: { vcl_path: `${root}/etc/proxyd` },
    env: { EDGE_CONNECTOR_CONFIG: `${root}/etc/proxyd/edge-connector.conf` },
  });
  const end = await proxy.adm('edge.test');
  expect([end.code, end.stdout.match(/^(ok|bad) /gm)?.join('')]).toEqual([0, 'ok '.repeat(7)]);
  expect((await proxy.adm('edge.status')).stdout).toContain('not configured');
});

it.skipIf(!installed('make'))('is what make install does, with all manual pages', async () => {
  const root = box.path('make');
  // In a copy: configure writes beside itself.
  const copy = box.path('copy');
  mkdirSync(`${copy}/daemon/edge`, { recursive: true });
  for (const name of ['configure', 'Makefile'])
    writeFileSync(`${copy}/daemon/edge/${name}`, readFileSync(join(ROOT, 'daemon/edge', name)), {
      mode: 0o755,
    });
  symlinkSync(join(ROOT, 'dist'), `${copy}/dist`);
  const env = { PATH: process.env.PATH };
  const configured = await run(`${copy}/daemon/edge/configure`, ['--prefix=/usr', '--sysconfdir=/etc'], {
    env,
  });
  expect(configured).toMatchObject({ code: 0, stdout: 'configured: prefix /usr, settings in /etc/proxyd\n' });
  for (const verdict of ['Success', 'Skipped (exists)']) {
    const end = await run('make', ['-C', `${copy}/daemon/edge`, 'install', `DESTDIR=${root}`], { env });
    expect(end).toMatchObject({ code: 0 });
    expect(verdicts(end)).toEqual(Array(3).fill(verdict));
  }
  expect(readFileSync(`${root}/usr/share/man/man3/vmod_edge.3`, 'utf8')).toContain('softpurge_tags');
  expect(statSync(`${root}/usr/share/man/man1/proxy-edge-setup.1`).mode & 0o777).toBe(0o644);
  const pages = (under: string): string[] =>
    readdirSync(under, { recursive: true }).map((each) => basename(String(each)));
  expect(pages(`${root}/usr/share/man`)).toEqual(expect.arrayContaining(pages(join(ROOT, 'dist/man'))));
  rmSync(copy, { recursive: true });
});

/** A file system of two pages; null where we may not mount one. */
function smallDisk(): string | null {
  const path = box.path('small');
  mkdirSync(path);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8k', 'tmpfs', path]);
  return mounted.status === 0 ? path : null;
}

it('leaves nothing half written on a full disk, and continues once there is room', async ({ skip }) => {
  const root = smallDisk();
  if (root === null) skip('needs the right to mount');
  const path = root as string;
  try {
    const full = await install(path);
    expect([full.code, full.stderr]).toEqual([1, expect.stringContaining('No space left on device\n')]);
    expect(readdirSync(`${path}/etc/proxyd`).sort()).toEqual(['edge.vcl', 'edge_auto.vcl']);
    spawnSync('mount', ['-o', 'remount,size=1m', path]);
    expect(verdicts(await install(path))).toEqual(['Skipped (exists)', 'Skipped (exists)', 'Success']);
  } finally {
    spawnSync('umount', [path]);
  }
});
