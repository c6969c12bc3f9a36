// Checks `acl` declarations: addresses, masks, names and flags become a list of networks, most specific first.
// A name that does not resolve is an error unless its entry is in parentheses, which then is left out.

import { isIP } from 'node:net';
import type { AclEntry, Declaration } from '../ast.ts';
import { nearest } from '../errors.ts';
import { familyBytes, formatAddress } from '../runtime/ip.ts';
import type { ProgramModel } from './program.ts';
import { quote } from './program.ts';

const FLAGS = ['pedantic', 'log', 'table'];

/** JavaScript that makes the acl. */
export function checkAcl(model: ProgramModel, d: Extract<Declaration, { k: 'acl' }>): string {
  const { reporter } = model;
  let pedantic = true;
  let log = false;
  for (const f of d.flags) {
    if (f.name === 'pedantic') pedantic = f.on;
    else if (f.name === 'log') log = f.on;
    else if (f.name !== 'table') {
      const near = nearest(f.name, FLAGS);
      reporter.error(
        'acl',
        `Unknown ACL flag: '${f.name}'`,
        f.span,
        near === null ? undefined : `Did you mean '${near}'?`,
      );
    }
  }
  const networks: string[] = [];
  const seen = new Map<string, { negate: boolean; span: AclEntry['span'] }>();
  for (const written of d.entries) {
    const e = withInnerMask(written);
    const literal = isIP(e.host) > 0;
    const addresses = literal ? [e.host] : model.resolveHost(e.host);
    if (addresses.length === 0 && !e.optional) {
      reporter.error(
        'acl',
        `DNS lookup(${e.host}): name not known`,
        e.span,
        'Put the entry in parentheses to ignore it then.',
      );
    }
    const kinds = new Set(addresses.map((a) => isIP(a)));
    if (e.mask !== null && kinds.size > 1) {
      reporter.error(
        'acl',
        `'${e.host}' has IPv4 and IPv6 addresses: a mask fits only one of them`,
        e.mask.span,
      );
      continue;
    }
    for (const a of addresses) {
      const n = network(model, e, a, pedantic);
      if (n === null) continue;
      const key = `${n.address}/${n.bits}`;
      const before = seen.get(key);
      if (before !== undefined && before.negate !== e.negate) {
        reporter.error('acl', 'Conflicting ACL entries:', e.span, undefined, [
          { message: 'vs:', span: before.span },
        ]);
      }
      seen.set(key, { negate: e.negate, span: e.span });
      networks.push(`[${quote(n.address)}, ${n.bits}, ${e.negate}, ${quote(n.shown)}]`);
    }
  }
  return `${model.helper('aclFrom')}(${quote(d.name.text)}, ${log}, [${networks.join(', ')}])`;
}

/** The mask may also stand inside the quotes: "192.0.2.0/24". */
function withInnerMask(e: AclEntry): AclEntry {
  const m = /^(.*)\/(\d+)$/.exec(e.host);
  if (m === null || e.mask !== null) return e;
  return { ...e, host: m[1] as string, mask: { text: m[2] as string, span: e.span } };
}

interface Network {
  address: string;
  bits: number;
  shown: string;
}

function network(model: ProgramModel, e: AclEntry, address: string, pedantic: boolean): Network | null {
  const bytes = familyBytes(address);
  if (bytes === null) return null;
  const width = bytes.length * 8;
  const bits = e.mask === null ? width : Number(e.mask.text);
  if (e.mask !== null && bits > width) {
    const family = width === 32 ? 'IPv4' : 'IPv6';
    model.reporter.error('acl', `Too wide mask (/${e.mask.text}) for ${family} address`, e.mask.span);
    return null;
  }
  const masked = bytes.map((b, i) => b & (0xff00 >> Math.min(8, Math.max(0, bits - i * 8))) & 0xff);
  if (masked.some((b, i) => b !== bytes[i])) {
    const proper = `${formatAddress(masked)}/${bits}`;
    if (pedantic) {
      model.reporter.error('acl', `Non-zero bits in masked part, (maybe use ${proper} ?)`, e.span);
      return null;
    }
  }
  const written = e.mask === null ? `"${e.host}"` : `"${e.host}"/${e.mask.text}`;
  const fixed = masked.some((b, i) => b !== bytes[i]);
  const shown = fixed ? `${written} fixed: ${formatAddress(masked)}/${bits}` : written;
  return { address: formatAddress(masked), bits, shown };
}
