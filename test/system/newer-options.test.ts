// Options of later releases of Varnish: ranges of ports, abstract sockets, extensions that have to be there, the
// environment's name of the working directory.
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchOnce } from '../harness/http-client.ts';
import { freePort } from '../harness/origin.ts';
import { run, Sandbox } from '../harness/processes.ts';
import { command, ROOT, type RunningProxy, startProxy, tool } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-newer-options');
const NAME = `@proxyd-listens-${process.pid}`;
const program = `vcl 4.1;
backend default none;
sub vcl_recv { return (synth(200)); }
sub vcl_synth { set resp.http.Socket = local.socket + " " + local.endpoint; return (deliver); }`;
let proxy: RunningProxy;
let first: number;

beforeAll(async () => {
  // The ports after a free one may be taken by somebody else meanwhile.
  for (let tries = 0; ; tries++) {
    first = await freePort();
    try {
      const args = ['-a', `range=127.0.0.1:${first}-${first + 2}`, '-a', `abstract=${NAME}`, '-E', 'std'];
      proxy = await startProxy(box, { program, args });
      return;
    } catch (error) {
      if (tries >= 5) throw error;
    }
  }
});
afterAll(async () => {
  await proxy.stop();
  await box.dispose();
});

const socketOf = async (port: number): Promise<string | undefined> =>
  (await fetchOnce(port, '/')).head.match(/^Socket: (.*?)\r?$/im)?.[1];

describe('the daemon', () => {
  it('serves on each port of a range, which have one name', async () => {
    for (const port of [first, first + 1, first + 2])
      expect(await socketOf(port)).toBe(`range 127.0.0.1:${first}-${first + 2}`);
  });

  it('serves on an abstract socket, and lists it', async () => {
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(`\0${NAME.slice(1)}`);
      let output = '';
      socket.on('data', (bytes) => {
        output += bytes;
      });
      socket.on('end', () => resolve(output));
      socket.on('error', reject);
      socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    });
    expect(text).toMatch(new RegExp(`^HTTP/1.1 200 OK\r\n[^]*Socket: abstract ${NAME}\r\n`));
    expect((await proxy.adm('listen.list')).stdout).toContain(`abstract ${NAME} -`);
  });

  it('does not start without an extension of -E', async () => {
    const start = (name: string) =>
      tool('proxyd', 'daemon', [
        '-F',
        '-n',
        box.path('without'),
        '-a',
        '127.0.0.1:0',
        '-b',
        'none',
        '-E',
        name,
      ]);
    const end = await start('nosuch');
    expect(end.code).not.toBe(0);
    expect(end.stderr).toContain('-E nosuch: cannot be loaded');
    expect((await start('./no-such-file.mjs')).code).not.toBe(0);
  });

  it.each(['VARNISH_DEFAULT_N', 'PROXYD_DEFAULT_N'])(
    'and its tools take the directory of %s',
    async (name) => {
      const env = { ...process.env, [name]: proxy.dir };
      const end = await tool('proxyd', 'adm', ['status'], { env });
      expect(end.stdout).toBe('Child in state running\n');
      const log = await run(
        process.execPath,
        [join(ROOT, 'dist/console/bin/proxylog.js'), '-d', '-g', 'raw'],
        { env },
      );
      expect(log.stdout).toContain('CLI');
      const [path, lead] = command('proxyd', 'adm');
      expect((await run(path, [...lead, '-x', 'workdir'], { env })).stdout).toBe(`${proxy.dir}\n`);
    },
  );
});
