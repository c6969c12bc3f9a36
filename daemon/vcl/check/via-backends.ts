// `.via` and `.authority` of a backend: the backend that its connections pass through, and the name that they give it. The
// timeouts of that backend become defaults here, so that a declaration contains the ones in effect.

import { isIP } from 'node:net';
import type { BackendDecl } from '../../contract/program.ts';
import type { Declaration, Expr } from '../ast.ts';
import type { Span } from '../diagnostics.ts';
import { MESSAGES } from '../error-texts.ts';
import type { Scope } from './type-conversions.ts';

/** Most characters of an authority: those of a name in TLS (PROXY protocol, section 2.2.2). */
const LONGEST = 255;

const INHERITED = ['connectTimeout', 'firstByteTimeout', 'betweenBytesTimeout'] as const;

/** The name in `.via`; undefined after reporting an error. */
export function viaName(scope: Scope, value: Expr | undefined, at: Span): string | undefined {
  const { reporter, symbols } = scope.model;
  if (value?.k !== 'path') {
    reporter.error(MESSAGES.viaName(), value?.span ?? at);
    return undefined;
  }
  const name = value.parts.map(({ text }) => text).join('.');
  const sym = symbols.get(name);
  if (sym?.kind !== 'backend') {
    reporter.error(MESSAGES.notFound(name), value.span, 'The backend must be declared before.');
    return undefined;
  }
  sym.used = true;
  if (sym.decl.via === undefined) return name;
  reporter.error(MESSAGES.viaStacked(), value.span);
  return undefined;
}

/**
 * Checks a backend with `.via`, its other attributes checked.
 * @param header the `.host_header` that the program gives
 */
export function checkVia(
  scope: Scope,
  decl: BackendDecl,
  header: string | undefined,
  { fields, name }: Extract<Declaration, { k: 'backend' }>,
): void {
  const { reporter, symbols } = scope.model;
  const sym = decl.via === undefined ? undefined : symbols.get(decl.via);
  if (sym?.kind !== 'backend') return;
  const place = (field: string): Span => fields.find((f) => f.name === field)?.values[0]?.span ?? name.span;
  if (decl.path !== undefined) {
    reporter.error(MESSAGES.viaAndPath(), place('via'));
    return;
  }
  const via = sym.decl;
  if (decl.tls !== undefined && via.tls !== undefined)
    reporter.error(MESSAGES.viaTls(via.name), place('via'));
  const field = decl.authority !== undefined ? 'authority' : header !== undefined ? 'host_header' : 'host';
  const authority = decl.authority ?? header ?? decl.host ?? '';
  if (isAddress(authority)) {
    const hint =
      field === 'authority' ? undefined : 'Let .authority = "origin.example"; say it, or "" for none.';
    reporter.error(MESSAGES.authorityAddress(field), place(field), hint);
  } else if (authority.length > LONGEST) reporter.error(MESSAGES.authorityLength(), place(field));
  for (const timeout of INHERITED) {
    const value = via[timeout];
    if (value !== undefined) decl[timeout] ??= value;
  }
}

/** Whether a text is an address, with or without a port. */
function isAddress(text: string): boolean {
  return isIP(text) !== 0 || text.startsWith('[') || isIP(text.replace(/:.*/s, '')) !== 0;
}
