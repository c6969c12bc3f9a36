// Checks of an OCSP response (RFC 6960) that is to be stapled: successful, good, for this certificate, and not outdated. Its
// signature is the client's to check.

import {
  context,
  type DerValue,
  derInside,
  derTime,
  derValues,
  ENUMERATED,
  OCTET_STRING,
  SEQUENCE,
} from './der.ts';

/** Certificate states: [0] and [1]. */
const GOOD = 0x80;
const REVOKED = 0xa1;

export interface OcspFacts {
  /** Epoch seconds at which it is outdated; null if it does not say. */
  readonly until: number | null;
}

/** Facts of a response that may be stapled at `now` (epoch seconds), or why it may not.
 * @param serial of the certificate, in hexadecimal */
export function readOcsp(bytes: Buffer, serial: string, now: number): OcspFacts | string {
  const [status, wrapped] = derInside(bytes, SEQUENCE) ?? [];
  if (status?.tag !== ENUMERATED) return 'it is no OCSP response in DER';
  if (status.content[0] !== 0) return `it is a refusal of the authority (status ${status.content[0]})`;
  const responses = singleResponses(wrapped);
  if (responses === null) return 'it is no OCSP response in DER';
  const found = responses.find((one) => serialOf(one) === normal(serial));
  if (found === undefined) return 'it is for another certificate';
  const [, state, thisUpdate, next] = derValues(found.content) ?? [];
  if (state?.tag === REVOKED) return 'it says that the certificate is revoked';
  if (state?.tag !== GOOD) return 'it does not say that the certificate is good';
  const from = thisUpdate === undefined ? null : derTime(thisUpdate);
  const [end] = next?.tag === context(0) ? (derValues(next.content) ?? []) : [];
  const until = end === undefined ? null : derTime(end);
  if (from === null) return 'it has no date';
  if (until !== null && until <= now) return `it was valid until ${new Date(until * 1000).toISOString()}`;
  return { until };
}

function singleResponses(wrapped: DerValue | undefined): DerValue[] | null {
  if (wrapped?.tag !== context(0)) return null;
  const [, octets] = derInside(wrapped.content, SEQUENCE) ?? [];
  if (octets?.tag !== OCTET_STRING) return null;
  const [data] = derInside(octets.content, SEQUENCE) ?? [];
  if (data?.tag !== SEQUENCE) return null;
  // Version [0] and the responder's id [1] or [2] come before the date and the list.
  const list = (derValues(data.content) ?? []).find(({ tag }) => tag === SEQUENCE);
  return list === undefined ? null : derValues(list.content);
}

/** The serial number of a CertID: algorithm, two hashes, serial. */
function serialOf(response: DerValue): string {
  const [certId] = derValues(response.content, 1) ?? [];
  const serial = certId === undefined ? undefined : derValues(certId.content)?.[3];
  return serial === undefined ? '' : normal(serial.content.toString('hex'));
}

function normal(serial: string): string {
  return serial.toLowerCase().replace(/^0+/, '');
}
