// Unix sockets and PROXY listeners of the whole daemon: files and their modes, leftovers, client addresses, and
// backends reached by a path.
import { chmodSync, existsSync, lstatSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection } from '../harness/http-client.ts';
import { installed, Sandbox, until } from '../harness/processes.ts';
import { type ProxyOptions, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { exchange } from '../harness/raw-exchange.ts';

const box = new Sandbox('proxyd-sockets');
const running: RunningProxy[] = [];
const root = process.getuid?.() === 0;
afterAll(() => box.dispose());
afterEach(async () => {
  for (const proxy of running.splice(0)) if (proxy.daemon.running) await proxy.stop();
});

const ECHO = `vcl 4.1;
import std;
backend default none;
sub vcl_recv { return (synth(200)); }
sub vcl_synth {
  set resp.http.who = "" + client.ip + " " + remote.ip + " " + local.ip + " " + std.port(remote.ip);
  set resp.http.where = local.socket + " " + local.endpoint;
  return (deliver);
}`;

const GET = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

async function start(options: ProxyOptions): Promise<RunningProxy> {
  const proxy = await startProxy(box, options);
  running.push(proxy);
  return proxy;
}

function header(response: string, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)\\r$`, 'm').exec(response)?.[1];
}

describe('a Unix socket listener', () => {
  const [named, owned, preambled] = ['named', 'owned', 'proxy'].map((name) => `${box.path(name)}.sock`) as [
    string,
    string,
    string,
  ];
  let proxy: RunningProxy;
  beforeAll(async () => {
    const owners = root ? `${owned},user=daemon,group=daemon,mode=660` : owned;
    const args = ['-a', `inside=${named}`, '-a', owners, '-a', `p=${preambled},PROXY`];
    proxy = await startProxy(box, { program: ECHO, args });
  });
  afterAll(() => proxy.stop());

  it('has the addresses that Varnish shows, and its name and path', async () => {
    const path = named;
    const response = await exchange({ path }, GET);
    expect(header(response, 'who')).toBe('0.0.0.0 0.0.0.0 0.0.0.0 0');
    expect(header(response, 'where')).toBe(`inside ${path}`);
    expect((await proxy.adm('listen.list')).stdout).toContain(`inside ${path} -\n`);
    const log = await proxy.logged(/ReqStart/, '-g', 'raw');
    expect(log).toMatch(/SessOpen +c 0\.0\.0\.0 0 inside 0\.0\.0\.0 0 /);
    expect(log).toMatch(/ReqStart +c 0\.0\.0\.0 0 inside\n/);
  });

  it.skipIf(!root)('gets the user, group and mode it is given', async () => {
    const stat = statSync(owned);
    expect(stat.mode & 0o777).toBe(0o660);
    expect([stat.uid, stat.gid].every((id) => id > 0)).toBe(true);
  });

  it('leaves its file, and replaces an existing one', async () => {
    const path = `${box.path('left')}.sock`;
    const first = await start({ program: ECHO, args: ['-a', path] });
    await first.stop();
    expect(lstatSync(path).isSocket()).toBe(true);
    await expect(exchange({ path }, GET)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await start({ program: ECHO, args: ['-a', path] });
    expect(header(await exchange({ path }, GET), 'where')).toBe(`a1 ${path}`);
  });

  it('serves again after stop and start', async () => {
    expect((await proxy.adm('stop')).code).toBe(0);
    expect((await proxy.adm('start')).code).toBe(0);
    expect(header(await exchange({ path: named }, GET), 'who')).toBeDefined();
  });

  it('does not overwrite a file that is no socket', async () => {
    const path = `${box.path('file')}.txt`;
    writeFileSync(path, 'precious');
    const refused = await startProxy(box, { program: ECHO, args: ['-a', path] }).catch(
      (e: Error) => e.message,
    );
    expect(refused).toMatch(/Could not get socket .*Address already in use/);
    expect(statSync(path).size).toBe(8);
  });

  it('takes a PROXY preamble', async () => {
    const path = preambled;
    const response = await exchange({ path }, `PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n${GET}`);
    expect(header(response, 'who')).toBe('1.2.3.4 0.0.0.0 0.0.0.0 0');
    expect(await exchange({ path }, GET)).toBe('');
    await until('both are counted', async () => (await proxy.counters())['MAIN.sess_closed_err'] === 1);
    // The first request after a preamble.
    expect((await proxy.counters())['MAIN.sess_readahead']).toBe(0);
  });

  it.skipIf(!installed('perl'))('reports who is connected, to a program that asks', async () => {
    const path = `${box.path('peer')}.sock`;
    const program = `vcl 4.1; import unix; backend default none;
      sub vcl_recv { return (synth(200, "uid " + unix.uid() + " gid " + unix.gid())); }`;
    await start({ program, args: ['-a', path] });
    const all = await Promise.all(Array.from({ length: 6 }, () => exchange({ path }, GET)));
    for (const response of all) {
      expect(response).toContain(`HTTP/1.1 200 uid ${process.getuid?.()} gid ${process.getgid?.()}\r\n`);
    }
  });
});

/** The kernel's timer of a connection: of keep-alive the seconds until it acts, or null; others are waited for. */
function keepAlive(server: number, client: number): number | null | 'another' {
  const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');
  const ends = new RegExp(`:${hex(server)} \\w+:${hex(client)} 01 \\S+ (\\w\\w):(\\w+) `);
  const [, timer, ticks = ''] = ends.exec(readFileSync('/proc/net/tcp', 'latin1')) ?? [];
  if (timer === undefined) throw new Error(`no connection ${client} to ${server}`);
  if (timer === '02') return Number.parseInt(ticks, 16) / 100;
  return timer === '00' ? null : 'another';
}

it('tcp_keepalive_time counts for connections made after it was set', async () => {
  const proxy = await start({ program: ECHO, params: { tcp_keepalive_time: '77' } });
  const connected = async (): Promise<number | null> => {
    const connection = await ClientConnection.open(proxy.port);
    connection.send(GET.replace('Connection: close\r\n', ''));
    // The timer of sent data expires before that of the keep-alive, until it is acknowledged.
    await connection.response();
    const { localPort } = connection;
    await until('nothing on its way', () => keepAlive(proxy.port, localPort) !== 'another');
    const left = keepAlive(proxy.port, localPort);
    connection.close();
    return left === 'another' ? null : left;
  };
  const left = await connected();
  expect(left).toBeGreaterThan(40);
  expect(left).toBeLessThanOrEqual(78);
  expect((await proxy.adm('param.set', 'tcp_keepalive_time', '7200')).code).toBe(0);
  expect(await connected()).toBeNull();
});

describe('a PROXY listener', () => {
  it('gives up on a preamble that does not come', async () => {
    const path = `${box.path('slow')}.sock`;
    const proxy = await start({
      program: ECHO,
      args: ['-a', `p=${path},PROXY`],
      params: { timeout_idle: '1' },
    });
    expect(await exchange({ path }, 'PROXY TCP4 ')).toBe('');
    await proxy.logged(/SessClose +c RX_TIMEOUT /, '-g', 'raw');
    expect(await proxy.counterReaches('MAIN.sc_rx_timeout', 1)).toBe(1);
  });
});

describe('a backend with a path', () => {
  let origin: Server | null = null;
  afterEach(() => origin?.close());

  it('is fetched from, kept open, and named in the log', async () => {
    const path = `${box.path('origin')}.sock`;
    let connections = 0;
    const heads: string[] = [];
    origin = createServer((socket) => {
      connections++;
      socket.on('error', () => undefined);
      socket.on('data', (head) => {
        heads.push(head.toString('latin1'));
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: no-store\r\n\r\nok');
      });
    });
    await new Promise<void>((resolve) => origin?.listen(path, resolve));
    // For the worker's user.
    chmodSync(path, 0o777);
    // Each thread keeps connections of its own.
    const params = { worker_threads: '1' };
    const proxy = await start({ program: `vcl 4.1; backend b { .path = "${path}"; }`, params });
    for (let i = 0; i < 2; i++) {
      expect(await exchange({ port: proxy.port }, GET)).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nok$/);
    }
    expect([connections, heads.length]).toEqual([1, 2]);
    expect(heads[0]).toContain('\r\nHost: a\r\n');
    const log = await until('both in the log', async () => {
      const text = await proxy.log('-g', 'raw', '-i', 'BackendOpen');
      return text.split('BackendOpen').length > 2 ? text : null;
    });
    expect(log).toMatch(/ b 0\.0\.0\.0 0 0\.0\.0\.0 0 connect\n.* b 0\.0\.0\.0 0 0\.0\.0\.0 0 reuse\n/);
  });

  it('is a 503 when nobody listens there', async () => {
    const path = `${box.path('nobody')}.sock`;
    if (existsSync(path)) rmSync(path);
    const proxy = await start({ program: `vcl 4.1; backend b { .path = "${path}"; }` });
    expect(await exchange({ port: proxy.port }, GET)).toMatch(/^HTTP\/1\.1 503 /);
    await proxy.logged('backend b: fail errno 2 (No such file or directory)', '-g', 'raw');
  });
});
