// Failures of TLS with a backend, from the FetchError records in which the daemon names them: what to do about each. The
// words themselves are the daemon's, because they name dates, names and issuers.

const RECORD = /^(?:backend \S+: )?TLS: (.*)$/s;

/** Advice, by how the words begin. */
const HINTS: readonly (readonly [words: RegExp, hint: string])[] = [
  [/^certificate (?:of the issuer .* )?expired/, 'Renew the certificate at the origin.'],
  [/^certificate .*is not valid before/, 'Check the clocks, here and where it was issued.'],
  [/^name /, 'Set .ssl_name (or .host_header) to a name in the certificate.'],
  [/^certificate is self-signed/, 'If it is the right one, set .ssl_ca to a file that contains it.'],
  [
    /^issuer unknown.*chain is incomplete/,
    'Have the origin send its intermediate certificates, or set .ssl_ca.',
  ],
  [/^issuer unknown/, 'If it is the right authority, set .ssl_ca to a file that contains it.'],
  [/^(?:wrong purpose|issuer is no authority|weak|a signature)/, 'The origin needs another certificate.'],
  [/^not TLS at all/, 'Is .port the one for HTTPS? Without TLS leave .ssl out.'],
  [/^handshake timed out/, 'See connect_timeout, which covers the handshake.'],
  [
    /^the origin wants a version older|^alert 70 /,
    'Update the origin: older TLS versions are not supported.',
  ],
  [/^alert (?:4[0-8]|116) /, 'If it asks for a certificate of the client, see .ssl_cert and .ssl_key.'],
  [/^alert 112 /, 'See .ssl_name and .ssl_sni.'],
  [/^the connection was cut/, 'The origin must send close_notify before it closes, or a Content-Length.'],
];

/** Null if the text is not of a failure of TLS. */
export function explainTlsError(text: string): { sentence: string; hint: string } | null {
  const words = RECORD.exec(text)?.[1];
  if (words === undefined) return null;
  const hint =
    HINTS.find(([pattern]) => pattern.test(words))?.[1] ?? 'Records of BackendSSL have the handshakes.';
  return { sentence: `TLS with the backend failed: ${words}`, hint };
}
