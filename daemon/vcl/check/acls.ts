// Checks `acl` declarations: addresses, masks, names and flags become a list of networks, most specific first. A name
// that does not resolve is an error unless its entry is in parentheses, which is then left out.

import { isIP } from 'node:net';
import type { AclEntry, Declaration } from '../ast.ts';
import { nearest, type Span } from '../diagnostics.ts';
import { MESSAGES } from '../error-texts.ts';
import { packedAcl } from '../runtime/acl.ts';
import { familyBytes, formatAddress } from '../runtime/ip.ts';
import { ACL_FLAGS } from '../tables/language.ts';
import { type Code, constant, data, helper } from '../typed-program.ts';
import { folded, type PlacedNetwork } from './fold-acl.ts';
import type { ProgramModel } from './program-model.ts';

/** Code that creates the acl. */
export function checkAcl(model: ProgramModel, d: Extract<Declaration, { k: 'acl' }>): Code {
  const { reporter } = model;
  const on = new Map<string, boolean>(ACL_FLAGS.map((row) => [row.flag, row.on]));
  on.set('fold', model.changes.foldedAcls);
  let reports = true;
  for (const f of d.flags) {
    if (on.has(f.name)) {
      on.set(f.name, f.on);
      for (const own of f.flags) {
        if (f.name !== 'fold' || own.name !== 'report') {
          reporter.error(MESSAGES.aclSubFlag(f.name, own.name), own.span);
        } else if (!f.on) reporter.error(MESSAGES.aclReport(), own.span);
        else reports = own.on;
      }
    } else {
      const near = nearest(f.name, on.keys());
      reporter.error(
        MESSAGES.unknownAclFlag(f.name),
        f.span,
        near === null ? undefined : `Did you mean '${near}'?`,
      );
    }
  }
  const pedantic = on.get('pedantic') === true;
  const networks: PlacedNetwork[] = [];
  const seen = new Map<string, { negate: boolean; span: Span }>();
  for (const e of d.entries) {
    const n = readAclEntry(e);
    if ('fault' in n) {
      reporter.error(MESSAGES.aclEntry(n.fault), n.span, n.hint);
      continue;
    }
    const addresses = isIP(n.host) > 0 ? [n.host] : model.resolveHost(n.host);
    if (addresses.length === 0 && !e.optional) {
      reporter.error(MESSAGES.aclHost(n.host), e.span, 'Put the entry in parentheses to ignore it then.');
    }
    const kinds = new Set(addresses.map((a) => isIP(a)));
    if (n.bits !== null && kinds.size > 1) {
      reporter.error(MESSAGES.aclFamilies(n.host), n.maskSpan);
      continue;
    }
    for (const address of addresses) {
      const net = network(model, e.span, n, address, pedantic);
      if (net === null) continue;
      const key = `${net.address}/${net.bits}`;
      const before = seen.get(key);
      if (before !== undefined && before.negate !== e.negate) {
        reporter.error(MESSAGES.aclConflict(), e.span, undefined, [{ message: 'vs:', span: before.span }]);
      }
      seen.set(key, { negate: e.negate, span: e.span });
      networks.push({ bytes: net.bytes, bits: net.bits, negate: e.negate, shown: net.shown, span: e.span });
    }
  }
  const all = on.get('fold') === true ? folded(networks, reports ? reporter : null) : networks;
  return helper('aclFrom', constant(d.name.text), data(packedAcl(on.get('log') === true, all)));
}

interface Network {
  bytes: readonly number[];
  address: string;
  bits: number;
  shown: string;
}

function network(
  model: ProgramModel,
  span: Span,
  n: AclNotation,
  address: string,
  pedantic: boolean,
): Network | null {
  const bytes = familyBytes(address);
  if (bytes === null) return null;
  const width = bytes.length * 8;
  const bits = n.bits ?? width;
  if (bits > width) {
    const family = width === 32 ? 'IPv4' : 'IPv6';
    model.reporter.error(MESSAGES.aclMask(bits, family), n.maskSpan);
    return null;
  }
  const masked = bytes.map((b, i) => b & (0xff00 >> Math.min(8, Math.max(0, bits - i * 8))) & 0xff);
  const proper = formatAddress(masked);
  if (masked.every((b, i) => b === bytes[i])) return { bytes, address: proper, bits, shown: n.shown };
  if (pedantic) {
    model.reporter.error(MESSAGES.aclBits(proper, bits), span);
    return null;
  }
  return { bytes: masked, address: proper, bits, shown: `${n.shown} fixed: ${proper}/${bits}` };
}

// The notations of an acl entry: "192.0.2.0"/24, "192.0.2.0/24", a name, or the first bytes of an IPv4 address
// alone, as "192.168", which means "192.168.0.0"/16. Such bytes are decimal, and never the resolver's short form
// ("127.1" is 127.1.0.0 in an acl). Names are not resolved here.

interface AclNotation {
  /** A complete address or a name. */
  host: string;
  /** Bits of the mask, explicit or implied; null for the whole address. */
  bits: number | null;
  /** The place to report an invalid mask. */
  maskSpan: Span;
  /** Text in the log, as in Varnish: without a mask inside the quotes. */
  shown: string;
}

interface AclFault {
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
    const hint = 'Leave out the mask inside the quotes or the one after them.';
    return { fault: '/mask only allowed once.', span: e.mask.span, hint };
  }
  const [host, mask] = [e.host.slice(0, slash), e.host.slice(slash + 1)];
  if (!/^\s*\d+$/.test(mask)) {
    return { fault: '.../mask is not numeric.', span: e.span, hint: 'Write a number of bits after the /.' };
  }
  return { ...spread(host, Number(mask)), maskSpan: e.span, shown: `"${host}"` };
}

const FIRST_BYTES = /^\s*\+?\d+(?:\.\s*\+?\d+){0,3}$/;

/** Completes an abbreviated address and its implied mask. */
function spread(host: string, bits: number | null): { host: string; bits: number | null } {
  const bytes = FIRST_BYTES.test(host) ? host.split('.').map(Number) : [];
  if (bytes.length === 0 || bytes.some((b) => b > 255)) return { host, bits };
  const whole = Array.from({ length: 4 }, (_, i) => bytes[i] ?? 0).join('.');
  return { host: whole, bits: bits ?? bytes.length * 8 };
}
