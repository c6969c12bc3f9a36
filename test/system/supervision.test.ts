// The manager and its worker: a killed worker is replaced at once, with programs and parameters as they
// were, and the reason can be read afterwards.
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../console/client/client.ts';
import { WORKDIR_FILES } from '../../protocol/workdir.ts';
import { backAtOnce, timed } from '../harness/at-once.ts';
import { freePort, Origin, respond } from '../harness/origin.ts';
import { alive, delay, processTree, run, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, command, daemonArguments, RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-sup');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
  proxy = await startProxy(box, {
    program: backendProgram(origin.port, 'sub vcl_deliver { set resp.http.X-Program = "boot"; }'),
    params: { default_grace: '33' },
  });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

function worker(p: RunningProxy): number {
  const pid = p.workerPid();
  if (pid === null) throw new Error('there is no worker');
  return pid;
}

/** Milliseconds in which a daemon starts here and now. */
async function starting(): Promise<number> {
  let another: RunningProxy | undefined;
  const ms = await timed(async () => {
    another = await startProxy(box, { backend: `127.0.0.1:${origin.port}` });
  });
  await another?.stop();
  return ms;
}

describe('kill -9 of the worker', () => {
  afterAll(async () => {
    await proxy.stop();
  });

  it('is answered by a new worker with the same programs and parameters', async () => {
    await proxy.get('/');
    const loaded = await proxy.adm(
      `vcl.inline second << EOT\n${backendProgram(origin.port, 'sub vcl_deliver { set resp.http.X-Program = "second"; }')}\nEOT`,
    );
    expect(loaded).toMatchObject({ code: 0 });
    expect((await proxy.adm('vcl.use', 'second')).code).toBe(0);
    expect((await proxy.adm('param.set', 'default_ttl', '77')).code).toBe(0);
    const killed = async (): Promise<void> => {
      const before = worker(proxy);
      process.kill(before, 'SIGKILL');
      const answer = await until('an answer from the new worker', () => proxy.get('/').catch(() => null));
      expect(answer.status).toBe(200);
      expect(answer.fields).toContainEqual(['X-Program', 'second']);
      expect(worker(proxy)).not.toBe(before);
    };
    await backAtOnce(() => timed(killed), starting);
    expect((await proxy.adm('param.show', 'default_ttl')).stdout).toMatch(/77/);
    expect((await proxy.adm('param.show', 'default_grace')).stdout).toMatch(/33/);
    expect((await proxy.adm('vcl.list')).stdout).toMatch(/^active .*second$/m);
    expect((await proxy.adm('vcl.list')).stdout).toMatch(/^available .*boot$/m);
    expect((await proxy.adm('status')).stdout).toBe('Child in state running\n');
  });

  it('serves those who came meanwhile with the active program, and refuses nobody', async () => {
    // Modules from files take a while to load.
    const module = `${box.path('slow')}.mjs`;
    writeFileSync(
      module,
      `export const extension = { abi: 1, functions: { p: { signature: 'STRING p()', call: () => 'p' } } };`,
    );
    for (let i = 0; i < 8; i++) {
      const deliver = `sub vcl_deliver { set resp.http.X-Program = slow.p() + "${i}"; }`;
      const text = backendProgram(origin.port, deliver).replace(';', `;\nimport slow from "${module}";`);
      expect(await proxy.adm(`vcl.inline p${i} << EOT\n${text}\nEOT`)).toMatchObject({ code: 0 });
    }
    await proxy.adm('vcl.use', 'p7');
    const before = worker(proxy);
    process.kill(before, 'SIGKILL');
    await until('its end', () => !alive(before));
    // The manager's socket takes them until a worker does.
    const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => proxy.get(`/${i}`)));
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(answer.fields).toContainEqual(['X-Program', 'p7']);
    }
    await proxy.adm('vcl.use', 'boot');
    await proxy.adm('vcl.discard', 'p*');
  });

  it('reports what happened', async () => {
    const output = proxy.daemon.stderr.length;
    await proxy.adm('panic.clear');
    process.kill(worker(proxy), 'SIGKILL');
    await until('an answer', () => proxy.get('/').catch(() => null));
    const panic = await proxy.adm('panic.show');
    expect(`${panic.stdout}${proxy.daemon.stderr.slice(output)}`).toMatch(/SIGKILL|signal[ =]*9|signal 9/);
  });

  it('keeps the log of the last moments', async () => {
    await proxy.get('/last-words');
    await proxy.logged('/last-words', '-g', 'raw');
    process.kill(worker(proxy), 'SIGKILL');
    await until('an answer', () => proxy.get('/after').catch(() => null));
    await proxy.logged('/last-words', '-g', 'raw');
    await proxy.logged('/after', '-g', 'raw');
  });

  it('is survived also where a cleaner of old files has taken its directory away', async () => {
    rmSync(join(proxy.dir, WORKDIR_FILES.worker), { recursive: true });
    process.kill(worker(proxy), 'SIGKILL');
    await until('an answer', () => proxy.get('/anew').catch(() => null));
    await proxy.logged('/anew', '-g', 'raw');
    expect((await proxy.counters())['MAIN.client_req']).toBeGreaterThan(0);
  });

  it('is counted', async () => {
    const before = await proxy.counters();
    process.kill(worker(proxy), 'SIGKILL');
    await until('an answer', () => proxy.get('/').catch(() => null));
    await proxy.counterReaches('MGT.child_start', (before['MGT.child_start'] as number) + 1);
    const died = (before['MGT.child_died'] as number) + 1;
    expect(await proxy.counterReaches('MGT.child_died', died)).toBe(died);
  });

  it('can be repeated', async () => {
    for (let i = 0; i < 3; i++) {
      process.kill(worker(proxy), 'SIGKILL');
      const answer = await until('an answer', () => proxy.get('/').catch(() => null));
      expect(answer.status).toBe(200);
    }
    expect(processTree(proxy.pid)).toHaveLength(2);
  });
});

it('leaves the worker dead with auto_restart off, until it is started', async () => {
  const manual = await startProxy(box, {
    backend: `127.0.0.1:${origin.port}`,
    params: { auto_restart: 'off' },
  });
  process.kill(worker(manual), 'SIGKILL');
  await until('stopped', async () => (await manual.adm('status')).stdout === 'Child in state stopped\n');
  expect(await manual.get('/').catch(() => 'refused')).toBe('refused');
  expect((await manual.adm('start')).code).toBe(0);
  await manual.serving();
  expect((await manual.get('/')).status).toBe(200);
  await manual.stop();
});

it('ends the worker when the manager is killed', async () => {
  const orphaned = await startProxy(box, { backend: `127.0.0.1:${origin.port}` });
  const pid = worker(orphaned);
  orphaned.daemon.child.kill('SIGKILL');
  await orphaned.daemon.exit(30_000);
  await until('the worker gone', () => !alive(pid));
});

describe('the manager', () => {
  /** Throws and rejects in the manager's event loop when it gets SIGUSR2; nothing in the worker. */
  const SABOTAGE = `data:text/javascript,${encodeURIComponent(`
    if (process.argv[1]?.endsWith('proxyd.js')) process.on('SIGUSR2', () => {
      Promise.reject(new Error('a promise that nobody holds'));
      setImmediate(() => { throw new TypeError('thrown into the event loop'); });
    });`)}`;

  it('continues after an uncaught error, reports it and keeps its stack', async () => {
    const dir = box.path('stray');
    const [program, lead] = command('proxyd', 'daemon');
    const options = { backend: `127.0.0.1:${origin.port}` };
    const daemon = box.start(
      'proxyd',
      program,
      ['--import', SABOTAGE, ...lead, '-F', ...daemonArguments(options, dir, null)],
      {},
    );
    const stray = new RunningProxy('proxyd', dir, daemon);
    await stray.serving();
    const before = worker(stray);
    daemon.child.kill('SIGUSR2');
    await until(
      'both errors in the log',
      () => /thrown into/.test(daemon.stderr) && /nobody holds/.test(daemon.stderr),
    );
    expect(daemon.stderr).toMatch(
      /Error: Uncaught error in the manager, which keeps running: TypeError: thrown into.*\n\s+at /,
    );
    expect((await stray.get('/')).status).toBe(200);
    expect(worker(stray)).toBe(before);
    const panic = await stray.adm('panic.show');
    expect(panic.stdout).toMatch(
      /Panic at: .*\nUncaught error in the manager .*\nTypeError: thrown into(?:.*\n)+?\s+at /,
    );
    expect(await stray.stop()).toMatchObject({ code: 0 });
  });

  it('that is killed takes its worker along, and whoever starts it again serves at once', async () => {
    const dir = box.path('killed');
    // Of its own, which nobody else takes while there is no daemon.
    const port = await freePort();
    const first = await startProxy(box, { backend: `127.0.0.1:${origin.port}`, dir, port });
    let proxy = first;
    const killed = async (): Promise<void> => {
      const tree = processTree(proxy.pid);
      proxy.daemon.child.kill('SIGKILL');
      await proxy.daemon.ended;
      // As a service manager with RestartSec=100ms does it: also when the port is not free yet.
      let left = 20;
      for (;;) {
        await delay(100);
        proxy = await startProxy(box, { backend: `127.0.0.1:${origin.port}`, dir, port, mode: 'F' }).catch(
          () => first,
        );
        if (proxy !== first || --left === 0) break;
      }
      expect((await proxy.get('/')).status).toBe(200);
      expect(tree.filter(alive)).toEqual([]);
    };
    for (let round = 0; round < 3; round++) await backAtOnce(() => timed(killed), starting);
    await proxy.stop();
  });
});

describe('without a descriptor to spare', () => {
  const limit = (pid: number, count: string) =>
    run('prlimit', ['--pid', String(pid), `--nofile=${count}`]).then((done) => expect(done.code).toBe(0));

  it('a dead worker is tried again until there is one, and every question is answered meanwhile', async () => {
    const proxy = await startProxy(box, {
      backend: `127.0.0.1:${origin.port}`,
      params: { ping_interval: '1' },
    });
    const client = await connect({ dir: proxy.dir, name: 'test' });
    const ask = (line: string) => {
      const began = performance.now();
      return client.command(line).then((reply) => ({ ...reply, ms: performance.now() - began }));
    };
    await limit(proxy.pid, '8:1024');
    process.kill(worker(proxy), 'SIGKILL');
    await until('a try that failed', () =>
      /Cannot start a worker process: .*EMFILE/.test(proxy.daemon.stderr),
    );
    const asked = [await ask('status'), await ask('start'), await ask('status'), await ask('pid')];
    expect(asked.map(({ status }) => status)).toEqual([200, 300, 200, 200]);
    expect(asked[0]?.body).toBe('Child in state stopped');
    expect(asked[1]?.body).toMatch(/^Cannot start a worker process: .*EMFILE.*retried/);
    // A command that waits for a worker is given up after cli_timeout, a minute.
    for (const { ms } of asked) expect(ms).toBeLessThan(30_000);
    await limit(proxy.pid, '1024:1024');
    const answer = await until('an answer', () => proxy.get('/').catch(() => null));
    expect(answer.status).toBe(200);
    client.close();
    expect(await proxy.stop()).toMatchObject({ code: 0 });
  });

  it('a stop leaves nothing', async () => {
    const proxy = await startProxy(box, { backend: `127.0.0.1:${origin.port}` });
    await limit(proxy.pid, '8:1024');
    process.kill(worker(proxy), 'SIGKILL');
    await until('a try that failed', () => /Cannot start a worker process/.test(proxy.daemon.stderr));
    expect(await proxy.stop()).toMatchObject({ code: 0 });
    expect(readdirSync(proxy.dir).filter((name) => /lock|sock|pid/.test(name))).toEqual([]);
  });
});
