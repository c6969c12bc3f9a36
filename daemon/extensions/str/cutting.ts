// Parts of strings by number: take() by position, split() by token.

/**
 * `n` characters from `offset` on, or those before it when `n` is negative; what lies outside the string is left
 * out. A negative offset counts from the end, and so does 0 when it is to be taken from the left of it.
 */
export function take(s: string, n: number, offset: number): string {
  const from = offset < 0 || (offset === 0 && n < 0) ? offset + s.length : offset;
  const [start, end] = n < 0 ? [from + n, from] : [from, from + n];
  return s.slice(Math.max(0, start), Math.max(0, end));
}

/**
 * The n-th token, from 1, or from the end when negative; null when there is none. Runs of separators count as
 * one, and those in front as none, but one at the end leaves an empty token behind it, as in Varnish. Counted
 * from the end, tokens are never empty.
 */
export function split(s: string, n: number, separators: string): string | null {
  const tokens: string[] = [];
  let at = 0;
  const skip = (separating: boolean): void => {
    while (at < s.length && separators.includes(s.charAt(at)) === separating) at++;
  };
  skip(true);
  for (;;) {
    const start = at;
    skip(false);
    tokens.push(s.slice(start, at));
    if (at >= s.length || tokens.length === n) break;
    skip(true);
  }
  if (n >= 0) return tokens[n - 1] ?? null;
  return tokens.filter((t) => t !== '').at(n) ?? null;
}
