// Too little room under the working directory: a log that is smaller and says so, or no start; and a disk that others
// fill while the daemon runs. Needs root, who can mount a small file system.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { connect } from '../../console/client/client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, startProxy, tool } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-space');
const mounts: string[] = [];

/** A file system in memory of this many bytes, or null if none can be mounted. */
function smallDisk(size: string): string | null {
  const path = box.path('disk');
  mkdirSync(path);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'tmpfs', path]).status !== 0)
    return null;
  mounts.push(path);
  return path;
}

const probe = smallDisk('1m');
const can = probe !== null;
if (!can) console.warn('tests of small file systems are skipped: none can be mounted here');

let origin: Origin;
beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
});
afterEach(() => {
  for (const path of mounts.splice(0)) spawnSync('umount', ['-l', path]);
});
afterAll(async () => {
  for (const path of mounts.splice(0)) spawnSync('umount', ['-l', path]);
  await box.dispose();
  await origin.close();
});

it('reserves the whole log at the start where there is room', async () => {
  const proxy = await startProxy(box, { backend: `127.0.0.1:${origin.port}`, params: { vsl_space: '20m' } });
  const { size, blocks } = statSync(join(proxy.dir, 'worker/log.ring'));
  expect(size).toBeGreaterThan(19 << 20);
  expect(blocks * 512).toBeGreaterThanOrEqual(size);
  expect(proxy.daemon.stderr).not.toContain('The log keeps');
  await proxy.stop();
});

it.skipIf(!can)('takes what fits of a small one, reports it, and logs all the same', async () => {
  const dir = join(smallDisk('8m') as string, 'n');
  const proxy = await startProxy(box, { backend: `127.0.0.1:${origin.port}`, dir });
  expect(proxy.daemon.stderr).toMatch(
    /Warning: The log keeps 7 MB instead of 80 MB: the working directory has no more room/,
  );
  for (let i = 0; i < 50; i++) await proxy.get(`/page${i}`);
  await proxy.logged('/page49', '-g', 'raw');
  const before = statSync(join(dir, 'worker/log.ring')).ino;
  process.kill(proxy.workerPid() as number, 'SIGKILL');
  await until('an answer', () => proxy.get('/after').catch(() => null));
  // The next worker continues with it, as with one of full size.
  expect(statSync(join(dir, 'worker/log.ring')).ino).toBe(before);
  await proxy.logged('/after', '-g', 'raw');
  await proxy.logged('/page49', '-g', 'raw');
  await proxy.stop();
});

it.skipIf(!can)('does not start where not even the smallest fits', async () => {
  const dir = join(smallDisk('512k') as string, 'n');
  const args = ['-F', '-n', dir, '-a', '127.0.0.1:0', '-b', '127.0.0.1:1'];
  const done = await tool('proxyd', 'daemon', args);
  expect(done.stderr).toMatch(/No room for the log in the working directory \(\d+ KB are free\): make room/);
  expect(done.code).toBe(2);
});

it.skipIf(!can)(
  'a disk that fills up silences no log, is reported, counted, and over when there is room',
  async () => {
    const disk = smallDisk('12m') as string;
    const dir = join(disk, 'n');
    const proxy = await startProxy(box, {
      program: backendProgram(origin.port),
      dir,
      params: { vsl_space: '4m' },
    });
    const client = await connect({ dir });
    const reported: string[] = [];
    client.onEvent = ({ event, text }) => {
      if (event === 'trouble') reported.push(text);
    };
    const fill = join(disk, 'fill');
    const fd = openSync(fill, 'w');
    expect(() => {
      for (;;) if (writeSync(fd, Buffer.alloc(4096)) < 4096) throw new Error('full');
    }).toThrow();
    closeSync(fd);
    for (let i = 0; i < 50; i++) await proxy.get(`/full${i}`);
    await proxy.logged('/full49', '-g', 'raw');
    // A larger set of counters wants a new file.
    const backends = Array.from(
      { length: 30 },
      (_, i) => `backend b${i} { .host = "127.0.0.1"; .port = "1"; }`,
    );
    const more = `${backends.join('\n')}\nsub vcl_recv { ${backends.map((_, i) => `if (req.url == "/b${i}") { set req.backend_hint = b${i}; }`).join('\n')} }`;
    const loaded = await proxy.adm(`vcl.inline many << EOT\n${backendProgram(origin.port, more)}\nEOT`);
    expect(loaded).toMatchObject({ code: 0 });
    await until('the trouble', () => reported.length > 0);
    expect(reported[0]).toMatch(/^The file of counters cannot be written \(No space left on device\)/);
    expect(proxy.daemon.stderr).toContain(`Error: ${reported[0]}`);
    rmSync(fill);
    await until('the end of the trouble', () => reported.length > 1);
    expect(reported[1]).toMatch(/^The file of counters is written again, after \d+ failed writes/);
    expect(reported).toHaveLength(2);
    await proxy.counterReaches('WRK.write_errors', 1);
    expect((await proxy.counters())['VBE.many.b29.req']).toBe(0);
    client.close();
    await proxy.stop();
  },
);
