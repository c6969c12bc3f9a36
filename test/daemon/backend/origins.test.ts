// Connecting to an origin: PROXY preambles to the byte, hold-down, name resolution and refresh, and bytes sent ahead
// of requests.
import { afterEach, describe, expect, it } from 'vitest';
import type { OriginAddress } from '../../../daemon/backend/address.ts';
import { addressRefresh } from '../../../daemon/backend/address-refresh.ts';
import { Dialer } from '../../../daemon/backend/dialer.ts';
import { HoldDown } from '../../../daemon/backend/hold-down.ts';
import { probeProxyHeader, proxyHeader } from '../../../daemon/backend/proxy-header.ts';
import { loadAddresses, type NameLookup, resolveBackend } from '../../../daemon/backend/resolve.ts';
import { OwnState } from '../../../daemon/contract/own-state.ts';
import type { BackendDecl } from '../../../daemon/contract/program.ts';
import { newVbeCounters } from '../../../daemon/stats/counter-fields.ts';
import { NO_ERROR } from '../../../daemon/system-error.ts';

describe('the PROXY preamble', () => {
  const v4 = { clientIp: '192.0.2.7', clientPort: 43210, serverIp: '198.51.100.1', serverPort: 80 };
  const v6 = { clientIp: '2001:db8::7', clientPort: 1, serverIp: '::1', serverPort: 65535 };
  const SIGNATURE = '0d0a0d0a000d0a515549540a';

  it('is a line in version 1', () => {
    expect(proxyHeader(1, v4).toString()).toBe('PROXY TCP4 192.0.2.7 198.51.100.1 43210 80\r\n');
    expect(proxyHeader(1, v6).toString()).toBe('PROXY TCP6 2001:db8::7 ::1 1 65535\r\n');
  });

  it('is binary in version 2', () => {
    expect(proxyHeader(2, v4).toString('hex')).toBe(`${SIGNATURE}2111000cc0000207c6336401a8ca0050`);
    expect(proxyHeader(2, v6).toString('hex')).toBe(
      `${SIGNATURE}21210024${'20010db8000000000000000000000007'}${'00'.repeat(15)}010001ffff`,
    );
  });

  it('of a probe names nobody, or itself twice', () => {
    expect(probeProxyHeader(2, null).toString('hex')).toBe(`${SIGNATURE}20000000`);
    expect(probeProxyHeader(1, null).toString()).toBe('PROXY UNKNOWN\r\n');
    expect(probeProxyHeader(1, { address: '127.0.0.1', port: 4000 }).toString()).toBe(
      'PROXY TCP4 127.0.0.1 127.0.0.1 4000 4000\r\n',
    );
  });
});

describe('a dialer', () => {
  const params = { backend_local_error_holddown: 10, backend_remote_error_holddown: 0.25 };
  const at = (port: number): OriginAddress => ({ kind: 'tcp', address: '192.0.2.1', port });

  function dialer(addresses: OriginAddress[], holdDown = new HoldDown(new OwnState())) {
    const counters = newVbeCounters();
    return { counters, dialer: new Dialer(addresses, holdDown, params, counters) };
  }

  const failing = (code: string) => async () => ({ code, errno: 1 });

  it.each([
    ['EACCES', 'fail_eacces', 10],
    ['EPERM', 'fail_eacces', 10],
    ['EADDRNOTAVAIL', 'fail_eaddrnotavail', 10],
    ['ECONNREFUSED', 'fail_econnrefused', 0.25],
    ['ENETUNREACH', 'fail_enetunreach', 0.25],
    ['ETIMEDOUT', 'fail_etimedout', 0],
    ['ENOENT', 'fail_other', 0],
    ['EHOSTUNREACH', 'fail_other', 0],
  ] as const)('after %s counts %s and holds the address for %d s', async (code, counter, hold) => {
    const { dialer: d, counters } = dialer([at(1)]);
    expect(await d.dial(100, failing(code))).toMatchObject({ code });
    expect(counters[counter]).toBe(1);
    if (hold > 0) {
      expect(await d.dial(100 + hold * 0.99, failing(code))).toBe(NO_ERROR);
      expect([counters[counter], counters.helddown]).toEqual([1, 1]);
    }
    expect(await d.dial(100 + hold, failing(code))).toMatchObject({ code });
    expect(counters[counter]).toBe(2);
  });

  it('reports the other addresses, and skips to the next', async () => {
    const shared = new HoldDown(new OwnState());
    await dialer([at(1)], shared).dialer.dial(0, failing('ECONNREFUSED'));
    const other = dialer([at(1), at(2)], shared);
    const made = await other.dialer.dial(0.1, async (a) => ({ a }));
    expect(made).toEqual({ made: { a: at(2) }, at: at(2) });
    expect(other.counters.helddown).toBe(0);
  });

  it('holds a bounded number of addresses, of which the oldest make room', () => {
    const shared = new HoldDown(new OwnState());
    for (let i = 0; i < 5000; i++) shared.hold(`a${i}`, 100, 0);
    expect([shared.holds('a0', 1), shared.holds('a903', 1)]).toEqual([false, false]);
    expect([shared.holds('a904', 1), shared.holds('a4999', 1)]).toEqual([true, true]);
  });
});

describe('names', () => {
  const both: NameLookup = async () => [
    { address: '::1', family: 6 },
    { address: '192.0.2.1', family: 4 },
    { address: '192.0.2.2', family: 4 },
  ];
  const decl: BackendDecl = { name: 'b', host: 'origin.test', port: '81' };
  const tcp = (address: string) => ({ kind: 'tcp', address, port: 81 });

  it('give one address of each kind, the preferred first', async () => {
    expect(await resolveBackend(decl, false, both)).toEqual([tcp('192.0.2.1'), tcp('::1')]);
    expect(await resolveBackend(decl, true, both)).toEqual([tcp('::1'), tcp('192.0.2.1')]);
  });

  it('give all addresses where they are renewed', async () => {
    expect(await resolveBackend({ ...decl, resolve: 1 }, false, both)).toEqual([
      ...[tcp('192.0.2.1'), tcp('192.0.2.2'), tcp('::1')],
    ]);
  });

  it('are not asked for again when the compiler has', async () => {
    const asked: NameLookup = () => Promise.reject(new Error('asked'));
    const known = { ...decl, addresses: ['192.0.2.9'] };
    expect(await loadAddresses(known, false, asked)).toEqual([tcp('192.0.2.9')]);
    expect(await loadAddresses(decl, false, asked)).toMatch(/no address/);
  });

  it.each([
    ['http', 80],
    ['https', 443],
    ['8080', 8080],
  ])('of services: %s is %d', async (port, number) => {
    expect(await resolveBackend({ name: 'b', host: '::1', port }, false)).toEqual([
      { kind: 'tcp', address: '::1', port: number },
    ]);
  });
});

describe('.resolve', () => {
  let stop: (() => void) | undefined;
  afterEach(() => stop?.());

  const first: OriginAddress = { kind: 'tcp', address: '192.0.2.1', port: 80 };

  /** A backend whose name has these answers in turn; resolves when all were given. */
  async function renewed(answers: (string | null)[], decl: Partial<BackendDecl> = {}) {
    const notes: string[] = [];
    const seen: string[] = [];
    const named = {
      decl: { name: 'b', host: 'origin.test', resolve: 0.1, ...decl },
      displayName: 'boot.b',
      addresses: [first] as readonly OriginAddress[],
    };
    let n = 0;
    await new Promise<void>((done) => {
      const names: NameLookup = async () => {
        seen.push((named.addresses[0] as typeof first & { address: string }).address);
        const answer = answers[n++];
        if (n > answers.length) done();
        if (answer === null || answer === undefined) throw Object.assign(new Error(), { code: 'EAI_AGAIN' });
        return [{ address: answer, family: 4 }];
      };
      const made = addressRefresh(named, {
        params: { prefer_ipv6: 0 },
        names,
        note: (text) => notes.push(text),
      });
      stop = () => made?.stop();
      made?.start();
    });
    return { notes, seen };
  }

  it('follows the name, keeps the old address while it cannot be resolved, and reports each once', async () => {
    const { notes, seen } = await renewed(['192.0.2.1', '192.0.2.2', null, null, '192.0.2.3']);
    expect(seen).toEqual(['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.2', '192.0.2.2', '192.0.2.3']);
    expect(notes).toEqual([
      'Backend boot.b is now at 192.0.2.2:80',
      'Backend b: host "origin.test" has no address (EAI_AGAIN): boot.b keeps its addresses',
      'Backend boot.b is now at 192.0.2.3:80',
    ]);
  });

  it('is nothing for numbers, paths and those who do not ask', () => {
    const env = { params: { prefer_ipv6: 0 }, note: () => undefined };
    const ask = (decl: BackendDecl) => addressRefresh({ decl, displayName: 'x', addresses: [] }, env);
    expect(ask({ name: 'b', host: '192.0.2.1', resolve: 1 })).toBeNull();
    expect(ask({ name: 'b', path: '/x', resolve: 1 })).toBeNull();
    expect(ask({ name: 'b', host: 'origin.test' })).toBeNull();
    expect(ask({ name: 'b', host: 'origin.test', resolve: 1 })).not.toBeNull();
  });
});
