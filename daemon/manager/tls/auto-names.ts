// Names that an authority is to issue a certificate for, as options and the file of -A give them. It imports nothing, since
// every start reads its options.

const HOST_NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{2,63}$/;

/** The most names that Let's Encrypt, and other authorities, put into a certificate. */
const MOST = 100;

/** Names for a certificate from an authority, in lower case; or why they are none. */
export function autoNames(words: readonly string[]): string[] | string {
  if (words.length === 0) return 'cert = "auto" has no names';
  if (words.length > MOST) return `${words.length} names are more than a certificate can have (${MOST})`;
  const names = words.map((word) => word.toLowerCase());
  const wrong = names.find((name) => !HOST_NAME.test(name.replace(/^\*\./, '')));
  if (wrong !== undefined) return `"${wrong.slice(0, 80)}" is not a name for a certificate`;
  return [...new Set(names)];
}
