// Checks `acl` declarations: addresses, masks, names and flags become a list of networks, most specific first.
// A name that does not resolve is an error unless its entry is in parentheses, which then is left out.

import { isIP } from 'node:net';
import type { AclEntry, Declaration } from '../ast.ts';
import { nearest } from '../errors.ts';
import { addressBytes, formatAddress } from '../runtime/ip.ts';
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
  for (const e of d.entries) {
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
      if (n !== null) networks.push(n);
    }
  }
  return `${model.helper('aclFrom')}(${quote(d.name.text)}, ${log}, [${networks.join(', ')}])`;
}

function network(model: ProgramModel, e: AclEntry, address: string, pedantic: boolean): string | null {
  const bytes = addressBytes(address);
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
  const shown = e.mask === null ? quote(`"${e.host}"`) : quote(`"${e.host}"/${e.mask.text}`);
  return `[${quote(formatAddress(masked))}, ${bits}, ${e.negate}, ${shown}]`;
}
