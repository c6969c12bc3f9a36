// TLS listeners: handshakes that are malformed, slow or half, names and clients that are refused, certificates that are
// exchanged under load, and keys that appear nowhere.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect as connectNet, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Issued, issue } from '../harness/certificates.ts';
import { framings, heads, strayBytes } from '../harness/hostile-requests.ts';
import { Origin, respond } from '../harness/origin.ts';
import { delay, installed, run, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, ROOT, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { clientHello, refusal, tlsConnect, tlsRequest } from '../harness/tls-client.ts';
import { pemFile, ports, startTlsProxy } from '../harness/tls-proxy.ts';

const box = new Sandbox('proxyd-tls-front');
const FRESH = { 'Cache-Control': 'max-age=1000' };
let origin: Origin;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', FRESH, 'fine\n'));
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

/** Reads a page with the chain and the name verified, twice on one connection. */
const PYTHON = `
import http.client, ssl, sys, socket
context = ssl.create_default_context(cafile=sys.argv[1])
sock = context.wrap_socket(socket.create_connection(('127.0.0.1', int(sys.argv[2]))), server_hostname='a.example')
connection = http.client.HTTPConnection('a.example')
connection.sock = sock
for _ in range(2):
    connection.request('GET', '/')
    print(connection.getresponse().read().decode(), sock.version())
`;

/** The answer of a connection to these bytes until it ends. */
function answerTo(port: number, bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = connectNet(port, '127.0.0.1');
    const got: Buffer[] = [];
    socket.on('data', (each) => got.push(each));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(Buffer.concat(got)));
    socket.write(bytes);
  });
}

describe('handshakes', () => {
  let proxy: RunningProxy;
  let port: number;
  beforeAll(async () => {
    ({ proxy, port } = await startTlsProxy(box, {
      program: backendProgram(origin.port),
      params: { tls_handshake_timeout: '2' },
    }));
  });
  afterAll(() => proxy.stop());

  it('may come byte by byte, in both directions', async () => {
    const relay = createServer((client) => {
      const server = connectNet(port, '127.0.0.1');
      const slowly = (from: Socket, to: Socket): void => {
        let all = Promise.resolve();
        from.on('data', (bytes) => {
          all = all.then(async () => {
            for (const byte of bytes) {
              to.write(Buffer.from([byte]));
              await new Promise(setImmediate);
            }
          });
        });
        from.on('end', () => void all.then(() => to.end()));
        from.on('error', () => to.destroy());
      };
      client.setNoDelay(true);
      server.setNoDelay(true);
      slowly(client, server);
      slowly(server, client);
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    const at = (relay.address() as AddressInfo).port;
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
      expect((await tlsRequest(at, { maxVersion })).body.toString()).toBe('fine\n');
    relay.close();
  });

  it('end with an alert where they make no sense', async () => {
    const hello = await clientHello();
    const long = Buffer.alloc(65545);
    long.set([22, 3, 1, 0x40, 0, 1, 1, 0, 0]);
    const cases: [string, Buffer, number][] = [
      ['an empty record', Buffer.from([22, 3, 1, 0, 0]), 50],
      ['64 KiB', long, 22],
      ['no TLS', Buffer.from([0x80, 0x2e, 1, 0, 2]), 10],
      ['a record of data', Buffer.concat([hello.subarray(0, 100), Buffer.from([23, 3, 3, 0, 1, 0])]), 50],
    ];
    for (const [what, bytes, alert] of cases.slice(0, 3))
      expect([what, (await answerTo(port, bytes)).at(-1)]).toEqual([what, alert]);
    for (const text of ['malformed', 'too long', 'no TLS'])
      await proxy.logged(text, '-g', 'raw', '-i', 'TLS');
  });

  it('that are half done by the thousand hold up nobody, and end after their time', async () => {
    const hello = await clientHello();
    const half: Socket[] = [];
    let closed = 0;
    for (let i = 0; i < 1500; i++) {
      const socket = connectNet(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.on('close', () => closed++);
      // Some of the first message, all of it, or nothing.
      socket.write(hello.subarray(0, i % 3 === 0 ? hello.length : i % 3 === 1 ? 50 + (i % 100) : 0));
      socket.resume();
      half.push(socket);
    }
    // On a slow machine the first have had their time before the last have come.
    await until('they have come', async () => {
      const { 'TLS.pending': pending = 0, 'TLS.failed_timeout': over = 0 } = await proxy.counters();
      return pending + over >= 1400;
    });
    expect((await tlsRequest(port)).body.toString()).toBe('fine\n');
    await until('all are closed', () => closed === half.length);
    const counters = await proxy.counters();
    expect(counters['TLS.pending']).toBe(0);
    expect(counters['TLS.failed_timeout']).toBe(1500);
    await proxy.logged('failed - not completed within tls_handshake_timeout', '-g', 'raw');
  });

  it('are not begun anew on a connection, and take no early data', async () => {
    const socket = await tlsConnect(port, { maxVersion: 'TLSv1.2' });
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => {
      socket.on('error', resolve);
      socket.renegotiate({}, () => undefined);
    });
    expect(error.code).toMatch(/RENEGOTIATION|RESET/);
    const session = box.path('session');
    const early = box.path('early');
    writeFileSync(early, 'GET /early HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const client = (...args: string[]) =>
      run('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, ...args], {
        input: 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
      });
    await client('-sess_out', session, '-ign_eof');
    const second = await client('-sess_in', session, '-early_data', early, '-ign_eof');
    expect(second.stdout).toMatch(/Reused, TLSv1\.3/);
    expect(second.stdout).not.toMatch(/Early data was accepted/);
    expect(origin.seen('/early')).toHaveLength(0);
  });

  it('use no group that costs as much as a thousand handshakes', async () => {
    const { failed_protocol: before = 0 } = await failures();
    const by = (group: string) =>
      run('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, '-groups', group]);
    for (const group of ['ffdhe2048', 'ffdhe8192'])
      expect((await by(group)).stderr).toMatch(/alert handshake failure/);
    for (const group of ['X25519', 'P-256', 'P-384', 'ffdhe8192:P-256'])
      expect((await by(group)).stdout).toMatch(/New, TLSv1\.3/);
    await until('they are counted', async () => ((await failures()).failed_protocol ?? 0) >= before + 2);
  });

  it('broken later end the connection and nothing else', async () => {
    const raw = connectNet(port, '127.0.0.1');
    const socket = connect({ socket: raw, rejectUnauthorized: false, servername: 'a.example' });
    await new Promise((resolve) => socket.once('secureConnect', resolve));
    const gone = new Promise((resolve) => raw.once('close', resolve));
    socket.on('error', () => undefined);
    raw.write('these are no records\n');
    await gone;
    await proxy.logged('broken: ', '-g', 'raw', '-i', 'TLS');
    expect((await tlsRequest(port)).body.toString()).toBe('fine\n');
  });

  it('of clients that refuse are counted by reason', async () => {
    const { failed_alert: before = 0, failed_protocol: old = 0 } = await failures();
    // Up to TLS 1.2 the client judges before the handshake is over.
    expect(await refusal(port, { rejectUnauthorized: true, maxVersion: 'TLSv1.2' })).toMatch(
      /SELF_SIGNED|UNABLE/,
    );
    const openssl = await run('openssl', [
      's_client',
      '-connect',
      `127.0.0.1:${port}`,
      '-verify_return_error',
      '-tls1_2',
    ]);
    expect(openssl.code).not.toBe(0);
    await until('the alert', async () => ((await failures()).failed_alert ?? 0) > before);
    await refusal(port, { maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA' });
    await until('no cipher in common', async () => ((await failures()).failed_protocol ?? 0) > old);
    await proxy.logged(/does not (know the authority|accept the certificate)/, '-g', 'raw', '-i', 'TLS');
  });

  async function failures(): Promise<Record<string, number>> {
    const counters = Object.entries(await proxy.counters());
    return Object.fromEntries(
      counters.filter(([name]) => name.startsWith('TLS.')).map(([name, value]) => [name.slice(4), value]),
    );
  }

  it('carry hostile requests to no origin', async () => {
    let n = 0;
    const cases = [...framings(), ...strayBytes(), ...heads()];
    const wrong: string[] = [];
    const judge = async ([name, text]: readonly [string, string]): Promise<void> => {
      const url = `/t${++n}`;
      const socket = await tlsConnect(port);
      let output = '';
      socket.on('data', (bytes: Buffer) => {
        output += bytes.toString('latin1');
      });
      const gone = new Promise<void>((resolve) => {
        socket.on('error', () => resolve());
        socket.on('close', () => resolve());
      });
      socket.write(
        Buffer.from(
          `GET /warm HTTP/1.1\r\nHost: a\r\n\r\n${text.replace('§', url)}GET /smuggled${url} HTTP/1.1\r\nHost: a\r\n\r\n`,
          'latin1',
        ),
      );
      // They end with the connection, and not when something else was first.
      const answered = (count: number): Promise<unknown> =>
        until(
          `${count} answers`,
          () => socket.destroyed || (output.match(/HTTP\/1\.1 \d/g) ?? []).length >= count,
        ).catch(() => undefined);
      // A slow machine has as long as it needs for the request that is right.
      await Promise.race([gone, answered(1)]);
      await Promise.race([gone, answered(2), delay(1000)]);
      await Promise.race([gone, delay(20)]);
      socket.destroy();
      if (!output.startsWith('HTTP/1.1 200')) wrong.push(`${name}: the request before it was not answered`);
      if (origin.seen(url).length + origin.seen(`/smuggled${url}`).length > 0)
        wrong.push(`${name}: reached the origin`);
    };
    for (let i = 0; i < cases.length; i += 40) await Promise.all(cases.slice(i, i + 40).map(judge));
    expect(wrong).toEqual([]);
  }, 240_000);
});

describe('clients', () => {
  let proxy: RunningProxy;
  let caFile: string;
  let port: string;
  beforeAll(async () => {
    const ca = issue({ subject: 'root', isAuthority: true });
    caFile = box.path('root');
    writeFileSync(caFile, ca.cert);
    proxy = await startProxy(box, {
      program: backendProgram(origin.port),
      args: ['-a', 'tls=127.0.0.1:0,HTTPS', '--cert', pemFile(box, issue({ names: ['a.example'] }, ca))],
    });
    port = String((await ports(proxy)).tls);
  });
  afterAll(() => proxy.stop());

  it.each([
    [
      'curl',
      [
        'curl',
        '-sS',
        '--cacert',
        '@ca',
        '--resolve',
        'a.example:@port:127.0.0.1',
        'https://a.example:@port/',
      ],
    ],
    [
      'curl with 1.2',
      [
        'curl',
        '-sS',
        '--tls-max',
        '1.2',
        '--cacert',
        '@ca',
        '--resolve',
        'a.example:@port:127.0.0.1',
        'https://a.example:@port/',
      ],
    ],
    ['python', ['python3', '-c', PYTHON, '@ca', '@port']],
    [
      'openssl',
      [
        'openssl',
        's_client',
        '-quiet',
        '-verify_return_error',
        '-CAfile',
        '@ca',
        '-servername',
        'a.example',
        '-connect',
        '127.0.0.1:@port',
      ],
    ],
  ] as const)('%s verifies the chain and reads the answer', async (_name, words) => {
    if (!installed(words[0])) return console.warn(`${words[0]} is not installed: not played`);
    const [program = '', ...args] = words.map((word) => word.replace('@ca', caFile).replace('@port', port));
    const done = await run(program, args, {
      input: 'GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n',
    });
    expect(done.stdout, done.stderr).toContain('fine');
  });
});

describe('who is let in', () => {
  let proxy: RunningProxy;
  let at: Record<string, number>;
  let ca: Issued;

  beforeAll(async () => {
    ca = issue({ subject: 'clients', isAuthority: true });
    const caFile = box.path('ca');
    writeFileSync(caFile, ca.cert);
    const pem = pemFile(box, issue({ names: ['a.example'] }));
    const file = box.path('conf');
    writeFileSync(
      file,
      `${[
        'strict|sni-nomatch-abort = on',
        'opt|client-verify = optional',
        'req|client-verify = required',
        'empty|match-global-certs = off',
      ]
        .map((each) => {
          const [name, line] = each.split('|');
          const verify = line?.startsWith('client-verify') ? `client-verify-ca = "${caFile}"\n` : '';
          return `frontend = {\n name = "${name}"\n host = "127.0.0.1"\n port = "0"\n ${line}\n ${verify}}\n`;
        })
        .join('')}pem-file = "${pem}"\n`,
    );
    proxy = await startProxy(box, {
      program: backendProgram(
        origin.port,
        `import tls;
sub vcl_recv { return (synth(200)); }
sub vcl_synth {
  set resp.http.verified = tls.client_cert_verified();
  set resp.http.subject = tls.client_cert_subject();
  set resp.http.fingerprint = tls.client_cert_fingerprint();
}`,
      ),
      args: ['-A', file],
    });
    at = await ports(proxy);
  });
  afterAll(() => proxy.stop());

  it('by name: an unknown one is refused if the listener is configured so', async () => {
    expect((await tlsRequest(at.strict as number, { servername: 'a.example' })).status).toBe(200);
    expect((await tlsRequest(at.strict as number, { servername: '' })).status).toBe(200);
    expect(await refusal(at.strict as number, { servername: 'b.example' })).toMatch(/UNRECOGNIZED_NAME/);
    await proxy.logged('failed b.example no certificate for b.example', '-g', 'raw');
  });

  it('nobody without a certificate, which the log and the daemon’s messages say', async () => {
    expect(await refusal(at.empty as number)).toMatch(/HANDSHAKE_FAILURE/);
    expect(await refusal(at.empty as number)).toMatch(/HANDSHAKE_FAILURE/);
    await proxy.logged('the listener has no certificate', '-g', 'raw');
    await until('the warning', () => proxy.daemon.stderr.includes('Listener empty has no TLS certificate'));
    // Once a minute, which may have ended meanwhile.
    expect(proxy.daemon.stderr.split('Listener empty has no TLS certificate').length).toBeLessThan(4);
    expect((await proxy.adm('event.list')).stdout).toContain('Listener empty has no TLS certificate');
  });

  it('clients by their certificates, which the program knows', async () => {
    const alice = issue({ subject: 'alice' }, ca);
    const stranger = issue({ subject: 'mallory' });
    const expired = issue({ subject: 'old', days: [-9, -2] }, ca);
    const show = { cert: alice.cert, key: alice.key };
    for (const port of [at.opt as number, at.req as number]) {
      const first = await tlsRequest(port, show);
      expect(first.fields).toMatchObject({
        verified: 'true',
        subject: 'CN=alice',
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      });
      const again = await tlsRequest(port, { ...show, ...(first.session && { session: first.session }) });
      expect([again.resumed, again.fields.verified, again.fields.subject]).toEqual([
        true,
        'true',
        'CN=alice',
      ]);
    }
    expect((await tlsRequest(at.opt as number)).fields).toMatchObject({ verified: 'false' });
    for (const { cert, key } of [stranger, expired]) {
      expect((await tlsRequest(at.opt as number, { cert, key })).fields.verified).toBe('false');
      const refused = await tlsRequest(at.req as number, { cert, key });
      expect([refused.status, refused.body.toString()]).toEqual([
        400,
        'A valid client certificate is required.\n',
      ]);
    }
    expect(await refusal(at.req as number)).toMatch(/CERTIFICATE_REQUIRED|ALERT/);
    expect((await proxy.counters())['TLS.failed_client_cert']).toBe(3);
    // A session of one listener proves nothing to another one.
    const optional = await tlsRequest(at.opt as number);
    const moved = await refusal(at.req as number, { ...(optional.session && { session: optional.session }) });
    expect(moved).not.toBe('');
  });
});

describe('certificates', () => {
  it('are exchanged 200 times under load, and reloads are refused, without a failed handshake or request', async () => {
    const other = [{ names: ['other.example'] }];
    const { proxy, port } = await startTlsProxy(box, { program: backendProgram(origin.port) }, other);
    const file = pemFile(box, issue({ subject: 'v0', names: ['a.example'] }));
    expect((await proxy.adm('tls.cert.load', 'live', file, '-d')).stderr).toBe('');
    expect((await proxy.adm('tls.cert.commit')).code).toBe(0);
    let over = false;
    let requests = 0;
    const wrong: string[] = [];
    const seen = new Set<string>();
    const fresh = async (): Promise<void> => {
      while (!over) {
        try {
          const answer = await tlsRequest(port);
          seen.add(answer.subject);
          if (answer.body.toString() !== 'fine\n') wrong.push(`status ${answer.status}`);
        } catch (error) {
          wrong.push(String(error));
        }
        requests++;
      }
    };
    const kept = async (): Promise<void> => {
      const socket: TLSSocket = await tlsConnect(port);
      let text = '';
      socket.on('data', (bytes: Buffer) => {
        text += bytes.toString('latin1');
      });
      socket.on('error', (error) => wrong.push(`kept: ${error.message}`));
      socket.on('close', () => over || wrong.push('kept: closed'));
      while (!over) {
        text = '';
        socket.write('GET /kept HTTP/1.1\r\nHost: a.example\r\n\r\n');
        await until('an answer', () => text.endsWith('fine\n') || over);
        requests++;
      }
      socket.destroy();
    };
    const load = [fresh(), fresh(), fresh(), kept(), kept()];
    const versions = [
      issue({ subject: 'v1', names: ['a.example'] }),
      issue({ subject: 'v2', names: ['a.example'] }),
    ];
    let refusedReloads = 0;
    for (let i = 0; i < 200; i++) {
      const next = versions[i % 2] as Issued;
      const bad = i % 40 === 39;
      writeFileSync(file, bad ? next.cert : next.cert + next.key, { mode: 0o600 });
      const reload = await proxy.adm('tls.cert.reload');
      if (bad) {
        expect(reload.code, reload.stdout).not.toBe(0);
        refusedReloads++;
      } else expect(reload.code, reload.stdout + reload.stderr).toBe(0);
    }
    await until('load', () => requests > 50);
    over = true;
    await Promise.all(load);
    expect(refusedReloads).toBe(5);
    expect(wrong).toEqual([]);
    expect(seen.has('v1') || seen.has('v2')).toBe(true);
    expect((await proxy.counters())['TLS.failed']).toBe(0);
    await proxy.stop();
  }, 240_000);
});

describe('sessions', () => {
  it('resume on any of four threads, after the worker was killed, and after the manager was', async () => {
    const dir = box.path('kept');
    const file = pemFile(box, issue({ names: ['a.example'] }));
    const start = (): Promise<RunningProxy> =>
      startProxy(box, {
        dir,
        program: backendProgram(origin.port),
        params: { worker_threads: '4' },
        args: ['-a', 'tls=127.0.0.1:0,HTTPS', '--cert', file],
      });
    let proxy = await start();
    const port = async (): Promise<number> => (await ports(proxy)).tls as number;
    const first = await tlsRequest(await port());
    const { session } = first;
    if (session === undefined) throw new Error('no session');
    const resumed = async (): Promise<boolean> => (await tlsRequest(await port(), { session })).resumed;
    const many = await Promise.all(
      Array.from({ length: 24 }, async () => tlsRequest(await port(), { session })),
    );
    expect(many.every((each) => each.resumed)).toBe(true);
    const worker = proxy.workerPid() as number;
    process.kill(worker, 'SIGKILL');
    await until('a new worker', () => proxy.workerPid() !== null && proxy.workerPid() !== worker);
    await proxy.serving();
    expect(await resumed()).toBe(true);
    proxy.daemon.child.kill('SIGKILL');
    await proxy.daemon.exit(30_000);
    proxy = await start();
    expect(await resumed()).toBe(true);
    await proxy.stop();
  });
});

describe('keys', () => {
  it('are in no file, log, panic, answer or archive', async () => {
    const { cert, key } = issue({ names: ['a.example'] });
    const pem = pemFile(box, { cert, key });
    const { proxy, port } = await startTlsProxy(box, { program: backendProgram(origin.port) });
    await proxy.adm('tls.cert.load', 'mine', pem);
    await proxy.adm('tls.cert.commit');
    await tlsRequest(port);
    const answers = await Promise.all(
      ['tls.cert.list -j', 'param.show', 'event.list -j', 'vcl.show boot', 'listen.list -j'].map((line) =>
        proxy.adm(line),
      ),
    );
    await proxy.adm('debug.panic.worker');
    await until('the panic', async () => (await proxy.adm('panic.show')).code === 0);
    const panic = await proxy.adm('panic.show');
    const archive = `${box.path('archive')}.tar.gz`;
    const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      bin: Record<string, string>;
    };
    await run(process.execPath, [
      join(ROOT, bin['proxy-gather'] as string),
      '-n',
      proxy.dir,
      '-t',
      '0.2',
      '-o',
      archive,
    ]);
    const files: [string, Buffer][] = [];
    const walk = (dir: string): void => {
      for (const name of readdirSync(dir)) {
        const path = join(dir, name);
        const stat = statSync(path);
        if (stat.isDirectory()) walk(path);
        else if (stat.isFile()) files.push([path, readFileSync(path)]);
      }
    };
    walk(proxy.dir);
    files.push(['archive', Buffer.from(execFileSync('tar', ['-xzOf', archive]))]);
    files.push(['answers', Buffer.from([...answers, panic].map(({ stdout }) => stdout).join('\n'))]);
    files.push(['messages', Buffer.from(proxy.daemon.stderr + proxy.daemon.stdout)]);
    const lines = key.split('\n').filter((line) => line.length > 20 && !line.startsWith('-'));
    const der = Buffer.from(lines.join(''), 'base64');
    // The private number itself: the first 32 bytes of the octet string within.
    const secret = der.subarray(der.indexOf(Buffer.from([0x04, 0x20])) + 2).subarray(0, 32);
    expect(secret).toHaveLength(32);
    for (const [path, bytes] of files) {
      for (const line of lines) expect([path, bytes.includes(line)]).toEqual([path, false]);
      expect([path, bytes.includes(secret)]).toEqual([path, false]);
      expect([path, bytes.includes(secret.toString('hex'))]).toEqual([path, false]);
    }
    const tickets = files.filter(([path]) => /ticket/.test(path));
    for (const [path] of tickets) expect(statSync(path).mode & 0o777).toBe(0o600);
    await proxy.stop();
  });
});
