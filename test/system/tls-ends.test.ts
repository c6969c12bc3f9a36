// How TLS connections end: with close_notify, with words in the log that are true, and with nothing that a client's certificate
// could write into it.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect as connectNet } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Issued, issue } from '../harness/certificates.ts';
import { Origin, respond } from '../harness/origin.ts';
import { delay, run, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { tlsRequest } from '../harness/tls-client.ts';
import { pemFile, ports } from '../harness/tls-proxy.ts';

const box = new Sandbox('proxyd-tls-ends');
let origin: Origin;
let proxy: RunningProxy;
let at: Record<string, number>;
let ca: Issued;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=1000' }, 'fine\n'));
  ca = issue({ subject: 'clients', isAuthority: true });
  const caFile = box.path('ca');
  writeFileSync(caFile, ca.cert);
  const pem = pemFile(box, issue({ names: ['a.example'] }));
  const file = box.path('conf');
  const frontend = (name: string, ...lines: string[]): string =>
    `frontend = {\n name = "${name}"\n host = "127.0.0.1"\n port = "0"\n ${lines.join('\n ')}\n}\n`;
  writeFileSync(
    file,
    `pem-file = "${pem}"\n${frontend('tls')}${frontend('opt', 'client-verify = optional', `client-verify-ca = "${caFile}"`)}${frontend(
      'empty',
      'match-global-certs = off',
    )}${frontend('bare', 'match-global-certs = off')}`,
  );
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `import tls;
sub vcl_recv { if (req.url == "/who") { return (synth(200)); } }
sub vcl_synth { set resp.http.subject = tls.client_cert_subject(); set resp.http.verified = tls.client_cert_verified(); set resp.http.last = "yes"; }`,
    ),
    args: ['-A', file, '-a', 'pre=127.0.0.1:0,HTTPS,PROXY'],
  });
  at = await ports(proxy);
});
afterAll(async () => {
  await proxy.stop();
  await box.dispose();
  await origin.close();
});

/** The answer of a connection to these bytes, sent with pauses between them. */
async function exchange(port: number, pieces: readonly string[]): Promise<string> {
  const socket = connectNet({ port, host: '127.0.0.1', noDelay: true });
  let got = '';
  socket.on('data', (bytes) => {
    got += bytes.toString('latin1');
  });
  socket.on('error', () => undefined);
  const gone = new Promise((resolve) => socket.on('close', resolve));
  for (const piece of pieces) {
    socket.write(piece, 'latin1');
    await delay(10);
  }
  if (pieces.length === 0) socket.end();
  await gone;
  return got;
}

/** The records of all sessions of a listener, once there are `count` that have ended. */
async function sessionsOf(listener: string, count: number): Promise<string[][]> {
  let sessions: string[][] = [];
  await until(`${count} sessions of ${listener}`, async () => {
    const log = await proxy.log('-g', 'raw', '-c');
    const byId = new Map<string, string[]>();
    for (const line of log.split('\n')) {
      const [id = '', tag = '', , ...text] = line.trim().split(/\s+/);
      if (!byId.has(id)) byId.set(id, []);
      byId.get(id)?.push(`${tag} ${text.join(' ')}`.trim());
    }
    sessions = [...byId.values()].filter((records) =>
      records.some((record) => new RegExp(`^SessOpen \\S+ \\d+ ${listener} `).test(record)),
    );
    return (
      sessions.length >= count && sessions.every((records) => records.some((each) => each.startsWith('End')))
    );
  });
  await delay(100);
  return sessions;
}

/** A client that ends its side in the same packet as its request, and reads on: how the answer ends. */
const HALF_CLOSER = `
import socket, ssl, sys
def answer():
    s = socket.create_connection(('127.0.0.1', int(sys.argv[1])), timeout=10)
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = getattr(ssl.TLSVersion, sys.argv[2])
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(into, out, server_hostname='a.example')
    while True:
        try:
            tls.do_handshake()
            break
        except ssl.SSLWantReadError:
            s.sendall(out.read())
            into.write(s.recv(65536))
    tls.write(b'GET / HTTP/1.0\\r\\nHost: a\\r\\n\\r\\n')
    try:
        tls.unwrap()
    except ssl.SSLWantReadError:
        pass
    s.sendall(out.read())
    while True:
        piece = s.recv(65536)
        if not piece:
            into.write_eof()
            break
        into.write(piece)
    got = b''
    try:
        while True:
            piece = tls.read(65536)
            if not piece: break
            got += piece
        return 'close_notify'
    except ssl.SSLZeroReturnError:
        return 'close_notify'
    except ssl.SSLError as error:
        return str(error)
print({answer() for _ in range(5)})
`;

describe('a TLS connection ends', () => {
  it.each(['TLSv1_2', 'TLSv1_3'])(
    'with close_notify also for a client that has ended its side before (%s)',
    async (version) => {
      const done = await run('python3', ['-c', HALF_CLOSER, String(at.tls), version]);
      expect(done.stdout.trim(), done.stderr).toBe("{'close_notify'}");
    },
  );

  it('with its TLS record before the end of its log', async () => {
    await exchange(at.tls as number, []);
    const sessions = await sessionsOf('tls', 1);
    const failed = sessions.filter((records) =>
      records.some((each) => each.includes('the client went away')),
    );
    expect(failed).toHaveLength(1);
    for (const records of sessions) expect(records.at(-1)).toMatch(/^End/);
    await proxy.logged('SessClose', '-g', 'session', '-q', 'TLS ~ "^failed - the client went away"');
  });

  it('without a failed handshake where it ended before that began', async () => {
    const { 'TLS.failed': before = 0 } = await proxy.counters();
    await exchange(at.pre as number, ['no preamble\r\n']);
    await exchange(at.pre as number, []);
    const sessions = await sessionsOf('pre', 2);
    expect(sessions.flat().filter((record) => record.startsWith('TLS'))).toEqual([]);
    const counters = await proxy.counters();
    expect([counters['TLS.failed'], counters['TLS.pending']]).toEqual([before, 0]);
  });

  it('in words for a plain request that comes in pieces', async () => {
    expect(await exchange(at.tls as number, [...'GET / HTTP'])).toContain('use https://');
    expect(await exchange(at.tls as number, ['no', ' TLS'])).toBe('\x15\x03\x03\x00\x02\x02\x0a');
  });

  it('with a warning a minute for each listener that has no certificate', async () => {
    for (const name of ['empty', 'bare']) await tlsRequest(at[name] as number).catch(() => undefined);
    await until('both are reported', () =>
      ['empty', 'bare'].every((name) =>
        proxy.daemon.stderr.includes(`Listener ${name} has no TLS certificate`),
      ),
    );
  });
});

it('HTTP/1.0 is a protocol of ALPN, as HTTP/1.1 is', async () => {
  const answer = await tlsRequest(at.tls as number, { ALPNProtocols: ['http/1.0'] });
  expect([answer.body.toString(), answer.alpn]).toEqual(['fine\n', 'http/1.0']);
  const both = await tlsRequest(at.tls as number, { ALPNProtocols: ['http/1.0', 'http/1.1'] });
  expect(both.alpn).toBe('http/1.1');
});

it('a client’s certificate writes no line of a head or of the log', async () => {
  const dir = box.path('evil');
  execFileSync('mkdir', [dir]);
  // Their last bytes are those of CR and LF.
  const subject = '/O=名前/CN=mallory嘍嘊Injected: yes嘍嘊嘍嘊a text that is long enough';
  execFileSync(
    'openssl',
    [
      ...['req', '-utf8', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-days', '2', '-subj', subject, '-keyout', 'key', '-out', 'cert'],
    ],
    { cwd: dir, stdio: 'pipe' },
  );
  const [cert, key] = ['cert', 'key'].map((name) => readFileSync(join(dir, name), 'utf8'));
  const answer = await tlsRequest(at.opt as number, { path: '/who', cert, key });
  expect(answer.fields).toMatchObject({ last: 'yes' });
  expect(answer.fields).not.toHaveProperty('injected');
  expect(Buffer.from(answer.fields.subject as string, 'latin1').toString()).toBe(
    'CN=mallory嘍嘊Injected: yes嘍嘊嘍嘊a text that is long enough,O=名前',
  );
  const log = await proxy.logged('client certificate', '-g', 'raw');
  expect(log).not.toMatch(/^Injected/m);
});

it('a client’s certificate needs no subject', async () => {
  const dir = box.path('bare');
  execFileSync('mkdir', [dir]);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' });
  writeFileSync(join(dir, 'ca'), ca.cert);
  writeFileSync(join(dir, 'cakey'), ca.key);
  writeFileSync(join(dir, 'ext'), 'subjectAltName=critical,email:alice@a.example\n');
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'key'];
  openssl('req', '-new', ...key, '-subj', '/', '-out', 'csr');
  const signer = ['-CA', 'ca', '-CAkey', 'cakey', '-set_serial', '7', '-days', '2', '-extfile', 'ext'];
  openssl('x509', '-req', '-in', 'csr', ...signer, '-out', 'cert');
  const cert = readFileSync(join(dir, 'cert'), 'utf8');
  const answer = await tlsRequest(at.opt as number, {
    path: '/who',
    cert,
    key: readFileSync(join(dir, 'key'), 'utf8'),
  });
  expect(answer.fields).toMatchObject({ verified: 'true', subject: '' });
  await proxy.logged('client certificate - verified', '-g', 'raw');
});
