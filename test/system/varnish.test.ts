// The console on a real Varnish, in a real terminal: its views, actions, a recording of varnishlog's, one command
// without a screen; and no leftovers, however it ends.
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fetchOnce } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { installed, run, Sandbox, until } from '../harness/processes.ts';
import { command, type RunningProxy, startProxy, tool } from '../harness/proxy.ts';
import { TestTerminal } from '../harness/terminal.ts';

const missing = !['tmux', 'varnishd', 'varnishlog', 'varnishstat', 'varnishadm'].every(installed);
if (missing) process.stderr.write('varnish.test.ts is skipped: Varnish or tmux is not installed\n');

describe.skipIf(missing)('the console on a Varnish', () => {
  const box = new Sandbox('console-varnish');
  const [node, [proxyadm]] = command('proxyd', 'adm');
  let origin: Origin;
  let varnish: RunningProxy;
  let terminal: TestTerminal;

  const program = (more = ''): string => `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
backend dead { .host = "127.0.0.1"; .port = "9"; .probe = { .interval = 1s; .timeout = 1s; } }
sub vcl_recv {
  if (req.url ~ "^/dead") { set req.backend_hint = dead; }
  ${more}
}`;
  /** Tools, shells and consoles of the instance that are alive. */
  const users = (): string[] =>
    readdirSync('/proc').flatMap((pid) => {
      if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
        return line.includes(varnish.dir) && !/\bvarnishd /.test(line) ? [line] : [];
      } catch {
        return [];
      }
    });
  const open = async (args: string, env = ''): Promise<void> => {
    await terminal.type(`clear; ${env} ${node} ${proxyadm} ${args}; echo "status $?"`);
    await terminal.press('Enter');
  };

  beforeAll(async () => {
    origin = await Origin.start();
    origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
    origin.on(
      '/cookie',
      respond('200 OK', { 'Cache-Control': 'max-age=100', 'Set-Cookie': 'a=1' }, 'hello\n'),
    );
    varnish = await startProxy(box, { product: 'varnish', program: program() });
    // Runs the command here, as sshd would on the other host: by a shell.
    mkdirSync(join(box.dir, 'bin'));
    const ssh = join(box.dir, 'bin', 'ssh');
    writeFileSync(ssh, '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\n/bin/sh -c "$3"\n');
    chmodSync(ssh, 0o755);
  });

  beforeEach(async () => {
    terminal = await TestTerminal.open(box, 140, 40);
  });

  afterEach(() => terminal.close());

  afterAll(async () => {
    await varnish?.stop();
    await box.dispose();
    await origin.close();
  });

  it('shows what it does and steers it', async () => {
    for (const path of ['/', '/', '/cookie', '/cookie', '/dead']) await fetchOnce(varnish.port, path);
    await open(`--varnish ${varnish.dir}`);
    const first = await terminal.waitFor(/● running[\s\S]*boot\.dead +sick[\s\S]*503[\s\S]*GET \/dead/);
    expect(first).not.toMatch(/loop|manager/);
    // Why, from a log of before.
    await terminal.press('#');
    await terminal.waitFor(/hit-for-miss: it has a Set-Cookie/);
    await terminal.press('2');
    await terminal.waitFor(/miss +200 +GET +\/cookie/);
    await terminal.type('/ReqURL eq "/"');
    await terminal.press('Enter');
    await terminal.waitFor(/query ReqURL eq[\s\S]*hit +200 +GET +\/ /);
    await until('only those', async () => !(await terminal.screen()).includes('/dead'));
    await terminal.press('Escape', '4');
    await terminal.waitFor(/boot\.dead +probe +sick +0\/8 .* connect refused/);
    await terminal.press('Down', 's');
    await terminal.waitFor(/Confirm backend\.set_health boot\.(dead|default) sick.*\?/);
    await terminal.press('n', '7', 'b');
    await terminal.type('req.url ~ ^/old');
    await terminal.press('Enter');
    await terminal.waitFor(/Varnish cannot count matches\. Ban anyway\?/);
    await terminal.press('y');
    await terminal.waitFor(/ban +\S+ +\d+ +.* req\.url ~ \^\/old/);
    await terminal.press('B');
    await terminal.waitFor(/Varnish has no command ban\.soft/);
    await terminal.press('@');
    await terminal.waitFor(/Varnish has no edge network connector/);
    await terminal.press('6');
    await terminal.waitFor(/accept_filter .*not_implemented[\s\S]*ban_lurker_sleep/);

    // A program that does not compile, at its place; and one that does, taken into use after its changes.
    const file = join(box.dir, 'next.vcl');
    writeFileSync(file, program('set req.nope = 1;'));
    await terminal.press('5', 'l');
    await terminal.type(file);
    await terminal.press('Enter');
    await terminal.waitFor(/ 6 +set req\.nope = 1;[\s\S]*\^{8} Symbol not found: 'req\.nope'/);
    writeFileSync(file, program('if (req.url == "/new") { return (synth(204)); }'));
    await terminal.press('Escape', 'l');
    await terminal.type(file);
    await terminal.press('Enter');
    await until('the program', async () => (await varnish.adm('vcl.list')).stdout.includes('next'));
    // A program just loaded prompts for use at once; declined here, to be asked later.
    await terminal.waitFor(/next +available[\s\S]*use next instead of boot\?/);
    await terminal.press('Escape', 'Down');
    await terminal.waitFor(/─ next ─/);
    await terminal.press('u');
    await terminal.waitFor(
      /Changes from boot to next[\s\S]*\+ +if \(req\.url == "\/new"\)[\s\S]*use next instead of boot\?/,
    );
    await terminal.press('y');
    await terminal.waitFor(/now active/);
    expect((await fetchOnce(varnish.port, '/new')).status).toBe(204);
    await terminal.press('q');
    await terminal.waitFor(/status 0/);
    expect(await terminal.screen()).not.toContain('Warning');
    await until('nothing left', () => users().length === 0);
  });

  it('leaves nothing when it is killed, here or over ssh', async () => {
    for (const [args, env] of [
      [`--varnish ${varnish.dir}`, ''],
      [`--varnish ssh://web1/${varnish.dir}`, `PATH=${join(box.dir, 'bin')}:$PATH`],
    ] as const) {
      await open(args, env);
      await terminal.waitFor(/● running/);
      await until('its tools', () => users().some((line) => /\bvarnishlog /.test(line)));
      const pid = readdirSync('/proc').find((one) => {
        try {
          return readFileSync(`/proc/${one}/cmdline`, 'latin1').includes(`${proxyadm}\0--varnish`);
        } catch {
          return false;
        }
      });
      process.kill(Number(pid), 'SIGKILL');
      await until('nothing left', () => users().length === 0);
      await terminal.type('reset');
      await terminal.press('Enter');
      await terminal.waitFor(/\$ ?$/m);
    }
  });

  it('opens what varnishlog wrote', async () => {
    for (const path of ['/written', '/written']) await fetchOnce(varnish.port, path);
    for (const [name, args] of [
      ['request', ['-g', 'request']],
      ['raw', ['-g', 'raw']],
      ['vxid', []],
    ] as const) {
      const file = join(box.dir, `${name}.vsl`);
      // The last records are written after the response.
      await until('the recording', async () => {
        await run('varnishlog', ['-n', varnish.dir, '-d', ...args, '-w', file]);
        const hits = ['-r', file, '-g', 'request', '-q', 'VCL_call eq "HIT"'];
        return (await run('varnishlog', hits)).stdout.includes('/written');
      });
      await open(`--replay ${file}`);
      await terminal.waitFor(/REPLAY/);
      await terminal.press('2');
      await until('its end', async () => {
        await terminal.press('.');
        return /hit +200 +GET +\/written/.test(await terminal.screen());
      });
      await terminal.press('q');
      await terminal.waitFor(/status 0/);
    }
  });

  it('runs one command, or a script of them', async () => {
    const one = await tool('proxyd', 'adm', [`--varnish=${varnish.dir}`, 'vcl.list', '-j']);
    expect([one.code, one.stdout]).toEqual([0, expect.stringContaining('"vcl.list", "-j"')]);
    const wrong = await tool('proxyd', 'adm', [`--varnish=${varnish.dir}`, 'nonsense']);
    expect([wrong.code, wrong.stderr]).toEqual([1, 'Command failed with error code 101\n']);
    const script = await tool('proxyd', 'adm', [`--varnish=${varnish.dir}`], { input: 'status\nping -j\n' });
    expect([script.code, script.stdout]).toEqual([0, expect.stringMatching(/running[\s\S]*"PONG"/)]);
    const nobody = await tool('proxyd', 'adm', [`--varnish=${box.dir}/nobody`, 'status']);
    expect([nobody.code, nobody.stdout + nobody.stderr]).toEqual([
      2,
      expect.stringContaining('cannot read a Varnish'),
    ]);
    const refused = await tool('proxyd', 'adm', ['--varnish=ssh://-oProxyCommand=x', 'status']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('is not a host')]);
    await until('nothing left', () => users().length === 0);
  });
});
