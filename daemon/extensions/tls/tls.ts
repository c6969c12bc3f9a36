// The extension tls: the TLS connection of the client, or in vcl_backend_response the origin's. Follows the vmod of
// Varnish 9; what it says of client certificates is ours.

import type { ClientTls, VclContext } from '../../contract/context.ts';
import type { Extension, ExtensionFunction } from '../../contract/extension.ts';
import { softFail } from '../../contract/failure.ts';
import { byName, row } from '../extension-rows.ts';

function client(ctx: VclContext, name: string): ClientTls | null {
  if (ctx.req === null && ctx.bo === null) {
    softFail(ctx, `tls.${name}() needs a connection`);
    return null;
  }
  return (ctx.req?.session ?? ctx.bo?.session)?.tls ?? null;
}

function text(name: string, of: (tls: ClientTls) => string | null, help: string): ExtensionFunction {
  const call = (ctx: VclContext): string | null => {
    const tls = client(ctx, name);
    return tls === null ? null : of(tls);
  };
  return row(`STRING ${name}()`, call, help);
}

export const tls: Extension = {
  name: 'tls',
  help: 'the TLS connection of a client',
  // biome-ignore format: a row is a line
  functions: byName(
    row('BOOL is_tls()', (ctx) => client(ctx, 'is_tls') !== null, 'Whether the client’s connection is a TLS connection of ours; behind another TLS proxy, ask proxy.is_ssl().'),
    text('version', ({ version }) => version, 'The version of TLS, such as `TLSv1.3`.'),
    text('cipher', ({ cipher }) => cipher, 'The cipher, by its name in OpenSSL.'),
    text('authority', ({ authority }) => authority, 'The host that the client named in the handshake (SNI); unset without one.'),
    text('alpn', ({ alpn }) => alpn, 'The protocol that was agreed upon in the handshake (ALPN); unset without one.'),
    text('ja3', ({ ja3 }) => ja3, 'The JA3 fingerprint of the client: 32 hexadecimal digits. Unset unless the parameter tls_ja3 is on.'),
    text('cert_sign', ({ certSign }) => certSign, 'The algorithm that signed the certificate that was presented.'),
    text('cert_key', ({ certKey }) => certKey, 'The kind and size of its key, such as `EC256` and `RSA2048`.'),
    row('BOOL client_cert_verified()', (ctx) => client(ctx, 'client_cert_verified')?.clientCert?.verified === true, 'Whether the client has shown a certificate that is valid and from an authority of `client-verify-ca`.'),
    text('client_cert_subject', ({ clientCert }) => clientCert?.subject ?? null, 'The subject of the client’s certificate, as in `CN=alice,O=Example`; unset without one. Not to be trusted unless it is verified.'),
    text('client_cert_fingerprint', ({ clientCert }) => clientCert?.fingerprint ?? null, 'SHA-256 of the client’s certificate: 64 hexadecimal digits; unset without one.'),
  ),
};
