// The tables of HPACK (RFC 7541 appendices A and B). They are the runner's own, as is all of its HTTP/2: a mistake in those of
// the daemon under test must not hide here.

/** In the order of their indexes, which begin with 1: name, or name=value. */
const STATIC = [
  ':authority|:method=GET|:method=POST|:path=/|:path=/index.html|:scheme=http|:scheme=https|:status=200',
  ':status=204|:status=206|:status=304|:status=400|:status=404|:status=500|accept-charset',
  'accept-encoding=gzip, deflate|accept-language|accept-ranges|accept|access-control-allow-origin|age',
  'allow|authorization|cache-control|content-disposition|content-encoding|content-language',
  'content-length|content-location|content-range|content-type|cookie|date|etag|expect|expires|from|host',
  'if-match|if-modified-since|if-none-match|if-range|if-unmodified-since|last-modified|link|location',
  'max-forwards|proxy-authenticate|proxy-authorization|range|referer|refresh|retry-after|server',
  'set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate',
];

export const STATIC_FIELDS: readonly (readonly [name: string, value: string])[] = STATIC.flatMap((row) =>
  row.split('|').map((field) => {
    const equals = field.indexOf('=');
    return equals < 0 ? ([field, ''] as const) : ([field.slice(0, equals), field.slice(equals + 1)] as const);
  }),
);

/** Bits of the code of each octet and of the end of a string, in base 36. The code is canonical: lengths alone determine it. */
const LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq' +
  'u';
const LONGEST = 30;

/** Codes as texts of bits, by octet. */
const CODES: readonly string[] = codes();
const OCTETS = new Map(CODES.map((code, octet) => [code, octet]));

function codes(): string[] {
  const lengths = [...LENGTHS].map((digit) => Number.parseInt(digit, 36));
  const out: string[] = [];
  let code = 0;
  for (let bits = 1; bits <= LONGEST; bits++, code *= 2)
    for (const [octet, length] of lengths.entries())
      if (length === bits) out[octet] = (code++).toString(2).padStart(bits, '0');
  return out;
}

/** latin1 */
export function huffmanCoded(text: string): Buffer {
  let bits = '';
  for (let i = 0; i < text.length; i++) bits += CODES[text.charCodeAt(i) & 255];
  bits = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1');
  return Buffer.from(bits.match(/.{8}/g)?.map((octet) => Number.parseInt(octet, 2)) ?? []);
}

/** Null for what is no code: padding that is longer than seven bits or has zeros, or the end of a string. */
export function huffmanDecoded(data: Uint8Array): string | null {
  let out = '';
  let code = '';
  for (const byte of data)
    for (const bit of byte.toString(2).padStart(8, '0')) {
      code += bit;
      const octet = OCTETS.get(code);
      if (octet === undefined) {
        if (code.length >= LONGEST) return null;
        continue;
      }
      if (octet === 256) return null;
      out += String.fromCharCode(octet);
      code = '';
    }
  return code.length < 8 && !code.includes('0') ? out : null;
}
