import { writeFileSync } from 'node:fs';
import { connect as netConnect } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../protocol/tables/commands.ts';
import { type Fixture, LARGE, startManager, until } from './fixture.ts';

let open: Fixture[] = [];
async function start(...argv: string[]): Promise<Fixture> {
  const f = await startManager(argv);
  open.push(f);
  return f;
}
afterEach(async () => {
  await Promise.all(open.map((f) => f.close()));
  open = [];
});

async function body(f: Fixture, line: string): Promise<string> {
  return (await f.manager.command(line)).body;
}

/** The worker's response to a client, or why there is none. */
function greet(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = netConnect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (d) => {
      text += d;
    });
    socket.on('error', (e: NodeJS.ErrnoException) => resolve(String(e.code)));
    socket.on('close', () => resolve(text));
  });
}

describe('a worker on its own', () => {
  it('serves on a port that the manager bound', async () => {
    const f = await start('-F', '-b', 'none');
    expect(await body(f, 'status')).toBe('Child in state running');
    const [{ port = 0 } = {}] = f.manager.core.listeners.list();
    expect(await greet(port)).toBe(`worker ${f.manager.core.supervisor.pid}\n`);
  });

  it('is started by a command in debug mode, and not without a program', async () => {
    const f = await start('-d');
    expect(await f.manager.command('start')).toEqual({ status: 300, body: 'No VCL loaded' });
    expect(await f.manager.command('vcl.inline a << E\nvcl 4.1;\nE')).toEqual({
      status: 200,
      body: 'VCL compiled.\n',
    });
    expect(await f.manager.command('start')).toEqual({ status: 300, body: 'No active VCL' });
    expect(await body(f, 'vcl.use a')).toBe("VCL 'a' now active");
    expect(await f.manager.command('start')).toEqual({ status: 200, body: '' });
    expect(await f.manager.command('start')).toEqual({ status: 300, body: 'Child in state running' });
    expect(await body(f, 'debug.srandom init')).toContain('"name":"<vcl.inline>"');
  });

  it('stops, refuses connections, and comes back on the same port', async () => {
    const f = await start('-F', '-b', 'none');
    const [{ port = 0 } = {}] = f.manager.core.listeners.list();
    expect(await f.manager.command('stop')).toEqual({ status: 200, body: '' });
    expect(await f.manager.command('stop')).toEqual({ status: 300, body: 'Child in state stopped' });
    expect(await greet(port)).toBe('ECONNREFUSED');
    expect((await f.manager.command('start')).status).toBe(200);
    expect(await greet(port)).toBe(`worker ${f.manager.core.supervisor.pid}\n`);
    expect(f.manager.core.supervisor.counters).toMatchObject({
      child_start: 2,
      child_exit: 1,
      child_stop: 0,
      child_died: 0,
    });
  });

  it('is replaced when it is killed; a connection made meanwhile is served', async () => {
    const f = await start('-F', '-b', 'none');
    await body(f, 'param.set default_ttl 42');
    await body(f, 'vcl.inline second "vcl 4.1;"');
    const [{ port = 0 } = {}] = f.manager.core.listeners.list();
    const first = f.manager.core.supervisor.pid;
    process.kill(first, 'SIGKILL');
    await until(() => f.manager.core.supervisor.pid !== first, 'the death is noticed');
    const text = await greet(port);
    expect(text).toMatch(/^worker \d+\n$/);
    expect(text).not.toBe(`worker ${first}\n`);
    await until(() => f.manager.core.supervisor.state === 'running', 'a new worker runs');
    const init = JSON.parse(await body(f, 'debug.srandom init'));
    expect(init.params.default_ttl).toBe(42);
    expect(init.programs.map((p: { name: string }) => p.name)).toEqual(['boot', 'second']);
    expect(init).toMatchObject({ active: 'boot', generation: 1 });
    expect(
      f.log.some((l) => /^error: Child \(\d+\) died signal=9 \(SIGKILL\); restarted at once$/.test(l)),
    ).toBe(true);
  });

  it('stays dead with auto_restart=off, and reports that', async () => {
    const f = await start('-F', '-b', 'none', '-p', 'auto_restart=off');
    expect((await f.manager.command('debug.srandom die')).status).toBe(400);
    await until(() => f.manager.core.supervisor.state === 'stopped', 'stopped');
    const [{ port = 0 } = {}] = f.manager.core.listeners.list();
    expect(await greet(port)).toBe('ECONNREFUSED');
    expect(await body(f, 'status')).toBe('Child in state stopped');
    expect(await body(f, 'ban req.url == /')).toBe(
      "Unknown request in manager process (child not running).\nType 'help' for more info.",
    );
  });

  it('knows its own commands only while there is no worker, and reports it in its help', async () => {
    const f = await start('-d');
    const named = (text: string): string[] =>
      text
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0] as string);
    const own = COMMANDS.filter((row) => row.where === 'manager').map((row) => row.name);
    expect(named(await body(f, 'help -a'))).toEqual(own);
    expect(named(await body(f, 'help'))).toEqual(own.filter((name) => !name.startsWith('debug.')));
    expect(named(await body(f, 'help -d'))).toEqual(own.filter((name) => name.startsWith('debug.')));
    const list = (JSON.parse(await body(f, 'help -j')) as { request: string }[]).slice(3);
    expect(list.map((row) => row.request)).toEqual(own);
    for (const name of ['ban', 'debug.xid', 'edge.status'])
      expect(await f.manager.command(`help ${name}`)).toEqual({
        status: 101,
        body: "Unknown request.\nType 'help' for more info.\n",
      });
    expect(await f.manager.command('help vcl.use')).toMatchObject({ status: 200 });
  });

  it.each([
    ['-short_panic', 'Assert error in fake()\n at line 1'],
    ['+short_panic', 'Assert error in fake()'],
  ])('reports a panic as long as feature %s has it', async (feature, report) => {
    const f = await start('-F', '-b', 'none', '-p', 'auto_restart=off', '-p', `feature=${feature}`);
    await f.manager.command('debug.srandom panic');
    await until(() => f.manager.core.supervisor.state === 'stopped', 'stopped');
    const shown = JSON.parse(await body(f, 'panic.show -j')) as string[];
    expect(JSON.stringify(shown)).toContain(JSON.stringify(report).slice(1, -1));
    expect(JSON.stringify(shown).includes('at line 1')).toBe(feature.startsWith('-'));
  });

  it('leaves a panic report that can be shown and cleared', async () => {
    const f = await start('-F', '-b', 'none', '-p', 'auto_restart=off');
    expect(await f.manager.command('panic.show')).toEqual({
      status: 300,
      body: 'Child has not panicked or panic has been cleared',
    });
    await f.manager.command('debug.srandom panic');
    await until(() => f.manager.core.supervisor.state === 'stopped', 'stopped');
    const shown = await f.manager.command('panic.show');
    expect(shown.status).toBe(200);
    expect(shown.body).toMatch(/^Panic at: \w{3}, \d\d \w{3} \d{4} [\d:]+ GMT\nAssert error in fake\(\)\n/);
    const parsed = JSON.parse(await body(f, 'panic.show -j')) as unknown[];
    expect(parsed[3]).toBe(`${shown.body.trimEnd()}\n`);
    expect(f.manager.core.supervisor.counters).toMatchObject({
      child_panic: 1,
      child_died: 1,
      child_exit: 0,
    });
    expect((await f.manager.command('panic.clear -z')).status).toBe(200);
    expect(f.manager.core.supervisor.counters.child_panic).toBe(0);
    expect((await f.manager.command('panic.clear')).status).toBe(300);
  });

  it('is killed and replaced when it does not answer', async () => {
    const f = await start('-F', '-b', 'none', '-p', 'cli_timeout=0.3');
    const first = f.manager.core.supervisor.pid;
    expect((await f.manager.command('debug.srandom hang')).status).toBe(300);
    await until(
      () => f.manager.core.supervisor.state === 'running' && f.manager.core.supervisor.pid !== first,
      'replaced',
    );
    expect(f.log.join('\n')).toContain('not responding to CLI, killed it.');
  });

  it('is not killed for a long command, which continues: its caller is notified, and all are at its end', async () => {
    const f = await start('-F', '-b', 'none', '-p', 'cli_timeout=0.3', '-p', 'ping_interval=0');
    const { pid } = f.manager.core.supervisor;
    expect(await f.manager.command('debug.srandom dawdle')).toEqual({
      status: 300,
      body: "debug.srandom takes longer than 0.3 s (cli_timeout) and continues in the background; event.list and the daemon's log will report its end.\n",
    });
    // Others are answered meanwhile; this one has the fake end the long one.
    expect((await f.manager.command('debug.srandom')).status).toBe(200);
    const ended = /debug\.srandom ended after [\d.]+ s with status 200/;
    await until(() => ended.test(f.log.join('\n')), 'its end in the log');
    const events = await body(f, 'event.list');
    expect(events).toContain(
      'debug.srandom takes longer than 0.3 s (cli_timeout) and continues in the background',
    );
    expect(events).toMatch(ended);
    expect(f.manager.core.supervisor.pid).toBe(pid);
  });

  it('that hangs in a command is killed also where it is not asked for signs of life', async () => {
    const f = await start('-F', '-b', 'none', '-p', 'cli_timeout=0.3', '-p', 'ping_interval=0');
    const first = f.manager.core.supervisor.pid;
    await f.manager.command('debug.srandom hang');
    await until(
      () => f.manager.core.supervisor.state === 'running' && f.manager.core.supervisor.pid !== first,
      'replaced',
    );
  });

  it('that refuses to start is an error of the start, not a loop', async () => {
    await expect(startManager(['-F', '-b', 'none', '-t', '666'])).rejects.toThrow('told to fail');
  });
});

describe('large code of a program', () => {
  interface Code {
    sizes: Record<string, number>;
    lines: Record<string, number>;
    counts: Record<string, number>;
    kept: number;
  }
  const code = async (f: Fixture): Promise<Code> => JSON.parse(await body(f, 'debug.srandom code')) as Code;
  const LOAD = 'vcl.inline many "vcl 4.1; /* large code */"';

  it('reaches the worker in parts, between which others have their turn, and its successor, too', async () => {
    const f = await start('-F', '-b', 'none');
    let turns = 0;
    let loaded = false;
    const count = (): void => {
      if (loaded) return;
      turns++;
      setImmediate(count);
    };
    setImmediate(count);
    const reply = await f.manager.command(LOAD);
    loaded = true;
    expect(reply.status).toBe(200);
    const had = await code(f);
    expect(had).toMatchObject({
      sizes: { boot: 0, many: LARGE },
      lines: { boot: 0, many: LARGE },
      kept: 0,
    });
    expect(had.counts.boot).toBe(0);
    expect(had.counts.many).toBeGreaterThan(10);
    expect(turns).toBeGreaterThan(had.counts.many as number);
    const { pid } = f.manager.core.supervisor;
    await body(f, 'debug.srandom die');
    await until(
      () => f.manager.core.supervisor.state === 'running' && f.manager.core.supervisor.pid !== pid,
      'another worker',
    );
    expect(await code(f)).toEqual(had);
  });

  it('is not loaded where the worker dies before all of it is there', async () => {
    const f = await start('-F', '-b', 'none');
    const { pid } = f.manager.core.supervisor;
    const loading = f.manager.command(LOAD);
    process.kill(pid, 'SIGKILL');
    expect((await loading).status).toBe(400);
    expect(f.manager.core.programs.has('many')).toBe(false);
    await until(
      () => f.manager.core.supervisor.state === 'running' && f.manager.core.supervisor.pid !== pid,
      'another worker',
    );
    expect((await f.manager.command(LOAD)).status).toBe(200);
    expect(await code(f)).toMatchObject({ sizes: { many: LARGE }, lines: { many: LARGE }, kept: 0 });
  });
});

describe('mistakes at the start', () => {
  it('names the used port', async () => {
    const f = await start('-F', '-b', 'none');
    const [{ port = 0 } = {}] = f.manager.core.listeners.list();
    await expect(startManager(['-F', '-b', 'none', '-a', `x=127.0.0.1:${port}`])).rejects.toThrow(
      `Could not get socket x=127.0.0.1:${port}: Address already in use`,
    );
  });

  it('shows the compiler’s message', async () => {
    const f = await start('-d');
    const file = join(f.dir, 'bad.vcl');
    writeFileSync(file, 'error');
    await expect(startManager(['-F', '-f', file])).rejects.toThrow('no good');
    await expect(startManager(['-F', '-f', '/nonexistent.vcl'])).rejects.toThrow(
      "Cannot read -f file '/nonexistent.vcl' (No such file or directory)",
    );
  });

  it('refuses unknown and bad parameters, and passes over those without meaning', async () => {
    await expect(startManager(['-d', '-p', 'nosuch=1'])).rejects.toThrow('Unknown parameter "nosuch".');
    await expect(startManager(['-d', '-p', 'default_ttl=x'])).rejects.toThrow(
      "\nInvalid number (x)\n\n(attempting to set param 'default_ttl' to 'x')",
    );
    await expect(startManager(['-d', '-p', 'thread_pools=x'])).rejects.toThrow('Not a number (x)');
    await expect(startManager(['-d', '-p', 'feature=+http2,+nosuch'])).rejects.toThrow('Unknown feature bit');
    const f = await start('-d', '-p', 'thread_pools=4', '-p', 'h2_rxbuf_storage=a', '-r', 'thread_pools');
    const reason =
      'requests do not run on a pool of threads; worker_threads says how many threads serve clients, with an event loop each';
    expect(f.log.slice(0, 2)).toEqual([
      `warning: -p thread_pools=4: Parameter "thread_pools" has no effect here: ${reason}.`,
      'warning: -p h2_rxbuf_storage=a: Parameter "h2_rxbuf_storage" has no effect here: bodies of requests do not wait in a storage; the windows of HTTP/2 bound them.',
    ]);
    expect(await f.manager.command('param.set thread_pools 5')).toEqual({
      status: 107,
      body: 'parameter "thread_pools" is protected.',
    });
  });

  it('take parameters of Varnish that have no effect, and report it', async () => {
    const f = await start('-d');
    const output =
      '\nParameter "workspace_thread" has no effect here: requests do not run on a pool of threads.';
    expect(await f.manager.command('param.set workspace_thread 4k')).toEqual({ status: 200, body: output });
    expect(await f.manager.command('param.reset workspace_thread')).toEqual({ status: 200, body: output });
    expect(await f.manager.command('param.set workspace_thread 4x')).toMatchObject({ status: 106 });
    expect(await f.manager.command('param.set workspace_thread 1m')).toEqual({
      status: 106,
      body: "Must be no more than 8k\n\n\n(attempting to set param 'workspace_thread' to '1m')",
    });
    expect((await f.manager.command('param.show workspace_thread')).body).toBe(
      'workspace_thread\n        Not available\n\n' +
        '        No effect here: requests do not run on a pool of threads.\n\n',
    );
    const list = await f.manager.command('param.show');
    expect(list.body).not.toContain('workspace_thread');
    const json = JSON.parse((await f.manager.command('param.show -j pool_req')).body);
    expect(json[3]).toEqual({ name: 'pool_req', implemented: false });
    const set = JSON.parse((await f.manager.command('param.set -j pool_req 1,2,3')).body);
    expect(set.slice(1, 2).concat(set[3])).toEqual([
      ['param.set', '-j', 'pool_req'],
      { name: 'pool_req', implemented: false },
    ]);
  });
});

describe('programs', () => {
  it('load, list, use, label, discard', async () => {
    const f = await start('-F', '-b', 'none');
    expect(await f.manager.command('vcl.inline a "vcl 4.1;" cold')).toEqual({ status: 200, body: '' });
    expect(await f.manager.command('vcl.inline a "vcl 4.1;"')).toEqual({
      status: 106,
      body: 'Already a VCL named a',
    });
    expect(await f.manager.command('vcl.inline 1a "x"')).toEqual({
      status: 106,
      body: "Illegal character in VCL name ('1')",
    });
    expect(await f.manager.command('vcl.inline e "error"')).toMatchObject({ status: 106 });
    expect(await f.manager.command('vcl.inline sour "x"')).toEqual({ status: 300, body: 'vcl_init said no' });
    expect(await f.manager.command('vcl.use a')).toEqual({
      status: 300,
      body: "VCL 'a' is cold - set to auto or warm first",
    });
    await f.manager.command('vcl.state a auto');
    await f.manager.command('vcl.use a');
    await f.manager.command('vcl.label L a');
    await f.manager.command('vcl.state boot warm');
    expect(await body(f, 'vcl.list')).toBe(
      'available   warm     warm         3    boot\n' +
        'active      auto     warm         3    a       <-    (1 label)\n' +
        'available   label    warm         0    L       ->    a\n',
    );
    const list = JSON.parse(await body(f, 'vcl.list -j')) as { state_temperature: string }[];
    expect(list.slice(3).map((p) => p.state_temperature)).toEqual(['warm/warm', 'auto/warm', 'label/warm']);
    expect(await body(f, 'vcl.deps')).toBe('boot\na\nL      a\n');
    expect(await f.manager.command('vcl.discard a')).toEqual({
      status: 300,
      body: 'Cannot discard active VCL program a\n',
    });
    expect((await f.manager.command('vcl.discard b* L')).status).toBe(200);
    expect(await f.manager.command('vcl.discard b*')).toEqual({
      status: 106,
      body: 'No VCL name matches b*\n',
    });
    expect(await body(f, 'vcl.list')).toBe('active   auto    warm         3    a\n');
    expect(await body(f, 'vcl.show -v a')).toBe('// VCL.SHOW 0 8 <vcl.inline>\nvcl 4.1;\n');
    const long = 'x'.repeat(50);
    await f.manager.command(`vcl.inline ${long} "vcl 4.1;"`);
    await f.manager.command(`vcl.label L ${long}`);
    expect(await body(f, 'vcl.list')).toContain(`available auto   warm       3  ${long}  <-  (1 label)\n`);
    expect(await f.manager.command(`vcl.discard ${long}`)).toEqual({
      status: 300,
      body: `Cannot discard labeled VCL program ${long}:\n\tL\n`,
    });
    expect(await f.manager.command('vcl.label M L')).toMatchObject({ status: 300 });
    expect(await f.manager.command('vcl.state L cold')).toEqual({
      status: 106,
      body: 'Labels are always warm',
    });
    await f.manager.command(`vcl.discard L ${long}`);
    await f.manager.command('stop');
    expect(await body(f, 'vcl.list')).toBe('active   auto    warm         -    a\n');
  });
});

describe('the init file', () => {
  it('runs its commands, then starts the worker', async () => {
    const f = await start('-d');
    const file = join(f.dir, 'init.cli');
    writeFileSync(file, 'vcl.inline x << E\nvcl 4.1;\nE\n-nosuch\nvcl.use x\n');
    const g = await start('-F', '-f', '', '-I', file);
    expect(g.manager.core.supervisor.state).toBe('running');
    writeFileSync(file, 'nosuch\n');
    await expect(startManager(['-F', '-f', '', '-I', file])).rejects.toThrow('CLI command failed (101)');
    writeFileSync(file, '-nosuch\nping');
    await expect(startManager(['-F', '-f', '', '-I', file])).rejects.toThrow(
      '-I file had incomplete CLI command at the end',
    );
  });
});
