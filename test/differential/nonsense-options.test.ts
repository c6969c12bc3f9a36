// Invalid values of each option of the daemon, compared with Varnish's: both exit with the same status before serving
// anything, and unless the texts are listed as different, with the same text.
import { existsSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { findProgram, run, Sandbox } from '../harness/processes.ts';
import { command, type Product } from '../harness/proxy.ts';

const found = findProgram('varnishd') !== null;
if (!found) console.warn('nonsense options: not compared, no varnishd');

const box = new Sandbox('proxyd-nonsense');
afterAll(() => box.dispose());

interface End {
  code: number | null;
  /** The message, without the name of the product. */
  output: string;
}

/** Starts a daemon that ends with its standard input, unless it has ended with a mistake before. */
async function start(product: Product, args: readonly string[]): Promise<End> {
  const [program, lead] = command(product, 'daemon');
  const has = (flag: string): boolean => args.includes(flag);
  const rest = [
    ...(has('-a') ? [] : ['-a', '127.0.0.1:0']),
    ...(has('-b') || has('-f') ? [] : ['-b', 'none']),
    ...(has('-n') ? [] : ['-n', box.path('dir')]),
    ...(has('-j') || product === 'proxyd' ? [] : ['-j', 'none']),
  ];
  const end = await run(program, [...lead, '-d', ...rest, ...args], { input: '' });
  const output = /^Error:\s+(.*)$/m.exec(end.stderr + end.stdout)?.[1] ?? '';
  return {
    code: end.code,
    output: output.replaceAll(/\(-? gives usage\)|\(or give another one with -n\)/g, ''),
  };
}

const file = box.path('file');
writeFileSync(file, 'vcl 4.1;\nbackend default none;\n', { mode: 0o644 });

describe.skipIf(!found)('is refused alike', () => {
  it.each([
    ['-a', 'nope'],
    ['-a', ':-1'],
    ['-a', '127.0.0.1:nosuchservice'],
    ['-a', '127.0.0.1:0,'],
    ['-a', '127.0.0.1:0,nope'],
    ['-a', '127.0.0.1:0,PROXY,HTTP'],
    ['-a', '127.0.0.1:0,user=root'],
    ['-a', '1a=127.0.0.1:0'],
    ['-a', '/nonexistent/dir/sock'],
    ['-a', 'relative/sock'],
    ['-a', './sock'],
    // Not @: newer releases know abstract sockets, and say more.
    ['-f', '/nonexistent.vcl'],
    ['-h', ''],
    ['-h', ','],
    ['-h', 'nope'],
    ['-h', 'critbit,'],
    ['-h', 'critbit,5'],
    ['-h', 'classic,1,2'],
    ['-j', ''],
    ['-j', 'nope'],
    ['-j', 'none,'],
    ['-j', 'unix,'],
    ['-j', 'unix,user=nosuchuser'],
    ['-l', ''],
    ['-l', '10x'],
    ['-l', '10m,'],
    ['-l', '10m,on'],
    ['-l', '10m,1m'],
    ['-l', '10m,1m,on'],
    ['-M', 'nosuch.invalid:1'],
    ['-p', ''],
    ['-p', 'default_ttl'],
    ['-p', 'default_ttl=x'],
    ['-p', 'nosuch=1'],
    ['-S', '/nonexistent'],
    ['-S', ''],
    ['-s', ''],
    ['-s', 'nope'],
    ['-s', 'a='],
    ['-s', '1a=malloc'],
    ['-s', 'malloc,x'],
    ['-s', 'malloc,1k'],
    ['-s', 'malloc,-1'],
    ['-s', 'malloc,,'],
    ['-T', 'nosuch.invalid:1'],
    ['-t', ''],
    ['-t', 'x'],
    ['-t', '-1'],
    ['-W', ''],
    ['-W', 'nope'],
    ['-W', 'epoll,'],
    ['-W', 'kqueue'],
  ])('%s %j', async (...args) => {
    const own = await start('proxyd', args);
    expect(own).toEqual(await start('varnish', args));
    expect(own.code).toBe(2);
  });

  // The texts differ: ours have more detail, or name the given value.
  it.each([
    ['-b', ''],
    ['-b', '127.0.0.1:x'],
    ['-b', 'nope:99999'],
    ['-I', '/nonexistent'],
    ['-M', ''],
    ['-M', '127.0.0.1:x'],
    ['-n', file],
    ['-n', '/nonexistent/a/b'],
    ['-P', '/nonexistent/x'],
    ['-P', ''],
    ['-r', ','],
    ['-r', 'default_ttl,'],
    ['-r', 'nosuch'],
    ['-s', 'a=malloc', '-s', 'a=malloc'],
    ['-s', 'file'],
    ['-T', ''],
    ['-x', 'nope'],
  ])('%s %j %s, in other words', async (...given) => {
    const args = given.filter((word) => word !== undefined);
    const own = await start('proxyd', args);
    expect(own.output).not.toBe('');
    expect([own.code, (await start('varnish', args)).code]).toEqual([2, 2]);
    expect(existsSync('/nonexistent')).toBe(false);
  });
});
