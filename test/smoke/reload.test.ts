// Programs at run time: load, use, discard, labels, and what is refused; a transaction keeps the program it began with.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-smoke-reload');
let origin: Origin;
let proxy: RunningProxy;

const says = (word: string): string =>
  backendProgram(origin.port, `sub vcl_deliver { set resp.http.says = "${word}"; }`);
const load = (name: string, text: string) => proxy.adm(`vcl.inline ${name} << EOT\n${text}\nEOT`);
const output = async (path = '/'): Promise<string | undefined> => field(await proxy.get(path), 'says');
const list = async (): Promise<string[]> =>
  (await proxy.adm('vcl.list')).stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/\s+/g, ' '));

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'stored'));
  proxy = await startProxy(box, { program: says('boot') });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

describe('a program', () => {
  it('is used once it is chosen, over the same store', async () => {
    expect(await output()).toBe('boot');
    expect(await load('second', says('second'))).toMatchObject({ code: 0, stdout: '\n' });
    expect(await output()).toBe('boot');
    expect((await proxy.adm('vcl.use', 'second')).code).toBe(0);
    expect(await output()).toBe('second');
    expect(origin.seen('/')).toHaveLength(1);
    await expect.poll(list).toEqual(['available auto warm 0 boot', 'active auto warm 0 second']);
  });

  it('stays with a transaction until its end, also when it is discarded', async () => {
    let open = (): void => {};
    const hold = new Promise<void>((resolve) => {
      open = resolve;
    });
    origin.on('/slow', [{ hold }, ...respond('200 OK', {}, 'late')]);
    const slow = proxy.get('/slow');
    await until('the fetch', () => origin.seen('/slow').length === 1);
    expect((await proxy.adm('vcl.use', 'boot')).code).toBe(0);
    expect((await proxy.adm('vcl.discard', 'second')).code).toBe(0);
    expect((await list())[1]).toMatch(/^discarded cold busy \d second$/);
    const refused = await proxy.adm('vcl.use', 'second');
    expect([refused.code, refused.stdout]).toEqual([1, 'No VCL named second known\n\n']);
    expect(await output()).toBe('boot');
    open();
    expect(field(await slow, 'says')).toBe('second');
    await until('its end', async () => (await list()).length === 1);
  });

  it('that does not compile is refused with the place of the mistake, and changes nothing', async () => {
    const refused = await load('wrong', 'vcl 4.1;\nsub vcl_recv { retrun (pass); }');
    expect([refused.code, refused.stderr]).toEqual([1, 'Command failed with error code 106\n']);
    expect(refused.stdout).toContain(
      "Symbol not found: 'retrun'\n('<vcl.inline>' Line 2 Pos 16) -- (Pos 21)\n",
    );
    expect(refused.stdout).toContain("Hint: Did you mean 'return'?");
    expect(await list()).toEqual(['active auto warm 0 boot']);
    expect(await output()).toBe('boot');
  });

  it('that is in use is not discarded, and one with a label answers by that name', async () => {
    expect((await proxy.adm('vcl.discard', 'boot')).stdout).toBe(
      'Cannot discard active VCL program boot\n\n',
    );
    await load('inner', says('inner'));
    expect((await proxy.adm('vcl.label', 'site', 'inner')).code).toBe(0);
    const outer = `${says('outer')}sub vcl_recv { if (req.url == "/in") { return (vcl(site)); } }`;
    expect(await load('outer', outer)).toMatchObject({ code: 0 });
    await proxy.adm('vcl.use', 'outer');
    expect([await output('/in'), await output('/out')]).toEqual(['inner', 'outer']);
  });
});
