// The notations of an acl entry: "192.0.2.0"/24, "192.0.2.0/24", a name, or the first bytes of an IPv4 address
// alone, as "192.168", which means "192.168.0.0"/16. Such bytes are decimal, and never the resolver's short form
// ("127.1" is 127.1.0.0 in an acl). Names are not resolved here.

import type { AclEntry } from '../ast.ts';
import type { Span } from '../diagnostics.ts';

export interface AclNotation {
  /** A complete address or a name. */
  host: string;
  /** Bits of the mask, written or meant; null is the whole address. */
  bits: number | null;
  /** The place to report an invalid mask. */
  maskSpan: Span;
  /** As the log shows the entry: as Varnish, without a mask that stood inside the quotes. */
  shown: string;
}

export interface AclFault {
  fault: string;
  span: Span;
  hint: string;
}

export function readAclEntry(e: AclEntry): AclNotation | AclFault {
  const slash = e.host.indexOf('/');
  if (slash < 0) {
    const outer = e.mask === null ? null : Number(e.mask.text);
    const shown = outer === null ? `"${e.host}"` : `"${e.host}"/${outer}`;
    return { ...spread(e.host, outer), maskSpan: e.mask?.span ?? e.span, shown };
  }
  if (e.mask !== null) {
    const hint = 'Leave out the mask inside the quotes or the one behind them.';
    return { fault: '/mask only allowed once.', span: e.mask.span, hint };
  }
  const [host, mask] = [e.host.slice(0, slash), e.host.slice(slash + 1)];
  if (!/^\s*\d+$/.test(mask)) {
    return { fault: '.../mask is not numeric.', span: e.span, hint: 'Write a number of bits behind the /.' };
  }
  return { ...spread(host, Number(mask)), maskSpan: e.span, shown: `"${host}"` };
}

const FIRST_BYTES = /^\s*\+?\d+(?:\.\s*\+?\d+){0,3}$/;

/** Bytes without the last ones get these, and the mask that they mean. */
function spread(host: string, bits: number | null): { host: string; bits: number | null } {
  const bytes = FIRST_BYTES.test(host) ? host.split('.').map(Number) : [];
  if (bytes.length === 0 || bytes.some((b) => b > 255)) return { host, bits };
  const whole = Array.from({ length: 4 }, (_, i) => bytes[i] ?? 0).join('.');
  return { host: whole, bits: bits ?? bytes.length * 8 };
}
