// The blocks of a PEM file (RFC 7468), and words for files that are none. Blocks are found by their BEGIN and END lines;
// text between them is ignored, as OpenSSL does.

export interface PemBlock {
  /** Such as CERTIFICATE. */
  readonly label: string;
  /** With its BEGIN and END lines, each line ended. */
  readonly text: string;
}

const BEGIN = '-----BEGIN ';
const DASHES = '-----';

/** In order. Blocks without an END are left out. */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  for (let at = text.indexOf(BEGIN); at >= 0; at = text.indexOf(BEGIN, at + 1)) {
    const labelEnd = text.indexOf(DASHES, at + BEGIN.length);
    if (labelEnd < 0) break;
    const label = text.slice(at + BEGIN.length, labelEnd);
    if (!/^[A-Z0-9 ]{1,64}$/.test(label)) continue;
    const end = text.indexOf(`-----END ${label}-----`, labelEnd);
    if (end < 0) continue;
    const stop = end + `-----END ${label}-----`.length;
    blocks.push({ label, text: `${text.slice(at, stop).replaceAll('\r\n', '\n')}\n` });
    at = stop - 1;
  }
  return blocks;
}

/** Whether a private key is encrypted: in PKCS #8 by its label, in older forms by a header line. */
export function isEncrypted({ label, text }: PemBlock): boolean {
  return label === 'ENCRYPTED PRIVATE KEY' || /^Proc-Type:\s*4,ENCRYPTED/m.test(text);
}

const OTHERS: Readonly<Record<string, string>> = {
  'CERTIFICATE REQUEST': 'a request for a certificate',
  'NEW CERTIFICATE REQUEST': 'a request for a certificate',
  'PUBLIC KEY': 'a public key',
  'X509 CRL': 'a list of revoked certificates',
  PKCS7: 'a PKCS #7 bundle (openssl pkcs7 -print_certs -in FILE makes certificates of it)',
  'DH PARAMETERS': 'Diffie-Hellman parameters',
  'OPENSSH PRIVATE KEY': 'a key of OpenSSH',
};

/** Words for what a file is that has no block of the wanted kind. `name` stands in advice. */
export function foundInstead(bytes: Buffer, blocks: readonly PemBlock[], name: string): string {
  const [first] = blocks;
  if (first !== undefined) {
    if (first.label.endsWith('PRIVATE KEY') && OTHERS[first.label] === undefined)
      return 'a private key alone';
    if (first.label === 'CERTIFICATE') return 'certificates alone';
    return OTHERS[first.label] ?? `a PEM block of the kind ${first.label}`;
  }
  if (bytes.length === 0) return 'nothing: the file is empty';
  if (bytes.includes(BEGIN)) return 'a PEM block that does not end';
  // A sequence of more than 127 bytes; in PKCS #12 its first member is the version, 3.
  if (bytes[0] === 0x30 && (bytes[1] ?? 0) > 0x80) {
    const length = 2 + ((bytes[1] ?? 0) & 0x7f);
    const isPkcs12 = bytes.subarray(length, length + 3).equals(Buffer.from([2, 1, 3]));
    return isPkcs12
      ? `PKCS #12 instead of PEM: openssl pkcs12 -in ${name} -nodes -out ${name}.pem`
      : `DER instead of PEM: openssl x509 -inform DER -in ${name} -out ${name}.pem`;
  }
  return 'no PEM at all';
}
