// A worker that dies at each start: retries, reported state, and start and stop in between.

import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Fixture, startManager, until } from '../fixture.ts';

let fixture: Fixture;
afterEach(() => fixture.close());

const command = (line: string) => fixture.manager.command(line);
const logged = (pattern: RegExp) => fixture.log.filter((line) => pattern.test(line));
/** @param patience milliseconds until a connection counts as one that waits */
const connects = (patience = 30_000) =>
  new Promise<string>((resolve) => {
    const socket = connect(fixture.manager.core.listeners.list()[0]?.port ?? 0, '127.0.0.1');
    socket.on('data', () => {
      resolve('served');
      socket.destroy();
    });
    socket.on('error', (cause: NodeJS.ErrnoException) => resolve(cause.code ?? ''));
    setTimeout(() => {
      resolve('waits');
      socket.destroy();
    }, patience).unref();
  });

/** A worker that dies at every start from now on, and has done so often enough to be tried with pauses. */
async function crashLoop(...argv: string[]): Promise<void> {
  fixture = await startManager(['-F', '-b', 'none', ...argv]);
  expect((await command('param.set default_ttl 667')).status).toBe(200);
  await command('debug.srandom die');
  await until(() => logged(/next try in 0\.4 s/).length > 0, 'a pause before a try');
}

describe('a worker that dies at every start', () => {
  it('is tried again with pauses that are logged, and at once when it is asked for, until it serves', async () => {
    await crashLoop();
    const deaths = logged(/^error: Child \(\d+\) died/).map((line) => line.replace(/\d+(?=\))/, 'PID'));
    expect(deaths.slice(0, 6)).toEqual([
      'error: Child (PID) died signal=9 (SIGKILL); restarted at once',
      'error: Child (PID) died status=3; restarted at once',
      'error: Child (PID) died status=3; restarted at once',
      'error: Child (PID) died status=3; next try in 0.1 s, after 4 quick failures',
      'error: Child (PID) died status=3; next try in 0.2 s, after 5 quick failures',
      'error: Child (PID) died status=3; next try in 0.4 s, after 6 quick failures',
    ]);
    expect((await command('status')).body).toBe('Child in state stopped');
    expect(await connects(150)).toBe('waits');
    // It fails once more, and is retried further.
    const reply = await command('start');
    expect(reply.status).toBe(300);
    expect(reply.body).toMatch(/^Child \(\d+\) died status=3 at its start$/);
    expect(fixture.manager.core.supervisor.awaitsRestart).toBe(true);
    await command('param.set default_ttl 42');
    await until(() => fixture.manager.core.supervisor.state === 'running', 'a worker that serves');
    expect(await connects()).toBe('served');
  });

  it('serves at once when it is asked for and can, and is left alone after a stop', async () => {
    await crashLoop();
    expect((await command('stop')).status).toBe(200);
    expect((await command('stop')).status).toBe(300);
    expect(await connects()).toBe('ECONNREFUSED');
    const tries = logged(/Started/).length;
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(logged(/Started/)).toHaveLength(tries);
    expect((await command('start')).status).toBe(300);
    await command('param.set default_ttl 42');
    expect((await command('start')).status).toBe(200);
    expect(await connects()).toBe('served');
  });

  it('does not wait for its pause when it is asked for', async () => {
    await crashLoop();
    await command('param.set default_ttl 42');
    expect(fixture.manager.core.supervisor.awaitsRestart).toBe(true);
    const starting = command('start');
    await new Promise((resolve) => setImmediate(resolve));
    expect(fixture.manager.core.supervisor.pid).not.toBe(0);
    expect(await starting).toEqual({ status: 200, body: '' });
  });
});

it('a start that was asked for and fails is not tried again', async () => {
  fixture = await startManager(['-F', '-b', 'none']);
  await command('stop');
  await command('param.set default_ttl 667');
  expect((await command('start')).status).toBe(300);
  expect(fixture.manager.core.supervisor.awaitsRestart).toBe(false);
  expect(logged(/died status=3; not restarted$/)).toHaveLength(1);
  expect(await connects()).toBe('ECONNREFUSED');
});

it('a death without auto_restart says what to do', async () => {
  fixture = await startManager(['-F', '-b', 'none', '-p', 'auto_restart=off']);
  await command('debug.srandom die');
  await until(() => logged(/died/).length > 0, 'its death');
  expect(
    logged(/died signal=9 \(SIGKILL\); not restarted \(auto_restart is off: use the command start\)$/),
  ).toHaveLength(1);
});

it('a panic is logged whole', async () => {
  fixture = await startManager(['-F', '-b', 'none']);
  await command('debug.srandom panic');
  await until(() => logged(/panic/).length > 0, 'its report');
  expect(logged(/panic/)).toEqual(['error: Child panic: Assert error in fake()\n at line 1']);
});

it('a worker that talks without end does not fill the log', async () => {
  fixture = await startManager(['-F', '-b', 'none']);
  const { pid } = fixture.manager.core.supervisor;
  await command('debug.srandom say');
  await command('debug.srandom die');
  await until(() => logged(/suppressed/).length > 0, 'the count of lines');
  expect(logged(/said line/)).toHaveLength(100);
  expect(logged(/suppressed/)).toEqual([`info: Child (${pid}) said 400 more lines, suppressed`]);
});
