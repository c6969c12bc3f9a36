// The extension proxy: what a PROXY v2 preamble told beside the addresses, from TLS mostly. Follows vmod_proxy(3) of
// 7.1. It reads what the session kept and knows nothing of the wire beyond single values.

import type { VclContext } from '../../contract/context.ts';
import type { Extension, ExtensionFunction } from '../../contract/extension.ts';
import { softFail } from '../../contract/failure.ts';

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

function text(name: string, type: number): ExtensionFunction {
  return {
    signature: `STRING ${name}()`,
    call: (ctx) => {
      const bytes = attribute(ctx, name, type);
      if (bytes === null) return null;
      const zero = bytes.indexOf(0);
      return Buffer.from(zero < 0 ? bytes : bytes.subarray(0, zero)).toString('latin1');
    },
  };
}

function flag(name: string, bit: number): ExtensionFunction {
  return {
    signature: `BOOL ${name}()`,
    call: (ctx) => ((attribute(ctx, name, SSL)?.[0] ?? 0) & bit) !== 0,
  };
}

export const proxy: Extension = {
  name: 'proxy',
  functions: {
    alpn: text('alpn', ALPN),
    authority: text('authority', AUTHORITY),
    is_ssl: flag('is_ssl', IS_SSL),
    client_has_cert_sess: flag('client_has_cert_sess', CERTIFICATE_IN_SESSION),
    client_has_cert_conn: flag('client_has_cert_conn', CERTIFICATE_ON_CONNECTION),
    ssl_verify_result: {
      signature: 'INT ssl_verify_result()',
      call: (ctx) => {
        const bytes = attribute(ctx, 'ssl_verify_result', SSL);
        return bytes === null ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
      },
    },
    ssl_version: text('ssl_version', SSL_VERSION),
    client_cert_cn: text('client_cert_cn', SSL_COMMON_NAME),
    ssl_cipher: text('ssl_cipher', SSL_CIPHER),
    cert_sign: text('cert_sign', SSL_SIGNATURE),
    cert_key: text('cert_key', SSL_KEY),
  },
};
