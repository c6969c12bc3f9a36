// The extension proxy: attributes of a PROXY v2 preamble besides the addresses, mostly about TLS. Follows
// vmod_proxy(3) of 7.1. It reads the attributes stored with the session.

import type { VclContext } from '../../contract/context.ts';
import type { Extension, ExtensionFunction } from '../../contract/extension.ts';
import { softFail } from '../../contract/failure.ts';
import { byName, row } from '../extension-rows.ts';

/** Attribute types of the PROXY protocol. */
const ALPN = 0x01;
const AUTHORITY = 0x02;
const SSL = 0x20;
const SSL_VERSION = 0x21;
const SSL_COMMON_NAME = 0x22;
const SSL_CIPHER = 0x23;
const SSL_SIGNATURE = 0x24;
const SSL_KEY = 0x25;

/** Bits of the first byte of the SSL attribute. */
const IS_SSL = 1;
const CERTIFICATE_ON_CONNECTION = 2;
const CERTIFICATE_IN_SESSION = 4;

function attribute(ctx: VclContext, name: string, type: number): Uint8Array | null {
  if (ctx.req === null && ctx.bo === null) {
    softFail(ctx, `proxy.${name}() needs a client session`);
    return null;
  }
  const session = ctx.req?.session ?? ctx.bo?.session;
  return session?.proxyAttributes?.get(type) ?? null;
}

const CLIENT = { newerPlaces: 'client' };

function text(name: string, type: number, help: string): ExtensionFunction {
  const call = (ctx: VclContext): string | null => {
    const bytes = attribute(ctx, name, type);
    if (bytes === null) return null;
    const zero = bytes.indexOf(0);
    return Buffer.from(zero < 0 ? bytes : bytes.subarray(0, zero)).toString('latin1');
  };
  return row(`STRING ${name}()`, call, help, CLIENT);
}

function flag(name: string, bit: number, help: string): ExtensionFunction {
  return row(`BOOL ${name}()`, (ctx) => ((attribute(ctx, name, SSL)?.[0] ?? 0) & bit) !== 0, help, CLIENT);
}

function sslVerifyResult(ctx: VclContext): number {
  const bytes = attribute(ctx, 'ssl_verify_result', SSL);
  return bytes === null ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
}

export const proxy: Extension = {
  name: 'proxy',
  help: 'attributes of the PROXY protocol',
  // biome-ignore format: a row is a line
  functions: byName(
    text('alpn', ALPN, 'The protocol that was agreed upon in the TLS handshake (ALPN).'),
    text('authority', AUTHORITY, 'The host that the client named in the TLS handshake (SNI).'),
    flag('is_ssl', IS_SSL, 'Whether the client’s connection is encrypted.'),
    flag('client_has_cert_sess', CERTIFICATE_IN_SESSION, 'Whether the client has shown a certificate in its TLS session.'),
    flag('client_has_cert_conn', CERTIFICATE_ON_CONNECTION, 'Whether the client has shown a certificate on this connection.'),
    row('INT ssl_verify_result()', sslVerifyResult, 'Result of the verification of the client’s certificate by the proxy in front; 0 is success.', CLIENT),
    text('ssl_version', SSL_VERSION, 'The version of TLS.'),
    text('client_cert_cn', SSL_COMMON_NAME, 'The common name in the client’s certificate.'),
    text('ssl_cipher', SSL_CIPHER, 'The cipher.'),
    text('cert_sign', SSL_SIGNATURE, 'The algorithm that signed the server’s certificate.'),
    text('cert_key', SSL_KEY, 'The algorithm of the server’s key.'),
  ),
};
