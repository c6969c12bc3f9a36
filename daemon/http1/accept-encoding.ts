// Whether an Accept-Encoding value admits gzip (RFC 9110 section 12.5.3): named, or by x-gzip, with a weight
// that is not zero. Of several members of that name the first counts, as in Varnish.

/** `value` is the joined header, or null when the client sent none. */
export function acceptsGzip(value: string | null): boolean {
  if (value === null) return false;
  if (value === 'gzip') return true;
  for (const member of value.split(',')) {
    const [coding = '', ...params] = member.split(';');
    const name = coding.trim().toLowerCase();
    if (name !== 'gzip' && name !== 'x-gzip') continue;
    const weight = params.map((p) => /^\s*q\s*=(.*)$/is.exec(p)?.[1]).find((q) => q !== undefined);
    // A malformed weight does not permit gzip.
    return weight === undefined || (/^\s*(\d+\.?\d*|\.\d+)\s*$/.test(weight) && Number(weight) > 0);
  }
  return false;
}
