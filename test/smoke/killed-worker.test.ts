// A worker that is killed: another one takes its place with the same programs, parameters and port, and the reason can be
// read; with auto_restart off none does.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { alive, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-smoke-killed');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
  const program = backendProgram(origin.port, 'sub vcl_deliver { set resp.http.says = "boot"; }');
  proxy = await startProxy(box, { program, params: { default_grace: '33' } });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

/** Kills the worker and waits for its end. */
async function kill(): Promise<number> {
  const pid = proxy.workerPid();
  if (pid === null) throw new Error('there is no worker');
  process.kill(pid, 'SIGKILL');
  await until('its end', () => !alive(pid));
  return pid;
}
const value = async (name: string): Promise<string | undefined> =>
  /Value is: (\S+)/.exec((await proxy.adm('param.show', name)).stdout)?.[1];

describe('a worker that is killed', () => {
  it('is replaced by one with the same programs, parameters and port, and an empty store', async () => {
    expect((await proxy.get('/stored')).body.toString()).toBe('hello\n');
    const second = backendProgram(origin.port, 'sub vcl_deliver { set resp.http.says = "second"; }');
    expect((await proxy.adm(`vcl.inline second << EOT\n${second}\nEOT`)).code).toBe(0);
    expect((await proxy.adm('vcl.use', 'second')).code).toBe(0);
    expect((await proxy.adm('param.set', 'default_ttl', '77')).code).toBe(0);
    const before = await kill();
    // The manager's sockets take clients until the new worker does.
    const answers = await Promise.all(Array.from({ length: 10 }, () => proxy.get('/stored')));
    expect(answers.map((answer) => [answer.status, field(answer, 'says')])).toEqual(
      answers.map(() => [200, 'second']),
    );
    expect(proxy.workerPid()).not.toBe(before);
    expect(origin.seen('/stored')).toHaveLength(2);
    expect([await value('default_ttl'), await value('default_grace')]).toEqual(['77.000', '33.000']);
  });

  it('is counted, and the reason can be read until it is cleared', async () => {
    await proxy.counterReaches('MGT.child_died', 1);
    const counters = await proxy.counters();
    expect([counters['MGT.child_start'], counters['MGT.child_died']]).toEqual([2, 1]);
    expect(`${(await proxy.adm('panic.show')).stdout}${proxy.daemon.stderr}`).toMatch(/SIGKILL|signal[ =]*9/);
  });

  it('is not replaced with auto_restart off, until it is started', async () => {
    expect((await proxy.adm('param.set', 'auto_restart', 'off')).code).toBe(0);
    await kill();
    await until('its state', async () => !(await proxy.adm('status')).stdout.includes('running'));
    expect((await proxy.adm('status')).stdout).toBe('Child in state stopped\n');
    expect(proxy.workerPid()).toBe(null);
    expect((await proxy.adm('start')).code).toBe(0);
    await proxy.serving();
    expect(field(await proxy.get('/stored'), 'says')).toBe('second');
  });
});
