// --readonly: no command that changes anything gets through, however it is written and whichever way it comes: as an
// argument, from standard input, over the socket, over TCP, by the text protocol, and to another product's daemon.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, connect } from '../../console/client/client.ts';
import { COMMANDS } from '../../protocol/tables/commands.ts';
import { findProgram, Sandbox } from '../harness/processes.ts';
import { type RunningProxy, startProxy, tool } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-readonly');
let proxy: RunningProxy;
let secret: string;
let console_: string;
let textCli: string;

beforeAll(async () => {
  secret = box.path('secret');
  writeFileSync(secret, 'hush\n', { mode: 0o600 });
  const args = ['-S', secret, '-T', '127.0.0.1:0', '--console', '127.0.0.1:0'];
  proxy = await startProxy(box, { backend: '127.0.0.1:1', args });
  const address = (pattern: RegExp): string => pattern.exec(proxy.daemon.stderr)?.[1] ?? '';
  textCli = address(/CLI on (\S+)/);
  console_ = address(/Console on (\S+)/);
});
afterAll(() => box.dispose());

const REFUSED = /refused: this connection is only for reading/;
const WRITING = COMMANDS.filter((row) => row.reads !== true).map((row) => row.name);
const WAYS = {
  'its socket': () => ['-n', proxy.dir],
  '--console': () => ['-T', console_, '-S', secret],
  '-T': () => ['-T', textCli, '-S', secret],
};

/** Effects that write commands would have had. */
async function state(): Promise<string> {
  const asked = ['ban.list', 'param.show changed', 'vcl.list', 'backend.list', 'status', 'pid'];
  let all = '';
  for (const line of asked) all += (await proxy.adm(line)).stdout;
  return all.replace(/ +\d+(\.\d+)? /g, ' ');
}

describe.each(Object.entries(WAYS))('proxyadm --readonly by way of %s', (_name, way) => {
  const readonly = (args: readonly string[], input?: string) =>
    tool('proxyd', 'adm', [...way(), '--readonly', ...args], input === undefined ? {} : { input });

  it('refuses what changes something, and answers what only reads', async () => {
    const before = await state();
    for (const words of [
      ['ban', 'obj.status', '!=', '0'],
      ['param.set', 'default_ttl', '7'],
      ['"ban" obj.status != 0'],
      ['--', '-ban obj.status != 0'],
      ['b\\x61n obj.status != 0'],
      ['-t', '5', '-p', 'ban', 'obj.status', '!=', '0'],
      ['ping\nban obj.status != 0'],
      ['vcl.inline a << E\nvcl 4.1; backend default none;\nE'],
    ]) {
      const end = await readonly(words);
      expect({ words, code: end.code }).toEqual({ words, code: 1 });
    }
    expect(await state()).toBe(before);
    expect(await readonly(['ban.list'])).toMatchObject({ code: 0, stderr: '' });
    expect((await readonly(['no.such'])).code).toBe(1);
  });

  it('refuses every such command of the table on standard input, continues, and ends with status 1', async () => {
    const before = await state();
    const here = 'vcl.inline a << E\nvcl 4.1; backend default none;\nE\n';
    const end = await readonly([], `${WRITING.map((name) => `${name} x y\n`).join('')}${here}ping\n`);
    const refused = end.stdout.split('\n').filter((line) => REFUSED.test(line));
    expect(refused.map((line) => line.split(' ')[0])).toEqual([...WRITING, 'vcl.inline']);
    expect(end.stdout).toContain('PONG');
    expect(end.code).toBe(1);
    expect(await state()).toBe(before);
    const strict = await readonly(['--strict'], 'ban obj.status != 0\nping\n');
    expect(strict).toMatchObject({ code: 1, stderr: 'Command failed with error code 300\n' });
    expect(strict.stdout).not.toContain('PONG');
    expect((await readonly([], 'ping\nban.list\n')).code).toBe(0);
  });
});

describe('a connection that was opened to read only', () => {
  let client: Client;
  beforeAll(async () => {
    client = await connect({ dir: proxy.dir, readonly: true });
  });
  afterAll(() => client.close());

  it('is kept to that by the manager', async () => {
    const before = await state();
    for (const name of WRITING)
      for (const line of [name, `-${name} x`, ` - "${name}" x`]) {
        const { status, body } = await client.command(line);
        expect({ line, status, body }).toMatchObject({
          line,
          status: 300,
          body: expect.stringMatching(REFUSED),
        });
      }
    expect(await state()).toBe(before);
    expect(await client.command('no.such')).toMatchObject({ status: 101 });
    expect(await client.command('ban.list')).toMatchObject({ status: 200 });
  });
});

describe.skipIf(findProgram('varnishd') === null)('a Varnish', () => {
  it('gets nothing from --readonly that is not known to change nothing', async () => {
    const varnish = await startProxy(box, { product: 'varnish', backend: '127.0.0.1:1' });
    const bans = (await varnish.adm('ban.list')).stdout;
    const readonly = (words: readonly string[], input?: string) =>
      tool(
        'proxyd',
        'adm',
        [`--varnish=${varnish.dir}`, '--readonly', ...words],
        input === undefined ? {} : { input },
      );
    for (const line of ['ban obj.status != 0', 'ping\nban obj.status != 0', 'vcl.symtab', '"'])
      expect(await readonly(['--', line])).toMatchObject({ code: 1, stdout: expect.stringMatching(REFUSED) });
    expect((await readonly([], 'ban obj.status != 0\n')).code).toBe(1);
    expect((await varnish.adm('ban.list')).stdout).toBe(bans);
    expect((await readonly(['ban.list'])).stdout).toContain('Present bans:');
  });
});
