// Facts of a certificate: names, dates, subject and issuer as text. X.509 is read by the runtime.

import type { X509Certificate } from 'node:crypto';
import { isIPv6 } from 'node:net';

export interface CertificateFacts {
  /** One line: CN=www.example.com, O=Example. */
  readonly subject: string;
  readonly issuer: string;
  /** Hexadecimal, in capitals. */
  readonly serial: string;
  /** DNS names in lower case and IP addresses, in order, each once. */
  readonly names: readonly string[];
  /** Epoch seconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** SHA-256 in hexadecimal. */
  readonly fingerprint: string;
}

export function certificateFacts(x509: X509Certificate): CertificateFacts {
  return {
    subject: oneLine(x509.subject),
    issuer: oneLine(x509.issuer),
    serial: x509.serialNumber,
    names: certificateNames(x509),
    notBefore: Math.floor(Date.parse(x509.validFrom) / 1000),
    notAfter: Math.floor(Date.parse(x509.validTo) / 1000),
    fingerprint: x509.fingerprint256.replaceAll(':', '').toLowerCase(),
  };
}

/** The runtime has a line an attribute, the widest first; undefined for an empty name. */
function oneLine(name: string | undefined): string {
  const parts = (name ?? '').split('\n').filter((part) => part !== '');
  // Control characters could forge lines of a reply.
  return parts
    .reverse()
    .join(', ')
    .replaceAll(/\p{Cc}/gu, '?');
}

const ALTERNATIVE = /(?:^|, )(DNS|IP Address):("(?:[^"\\]|\\.)*"|[^,]*)/g;
const DNS_NAME = /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?$/;

/** Alternative names (RFC 6125); the common name counts only without one. */
function certificateNames(x509: X509Certificate): string[] {
  const found: string[] = [];
  for (const [, kind, text = ''] of (x509.subjectAltName ?? '').matchAll(ALTERNATIVE)) {
    if (kind === 'IP Address') found.push(address(text));
    else found.push(text.toLowerCase());
  }
  const cn = /^CN=(.*)$/m.exec(x509.subject ?? '')?.[1];
  if (found.length === 0 && cn !== undefined) found.push(cn.toLowerCase());
  const names = found.filter((name) => name.includes(':') || DNS_NAME.test(name));
  return [...new Set(names.map((name) => name.replace(/\.$/, '')))];
}

/** The runtime writes all eight groups of an IPv6 address, in capitals. */
function address(text: string): string {
  return isIPv6(text) ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text;
}
