// Cache tags of edge networks, from the surrogate keys of programs. One function is used for the header on responses
// and for purges by tag, so that a key always becomes the same tag. A key that a network would refuse is rewritten,
// never dropped: bytes outside the charset are percent-encoded, and a long tag ends in a digest of the whole. Two keys
// may thereby become the same tag, which clears too much, never too little.
import { createHash } from 'node:crypto';

export interface CacheTags {
  /** In the order of the keys, without duplicates. */
  readonly tags: readonly string[];
  /** Number of tags beyond the limit, which the edge will not know. */
  readonly left: number;
}

/** Tags of a header, and characters of a tag: limits of the API. */
export const MAX_TAGS = 128;
const MAX_LENGTH = 128;
const OUTSIDE = /[^A-Za-z0-9!#$%'+./^_`|~-]/g;
/** Hexadecimal digits of a digest: 128 bits. */
const DIGEST = 32;

/** The tags for values of key headers, whose keys are separated by spaces or commas. */
export function cacheTags(values: readonly string[], max: number): CacheTags {
  const tags = new Set<string>();
  for (const value of values)
    for (const key of value.split(/[\s,]+/)) if (key !== '') tags.add(cacheTag(key));
  return { tags: [...tags].slice(0, max), left: Math.max(0, tags.size - max) };
}

function cacheTag(key: string): string {
  const tag = key.replace(OUTSIDE, encoded);
  if (tag.length <= MAX_LENGTH) return tag;
  const digest = createHash('sha256').update(tag).digest('hex').slice(0, DIGEST);
  return `${tag.slice(0, MAX_LENGTH - DIGEST - 1)}~${digest}`;
}

/** Headers are Latin-1 here: one character per byte. */
function encoded(character: string): string {
  return `%${(character.charCodeAt(0) & 0xff).toString(16).toUpperCase().padStart(2, '0')}`;
}
