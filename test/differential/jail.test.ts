// -j of both daemons: rejected values and their messages, and a worker's privileges after root started it.
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { installed, Sandbox } from '../harness/processes.ts';
import { backendProgram, type Product, startProxy, tool } from '../harness/proxy.ts';

const root = process.getuid?.() === 0;
const there = installed('varnishd') && root;
if (!there) console.warn('differential tests skipped: varnishd is not installed, or this is not root');

const box = new Sandbox('proxyd-jail');
afterAll(() => box.dispose());

/** The first line that a daemon says of a -j that it refuses; '' when it takes it. */
async function refusal(product: Product, jail: string): Promise<string> {
  const args = ['-j', jail, '-d', '-n', box.path('n'), '-a', '127.0.0.1:0', '-b', 'none'];
  const done = await tool(product, 'daemon', args, { input: '' });
  return done.code === 0 ? '' : (done.stderr.split('\n').find((line) => line.startsWith('Error')) ?? '?');
}

describe.skipIf(!there)('-j', () => {
  it.each([
    'none',
    'none,user=nobody',
    'unix,user=nosuch',
    'unix,user=',
    'unix,workuser=nosuch',
    'unix,ccgroup=nosuch',
    'unix,foo=1',
    'unix,user=vcache,workuser=nobody',
    'unix,user=nobody,workuser=nobody',
    // Not linux, which Varnish has since 7.6.
    'solaris',
    'cow,user=nobody',
    '',
  ])('%j is taken or refused alike', async (jail) => {
    expect(await refusal('proxyd', jail)).toBe(await refusal('varnish', jail));
  });

  it('root is no user for a worker, in neither', async () => {
    expect(await refusal('varnish', 'unix,user=root')).toContain(
      'user root and vcache have different login groups',
    );
    expect(await refusal('proxyd', 'unix,user=root')).toContain('user root is root, which is no jail');
  });

  it.each(['unix,user=varnish,workuser=vcache', 'none'])('a worker of %s has the same left', async (jail) => {
    const left = async (product: Product): Promise<string[]> => {
      const proxy = await startProxy(box, { product, program: backendProgram(1), args: ['-j', jail] });
      const status = readFileSync(`/proc/${proxy.workerPid()}/status`, 'latin1');
      await proxy.stop();
      return status.split('\n').filter((line) => /^(Uid|Gid|Groups|Cap(Inh|Prm|Eff|Amb)):/.test(line));
    };
    const ours = await left('proxyd');
    expect(ours).toHaveLength(7);
    expect(ours).toEqual(await left('varnish'));
  });
});
