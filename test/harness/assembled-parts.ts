import type { ByteParts } from '../../daemon/http1/byte-parts.ts';

/** The whole multipart body, of a body that is in memory. */
export function assembled(body: Buffer, { spans, heads, end }: ByteParts): Buffer {
  const pieces = spans.flatMap(({ from, to }, i) => [heads[i] as Buffer, body.subarray(from, to)]);
  return Buffer.concat([...pieces, end]);
}
