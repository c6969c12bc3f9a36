// querysort(): sorts the parameters of a URL's query by their bytes and removes empty ones. Used by the function of
// the language and by std.querysort.
//
// Two parameters are compared only up to the length of the shorter one, and bytes above 127 sort first. A parameter
// that is a prefix of another is therefore its equal, so that the order depends on the sort algorithm. Cache keys
// depend on it in turn, hence Varnish's: a merge sort of halves, stable.

import type { VclContext } from '../../contract/context.ts';

export function querysort(_ctx: VclContext, url: string | null): string | null {
  if (url === null) return null;
  const at = url.indexOf('?');
  if (at < 0) return url;
  const query = url.slice(at + 1);
  if (query === '') return url;
  const params = query.split('&').filter((p) => p !== '');
  return `${url.slice(0, at)}?${sorted(params).join('&')}`;
}

function sorted(params: readonly string[]): readonly string[] {
  if (params.length < 2) return params;
  const middle = params.length >> 1;
  const left = sorted(params.slice(0, middle));
  const right = sorted(params.slice(middle));
  const out: string[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length && r < right.length) {
    const a = left[l] as string;
    const b = right[r] as string;
    if (compare(a, b) <= 0) {
      out.push(a);
      l++;
    } else {
      out.push(b);
      r++;
    }
  }
  return [...out, ...left.slice(l), ...right.slice(r)];
}

function compare(a: string, b: string): number {
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) {
    const difference = signed(a.charCodeAt(i)) - signed(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A byte as a signed `char`. */
function signed(byte: number): number {
  return byte < 128 ? byte : byte - 256;
}
