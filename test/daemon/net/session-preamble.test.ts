// Sessions of a PROXY listener: nothing is a request before the preamble, however it arrives, and its addresses apply
// to the session from then on.
import { describe, expect, it } from 'vitest';
import { FakeSession, get } from './fake-session.ts';
import { bytes, IPV4, IPV6, tlv, v1, v2 } from './proxy-bytes.ts';

const TCP4 = v1('PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222');

function opened(): FakeSession {
  return new FakeSession(true);
}

/** Records but those of the opening and the end. */
function reported(t: FakeSession): string[] {
  return t.records.filter((r) => r.startsWith('Proxy') || r.startsWith('Error'));
}

describe('a session of a PROXY listener', () => {
  it('identifies as such, and has the addresses of the connection until a preamble gives others', () => {
    const t = opened();
    expect(t.records[0]).toBe('Begin sess 0 PROXY');
    expect([t.session.clientIp, t.session.serverIp]).toEqual(['192.0.2.1', '192.0.2.2']);
    t.receive(TCP4);
    const { clientIp, clientPort, serverIp, serverPort, remoteIp, localIp } = t.session;
    expect([clientIp, clientPort, serverIp, serverPort]).toEqual(['1.2.3.4', 1111, '5.6.7.8', 2222]);
    expect([remoteIp, localIp]).toEqual(['192.0.2.1', '192.0.2.2']);
    expect(t.session.forwardedLine).toBe('X-Forwarded-For: 1.2.3.4');
    expect(t.session.startRecord.items[0]?.[1]).toBe('1.2.3.4 1111 a0');
    expect(t.session.forwardedRecord.items[0]?.[1]).toBe('X-Forwarded-For: 1.2.3.4');
  });

  it.each([
    ['version 1', TCP4],
    ['version 2', v2(0x21, 0x21, IPV6)],
    ['version 2, attributes', v2(0x21, 0x11, Buffer.concat([IPV4, tlv(1, 'h2'), tlv(2, 'a.example')]))],
    ['version 2, local', v2(0x20, 0x00)],
  ])('runs the same requests wherever the bytes are cut: %s', (_name, preamble) => {
    const all = Buffer.concat([preamble, Buffer.from(get('/1') + get('/2'))]);
    const whole = opened();
    whole.receive(all);
    expect(whole.ran).toEqual(['/1', '/2']);
    for (let cut = 1; cut < all.length; cut++) {
      const t = opened();
      t.receive(all.subarray(0, cut));
      t.receive(all.subarray(cut));
      expect([cut, t.ran, t.session.clientIp, t.records]).toEqual([
        cut,
        ['/1', '/2'],
        whole.session.clientIp,
        whole.records,
      ]);
    }
  });

  it('takes one byte after the other', () => {
    const t = opened();
    for (const byte of Buffer.concat([TCP4, Buffer.from(get('/'))])) t.receive(bytes(byte));
    expect(t.ran).toEqual(['/']);
    expect(reported(t)).toEqual(['Proxy 1 1.2.3.4 1111 5.6.7.8 2222']);
  });

  it('keeps attributes, and none if the preamble has none', () => {
    const t = opened();
    t.receive(v2(0x21, 0x11, Buffer.concat([IPV4, tlv(1, 'h2')])));
    expect(Buffer.from(t.session.proxyAttributes?.get(1) ?? []).toString()).toBe('h2');
    const none = opened();
    none.receive(v2(0x21, 0x11, IPV4));
    expect(none.session.proxyAttributes).toBeNull();
  });

  it('closes after a broken preamble, with Varnish’s counters', () => {
    const t = opened();
    t.receive('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(t.ran).toEqual([]);
    expect(t.wire.ended).toBe(true);
    expect(t.records).toContain('SessClose RX_JUNK 0.000');
    expect(t.wire.written).toEqual([]);
    expect([t.stats.sc_rx_junk, t.stats.sess_closed_err, t.stats.sess_closed]).toEqual([1, 1, 0]);
  });

  it('gives a client no more than timeout_idle for all of it', () => {
    const t = opened();
    t.pass(3);
    t.receive('PROXY TCP4 ');
    t.pass(1.9);
    expect(t.wire.ended).toBe(false);
    t.receive('1.2.3.4 ');
    t.pass(0.2);
    expect(t.records).toContain('SessClose RX_TIMEOUT 5.100');
    expect(t.stats.sc_rx_timeout).toBe(1);
  });

  it('restarts the timeout for the first request', () => {
    const t = opened();
    t.pass(4);
    t.receive(TCP4);
    t.pass(4);
    expect(t.wire.ended).toBe(false);
    t.pass(1.1);
    expect(t.records.at(-2)).toMatch(/^SessClose RX_CLOSE_IDLE/);
  });

  it.each([
    ['before the preamble', 'PROXY'],
    ['after it', TCP4],
    ['at once', ''],
  ])('ends with a client that leaves %s', (_when, text) => {
    const t = opened();
    if (text.length > 0) t.receive(text);
    t.session.receivedEnd();
    expect(t.records.some((r) => r.startsWith('SessClose REM_CLOSE'))).toBe(true);
    expect(t.stats.sc_rem_close).toBe(1);
  });

  it('has a second for its first request when the worker ends', () => {
    const t = opened();
    t.receive('PROXY');
    t.session.shutdown();
    expect(t.wire.ended).toBe(false);
    t.pass(1);
    expect(t.wire.ended).toBe(true);
  });

  it.each([
    ['fits', 0x11, 384, null],
    ['has no place', 0x11, 385, 'Error insufficient workspace (proto_priv)'],
    ['is too large', 0x11, 393, 'Error insufficient workspace'],
    ['fits beside IPv6', 0x21, 376, null],
    ['has no place beside IPv6', 0x21, 377, 'Error insufficient workspace (proto_priv)'],
  ])('refuses what workspace_session cannot hold: %s', (_name, family, length, error) => {
    const t = opened();
    const addresses = family === 0x11 ? IPV4 : IPV6;
    t.receive(v2(0x21, family, Buffer.concat([addresses, tlv(5, 'x'.repeat(length - 3))])));
    expect(reported(t).filter((r) => r.startsWith('Error'))).toEqual(error === null ? [] : [error]);
    expect(t.stats.sc_rx_junk).toBe(error === null ? 0 : 1);
  });
});
