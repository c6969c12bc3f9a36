// Whether an Accept-Encoding value admits gzip (RFC 9110 section 12.5.3), interpreted as Varnish does, malformed values
// included: programs and downstream caches rely on its answers. x-gzip admits it whatever its weight; of several gzip
// the first counts. Only a lower-case q is a weight, and of its value only a number at its beginning counts.

/** A list member, which ends at any comma: its coding, possibly in quotes, and the rest. */
const MEMBER = /[\t ,]*(?:"([^",]*)"|([!#$%&'*+.^_`|~\w-]*))([^,]*)/y;
const WEIGHT = /(?:^[\t ;]*|;[\t ]*)q[\t ]*=[\t ]*([^;]*)/;
const NUMBER = /^\d*\.?\d*/;

/** @param value the joined header, or null when the client sent none */
export function acceptsGzip(value: string | null): boolean {
  if (value === null) return false;
  if (value === 'gzip') return true;
  let weighted: boolean | null = null;
  for (let at = 0; at < value.length; at = MEMBER.lastIndex) {
    MEMBER.lastIndex = at;
    const [, quoted, token = '', parameters = ''] = MEMBER.exec(value) as RegExpExecArray;
    const coding = (quoted ?? token).toLowerCase();
    if (coding === 'x-gzip') return true;
    if (coding === 'gzip') weighted ??= hasWeight(parameters);
  }
  return weighted === true;
}

/** Whether the parameters have a weight above 0, or none. */
function hasWeight(parameters: string): boolean {
  const weight = WEIGHT.exec(parameters)?.[1];
  return weight === undefined || Number(NUMBER.exec(weight)?.[0]) > 0;
}
