// PROXY v2 preambles as seen by a program.
import { describe, expect, it } from 'vitest';
import { parseProxyPreamble } from '../../../../daemon/net/proxy-protocol.ts';
import { bytes, IPV4, TLS, tlv, v2 } from '../../net/proxy-bytes.ts';
import { task } from '../../vcl/fake-task.ts';

const TEXTS = ['alpn', 'authority', 'ssl_version', 'client_cert_cn', 'ssl_cipher', 'cert_sign', 'cert_key'];
const FLAGS = ['is_ssl', 'client_has_cert_sess', 'client_has_cert_conn'];
const ALL = [...TEXTS, ...FLAGS, 'ssl_verify_result'];

/** Values of all functions; null is a text that is not there. */
function read(attributes: Uint8Array | null): Record<string, string | null> {
  const lines = ALL.map((name) => `if (true) { set req.http.${name} = proxy.${name}(); }`);
  const unset = TEXTS.map((name) => `if (!proxy.${name}()) { unset req.http.${name}; }`);
  const t = task(`import proxy; sub vcl_recv { ${lines.join(' ')} ${unset.join(' ')} return (pass); }`);
  const found = attributes === null ? null : parseProxyPreamble(attributes, 0, attributes.length);
  Object.assign(t.req, { session: { ...t.req.session, proxyAttributes: found?.attributes ?? null } });
  expect(t.run('recv')).toBe('pass');
  return Object.fromEntries(ALL.map((name) => [name, t.req.http.get(name)]));
}

const NOTHING = {
  ...Object.fromEntries(TEXTS.map((name) => [name, null])),
  ...Object.fromEntries(FLAGS.map((name) => [name, 'false'])),
  ssl_verify_result: '0',
};

function preamble(...attributes: Uint8Array[]): Buffer {
  return v2(0x21, 0x11, Buffer.concat([IPV4, ...attributes]));
}

describe('the extension proxy', () => {
  it('has nothing to tell without a preamble, or one without attributes', () => {
    expect(read(null)).toEqual(NOTHING);
    expect(read(preamble())).toEqual(NOTHING);
  });

  it('reports the TLS attributes', () => {
    expect(read(preamble(tlv(1, 'http/1.1'), tlv(2, 'a.example'), TLS))).toEqual({
      alpn: 'http/1.1',
      authority: 'a.example',
      ssl_version: 'TLSv1.3',
      client_cert_cn: 'cn.example',
      ssl_cipher: 'AES',
      cert_sign: 'SHA256',
      cert_key: 'RSA2048',
      is_ssl: 'true',
      client_has_cert_sess: 'true',
      client_has_cert_conn: 'true',
      ssl_verify_result: '9',
    });
  });

  it.each([
    [0, 'false', 'false', 'false'],
    [1, 'true', 'false', 'false'],
    [2, 'false', 'false', 'true'],
    [4, 'false', 'true', 'false'],
  ])('distinguishes the flags: %i', (flags, ssl, inSession, onConnection) => {
    const seen = read(preamble(tlv(0x20, bytes(flags, 255, 255, 255, 255))));
    expect([seen.is_ssl, seen.client_has_cert_sess, seen.client_has_cert_conn]).toEqual([
      ssl,
      inSession,
      onConnection,
    ]);
    expect(seen.ssl_verify_result).toBe('4294967295');
  });

  it('ends a text at a NUL, as strings of the language end', () => {
    expect(read(preamble(tlv(1, 'a\0b'))).alpn).toBe('a');
  });

  it('fails where there is no client', () => {
    const t = task('import proxy; sub vcl_init { if (proxy.is_ssl()) { return (fail); } }');
    expect(t.run('init')).toBe('fail');
    expect(t.ctx.failure).toContain('proxy.is_ssl()');
  });
});
