// The extension tls: the TLS connection of the client, and in backend subroutines that of the origin. Follows the vmod of
// Varnish 9; the functions about client certificates are ours.

import type { X509Certificate } from 'node:crypto';
import type { ClientTls, VclContext } from '../../contract/context.ts';
import type { Extension, ExtensionFunction } from '../../contract/extension.ts';
import { softFail } from '../../contract/failure.ts';
import { keyName, signatureName } from '../../tls/certificate-names.ts';
import { byName, row } from '../extension-rows.ts';

/** The facts of either kind of connection. */
interface Facts {
  readonly version: string;
  readonly cipher: string;
  readonly authority: string | null;
  readonly alpn: string | null;
  readonly ja3: string | null;
  readonly certSign: string;
  readonly certKey: string;
}

function factsOf(ctx: VclContext, name: string): Facts | null {
  if (ctx.req !== null) return ctx.req.session.tls;
  if (ctx.bo === null) {
    softFail(ctx, `tls.${name}() needs a connection`);
    return null;
  }
  const { respTls } = ctx.bo.attempt;
  if (respTls === null) return null;
  const { protocol, cipher, alpn, serverName, certificate } = respTls;
  return {
    version: protocol,
    cipher,
    alpn,
    authority: serverName,
    ja3: null,
    certSign: signed(certificate, signatureName),
    certKey: signed(certificate, keyName),
  };
}

function signed(certificate: X509Certificate | null, by: (certificate: X509Certificate) => string): string {
  return certificate === null ? '' : by(certificate);
}

function client(ctx: VclContext, name: string): ClientTls | null {
  if (ctx.req !== null) return ctx.req.session.tls;
  softFail(ctx, `tls.${name}() needs a client`);
  return null;
}

function text(name: string, of: (facts: Facts) => string | null, help: string): ExtensionFunction {
  const call = (ctx: VclContext): string | null => {
    const facts = factsOf(ctx, name);
    return facts === null ? null : of(facts);
  };
  return row(`STRING ${name}()`, call, help);
}

function clientText(name: string, of: (tls: ClientTls) => string | null, help: string): ExtensionFunction {
  const call = (ctx: VclContext): string | null => {
    const tls = client(ctx, name);
    return tls === null ? null : of(tls);
  };
  return row(`STRING ${name}()`, call, help);
}

export const tls: Extension = {
  name: 'tls',
  help: 'the TLS connection of a client, or of an origin',
  // biome-ignore format: a row is a line
  functions: byName(
    row('BOOL is_tls()', (ctx) => factsOf(ctx, 'is_tls') !== null, 'Whether the connection is a TLS connection of ours: the client’s, and from vcl_backend_response on the origin’s. Behind another TLS proxy, ask proxy.is_ssl().'),
    text('version', ({ version }) => version, 'The version of TLS, such as `TLSv1.3`.'),
    text('cipher', ({ cipher }) => cipher, 'The cipher, by its name in OpenSSL.'),
    text('authority', ({ authority }) => authority, 'The host that was named in the handshake (SNI); unset without one.'),
    text('alpn', ({ alpn }) => alpn, 'The protocol that was agreed upon in the handshake (ALPN); unset without one.'),
    text('ja3', ({ ja3 }) => ja3, 'The JA3 fingerprint of the client: 32 hexadecimal digits. Unset unless the parameter tls_ja3 is on.'),
    text('cert_sign', ({ certSign }) => certSign, 'The algorithm that signed the server’s certificate.'),
    text('cert_key', ({ certKey }) => certKey, 'The kind and size of its key, such as `EC256` and `RSA2048`.'),
    row('BOOL client_cert_verified()', (ctx) => client(ctx, 'client_cert_verified')?.clientCert?.verified === true, 'Whether the client has shown a certificate that is valid and from an authority of `client-verify-ca`.'),
    clientText('client_cert_subject', ({ clientCert }) => clientCert?.subject ?? null, 'The subject of the client’s certificate, as in `CN=alice,O=Example`; unset without one. Not to be trusted unless it is verified.'),
    clientText('client_cert_fingerprint', ({ clientCert }) => clientCert?.fingerprint ?? null, 'SHA-256 of the client’s certificate: 64 hexadecimal digits; unset without one.'),
  ),
};
