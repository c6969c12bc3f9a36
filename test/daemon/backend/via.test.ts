// Backends behind another one: what their connections begin with, which of them share a pool, and declarations that are
// refused. The bytes are those of Varnish 7.7.0.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../../daemon/backend/backend.ts';
import type { BackendEnvironment } from '../../../daemon/backend/backend-surroundings.ts';
import { OriginConnection } from '../../../daemon/backend/connection.ts';
import { ConnectionLead } from '../../../daemon/backend/connection-lead.ts';
import { buildBackends } from '../../../daemon/backend/directory.ts';
import { HoldDown } from '../../../daemon/backend/hold-down.ts';
import { PiecePacer } from '../../../daemon/backend/piece-pacer.ts';
import { ConnectionPool } from '../../../daemon/backend/pool.ts';
import { ProbeSchedule } from '../../../daemon/backend/probe-schedule.ts';
import { socketWires } from '../../../daemon/backend/socket-wire.ts';
import { type TlsClient, TlsClients } from '../../../daemon/backend/tls-client.ts';
import { OwnState } from '../../../daemon/contract/own-state.ts';
import type { BackendDecl } from '../../../daemon/contract/program.ts';
import { compile } from '../../../daemon/extensions/compile-with-builtins.ts';
import { ByteTurns } from '../../../daemon/flow/byte-turns.ts';
import { newMainCounters, newVbeCounters } from '../../../daemon/stats/counter-fields.ts';
import { ScriptedOrigin } from './scripted-origin.ts';

const START = '\r\n\r\n\0\r\nQUIT\n';
const NAMES: { readonly [name: string]: string[] } = {
  'four.test': ['192.0.2.1'],
  'six.test': ['2001:db8::1'],
};

/** The declarations behind a backend p. */
function declare(text: string, port = 80) {
  const { program, errors } = compile(
    {
      name: 'm',
      text: `vcl 4.1; backend p { .host = "127.0.0.1"; .port = "${port}"; .connect_timeout = 7s; } ${text}
        sub vcl_recv { set req.backend_hint = d; }`,
    },
    { resolveHost: (name) => NAMES[name] ?? [] },
  );
  return { decls: program?.backends ?? [], errors: errors?.map((e) => e.message) };
}

describe('a declaration with .via', () => {
  it.each([
    ['.host = "192.0.2.1"; .via = p;', '.host used as authority can not be an ip address with .via.'],
    [
      '.host = "four.test"; .host_header = "192.0.2.1:80"; .via = p;',
      '.host_header used as authority can not be an ip address with .via.',
    ],
    [
      '.host = "four.test"; .via = p; .authority = "[::1]:80";',
      '.authority can not be an ip address with .via.',
    ],
    [
      '.host = "four.test"; .via = p; .authority = "2001:db8::1";',
      '.authority can not be an ip address with .via.',
    ],
    [
      `.host = "four.test"; .via = p; .authority = "${'a'.repeat(256)}";`,
      '.authority is longer than 255 characters',
    ],
    ['.path = "/tmp/none"; .via = p;', 'Cannot set both .via and .path.'],
    ['.host = "four.test"; .via = later;', "Symbol not found: 'later'"],
    ['.host = "four.test"; .via = d;', "Symbol not found: 'd'"],
    ['.host = "four.test"; .via = "p";', 'Field .via takes the name of a backend'],
  ])('is refused: %s', (fields, message) => {
    expect(declare(`backend d { ${fields} }`).errors).toEqual([message]);
  });

  it('is refused where the other backend has one', () => {
    const d = 'backend d { .host = "four.test"; .via = p; }';
    expect(declare(`${d} backend e { .host = "four.test"; .via = d; }`).errors).toContain(
      'Cannot stack .via backends',
    );
  });

  it('has the timeouts of the other backend, unless it has its own', () => {
    const timeout = (more: string) =>
      declare(`backend d { .host = "four.test"; .via = p; ${more} }`).decls[1]?.connectTimeout;
    expect([timeout(''), timeout('.connect_timeout = 2s;')]).toEqual([7, 2]);
  });

  it('may have an authority that is not used', () => {
    expect(declare('backend d { .host = "four.test"; .authority = "192.0.2.1"; }').errors).toBeUndefined();
  });
});

describe('a connection through another backend', () => {
  let env: BackendEnvironment;
  let pool: ConnectionPool;
  let proxy: ScriptedOrigin;
  const readBuffer = { bytes: Buffer.alloc(64 * 1024), turnOver: () => undefined };

  beforeEach(async () => {
    proxy = await ScriptedOrigin.start(() => undefined);
    pool = new ConnectionPool(60);
    env = {
      pool,
      readBuffer,
      stats: newMainCounters(),
      tlsClients: new TlsClients(),
      holdDown: new HoldDown(new OwnState()),
      probes: new ProbeSchedule(),
      wires: socketWires(readBuffer),
      pacer: new PiecePacer(),
      readTurns: new ByteTurns((run) => setImmediate(run)),
      now: () => 0,
      healthLog: () => undefined,
      healthChanged: () => undefined,
      note: () => undefined,
      limits: { maxLine: 8192, maxFields: 58, maxSize: 32768 },
      params: {
        ...{ connect_timeout: 3.5, first_byte_timeout: 60, between_bytes_timeout: 60, prefer_ipv6: 0 },
        ...{ backend_wait_limit: 0, backend_wait_timeout: 0 },
        ...{ backend_local_error_holddown: 10, backend_remote_error_holddown: 0.25 },
      },
    };
  });
  afterEach(() => {
    pool.close();
    proxy.stop();
  });

  async function build(text: string): Promise<ReadonlyMap<string, Backend>> {
    const { decls } = declare(text, proxy.port);
    return (await buildBackends('boot', decls, env, newVbeCounters, 0)).backends;
  }

  async function connected(backend: Backend | undefined): Promise<OriginConnection> {
    const got = await backend?.acquire({ connectTimeout: -1, now: 0, client: null });
    if (!(got instanceof OriginConnection)) throw new Error('no connection');
    return got;
  }

  /** Bytes that the proxy has got on its first connection. */
  async function begun(fields: string): Promise<string> {
    const conn = await connected((await build(`backend d { .via = p; ${fields} }`)).get('d'));
    conn.socket.write('#');
    await proxy.until(() => proxy.received[0]?.endsWith('#') === true);
    conn.destroy();
    return proxy.received[0] as string;
  }

  const TO_FOUR = '\0\0\0\0\xc0\0\x02\x01\0\0';

  it('begins with where it is to go, and with its authority', async () => {
    expect(await begun('.host = "four.test"; .port = "8080";')).toBe(
      `${START}!\x11\0\x18${TO_FOUR}\x1f\x90\x02\0\x09four.test#`,
    );
  });

  it('names IPv6 addresses', async () => {
    const to = `${'\0'.repeat(16)} \x01\r\xb8${'\0'.repeat(11)}\x01\0\0\0P`;
    expect(await begun('.host = "[2001:db8::1]"; .authority = "";')).toBe(`${START}!!\0$${to}#`);
  });

  it.each([
    ['.host_header = "www.test:99";', 'www.test'],
    ['.host_header = "www.test"; .authority = "own.test:1";', 'own.test'],
  ])('takes the authority from %s', async (fields, name) => {
    const size = String.fromCharCode(12 + 3 + name.length);
    expect(await begun(`.host = "four.test"; ${fields}`)).toBe(
      `${START}!\x11\0${size}${TO_FOUR}\0P\x02\0${String.fromCharCode(name.length)}${name}#`,
    );
  });

  it('sends the declared preamble next', async () => {
    expect(await begun('.host = "four.test"; .authority = ""; .preamble = :aGFsbG8=:;')).toBe(
      `${START}!\x11\0\x0c${TO_FOUR}\0Phallo#`,
    );
  });

  it('is not used for other destinations, nor for the proxy itself', async () => {
    const backends = await build(`backend d { .via = p; .host = "four.test"; }
      backend e { .via = p; .host = "four.test"; .port = "81"; }
      backend same { .via = p; .host = "four.test"; }
      sub vcl_miss { set req.backend_hint = e; set req.backend_hint = same; }`);
    const conn = await connected(backends.get('d'));
    pool.put(conn);
    for (const name of ['e', 'p']) expect((await connected(backends.get(name))).reused).toBe(false);
    const again = await connected(backends.get('same'));
    expect([again.reused, again]).toEqual([true, conn]);
  });

  it('follows the proxy to another address', async () => {
    const backends = await build('backend d { .via = p; .host = "four.test"; }');
    const elsewhere = await ScriptedOrigin.start(() => undefined);
    const p = backends.get('p') as Backend;
    p.addresses = [{ kind: 'tcp', address: '127.0.0.1', port: elsewhere.port }];
    const conn = await connected(backends.get('d'));
    await elsewhere.until(() => elsewhere.received[0]?.startsWith(START) === true);
    conn.destroy();
    elsewhere.stop();
    expect(proxy.sockets).toHaveLength(0);
  });

  it('is that of probes, too', async () => {
    const backends = await build(
      'backend d { .via = p; .host = "four.test"; .authority = ""; .probe = { .url = "/x"; } }',
    );
    const d = backends.get('d') as Backend;
    d.setWarm(true);
    await proxy.until(() => proxy.received[0]?.includes('GET /x') === true);
    d.setWarm(false);
    expect(proxy.received[0]?.startsWith(`${START}!\x11\0\x0c${TO_FOUR}\0PGET /x`)).toBe(true);
  });
});

describe('with TLS the lead of a connection', () => {
  const tls = { key: 'k' } as TlsClient;
  const client = { clientIp: '192.0.2.7', clientPort: 1, serverIp: '192.0.2.1', serverPort: 80 };
  const decl: BackendDecl = { name: 'd', host: 'four.test', via: 'p', authority: '', proxyHeader: 1 };

  function leadOf(via: BackendDecl) {
    const lead = new ConnectionLead(decl, tls, via);
    lead.aim({ kind: 'tcp', address: '192.0.2.1', port: 80 });
    return {
      outside: lead.secureWay(client)?.lead?.(null)?.toString('latin1'),
      opening: lead.opening?.toString('latin1'),
      request: lead.ofRequest(client)?.toString('latin1'),
      probe: lead.ofProbe(null)?.toString('latin1'),
    };
  }

  it('goes in front of the handshake with the destination', () => {
    const { outside, ...inside } = leadOf({ name: 'p' });
    expect(outside?.startsWith(START)).toBe(true);
    expect(outside).toContain('PROXY TCP4');
    expect(inside).toEqual({ opening: undefined, request: undefined, probe: undefined });
  });

  it('goes inside where TLS is spoken to the proxy', () => {
    const inside = leadOf({ name: 'p', tls: {} as NonNullable<BackendDecl['tls']> });
    expect(inside.outside).toBeUndefined();
    expect(inside.opening?.startsWith(START)).toBe(true);
    expect(inside.request).toMatch(/^PROXY TCP4/);
    expect(inside.probe).toMatch(/PROXY UNKNOWN\r\n$/);
  });
});
