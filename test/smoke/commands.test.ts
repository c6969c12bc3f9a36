// The admin commands and the programs beside the daemon: parameters and their bounds, the secret, programs without a
// daemon, and versions.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Origin, respond } from '../harness/origin.ts';
import { run, Sandbox } from '../harness/processes.ts';
import { backendProgram, ROOT, type RunningProxy, startProxy, tool } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-smoke-commands');
const { bin, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  bin: Record<string, string>;
  version: string;
};
let origin: Origin;
let proxy: RunningProxy;
let secret: string;
let address: string;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
  secret = box.path('secret');
  writeFileSync(secret, 'open sesame\n', { mode: 0o600 });
  proxy = await startProxy(box, {
    program: backendProgram(origin.port),
    args: ['-S', secret, '-T', '127.0.0.1:0'],
  });
  address = /CLI on (\S+)/.exec(proxy.daemon.stderr)?.[1] ?? '';
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

const refusal = async (...words: string[]) => {
  const { code, stdout, stderr } = await proxy.adm(...words);
  return [code, stdout.split('\n')[0], Number(/error code (\d+)/.exec(stderr)?.[1])];
};

describe('parameters', () => {
  it('keep to their bounds, and say what these are', async () => {
    expect(await refusal('param.set', 'default_ttl', '-1')).toEqual([
      1,
      'Must be greater or equal to 0.000',
      106,
    ]);
    expect(await refusal('param.set', 'workspace_client', '1')).toEqual([1, 'Must be at least 9k', 106]);
    expect(await refusal('param.set', 'no_such', '1')).toEqual([1, 'Unknown parameter "no_such".', 106]);
    expect((await proxy.adm('param.show', 'default_ttl')).stdout).toMatch(
      /^default_ttl\n +Value is: 120\.000 \[seconds\] \(default\)\n +Minimum is: 0\.000\n/,
    );
    expect((await proxy.adm('param.set', 'default_ttl', '0')).code).toBe(0);
    expect((await proxy.adm('param.show', 'default_ttl')).stdout).toMatch(
      /Value is: 0\.000 \[seconds\]\n +Default is: 120\.000\n/,
    );
    expect((await proxy.adm('param.reset', 'default_ttl')).code).toBe(0);
  });

  it('that are wrong are words of the command that is refused', async () => {
    expect(await refusal('no.such.command')).toEqual([1, 'Unknown request.', 101]);
    expect(await refusal('vcl.load')).toEqual([1, 'Too few parameters', 104]);
    expect(await refusal('ping', 'a', 'b', 'c')).toEqual([1, 'Too many parameters', 105]);
  });
});

describe('proxyadm', () => {
  it('asks by the working directory, by an address with the secret, and not without', async () => {
    const wrong = box.path('wrong');
    writeFileSync(wrong, 'close sesame\n');
    const ask = (...args: string[]) => tool('proxyd', 'adm', [...args, 'status']);
    const [dir, tcp, without, other] = await Promise.all([
      ask('-n', proxy.dir),
      ask('-T', address, '-S', secret),
      ask('-T', address),
      ask('-T', address, '-S', wrong),
    ]);
    expect(dir).toMatchObject({ code: 0, stdout: 'Child in state running\n', stderr: '' });
    expect(tcp).toMatchObject({ code: 0, stdout: 'Child in state running\n' });
    expect([without.code, without.stdout, other.code, other.stdout]).toEqual([2, '', 2, '']);
  });
});

describe('commands', () => {
  it('give their version', async () => {
    for (const name of [
      'proxyd',
      'proxyadm',
      'proxylog',
      'proxylog-json',
      'proxyncsa',
      'proxystat',
      'proxytop',
      'proxyhist',
    ]) {
      const end = await run(process.execPath, [join(ROOT, bin[name] as string), '-V']);
      expect([name, end.code]).toEqual([name, 0]);
      expect(`${end.stdout}${end.stderr}`).toContain(`${name} (proxyd-${version}`);
    }
  });

  it('compile a program without a daemon, or say where it is wrong', async () => {
    const good = box.path('good');
    writeFileSync(good, backendProgram(1, 'sub vcl_recv { return (pass); }'));
    const wrong = box.path('wrong');
    writeFileSync(wrong, backendProgram(1, 'sub vcl_recv { set req.url = ; }'));
    const [compiled, refused] = await Promise.all(
      [good, wrong].map((file) => tool('proxyd', 'daemon', ['-C', '-f', file])),
    );
    expect(compiled?.code).toBe(0);
    expect(compiled?.stdout).toContain('vcl_recv');
    expect(refused?.code).toBe(2);
    expect(refused?.stderr).toMatch(/Expected[\s\S]*Line 3 Pos 30\)[\s\S]*VCL compilation failed\n$/);
  });
});
