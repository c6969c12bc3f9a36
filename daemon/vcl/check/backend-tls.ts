// The `.ssl` attributes of a backend: what they say together, and the files that they name. Attributes that contradict
// each other or have no effect are errors, because they look like protection that is not there.

import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import type { BackendDecl, BackendTls } from '../../contract/program.ts';
import type { Span } from '../diagnostics.ts';
import { MESSAGES } from '../error-texts.ts';
import { splitHostPort } from './addresses.ts';
import type { PemProblem } from './pem-files.ts';
import type { Scope } from './type-conversions.ts';

/** The attributes as given, by their names in the program. */
export interface TlsAttributes {
  ssl?: boolean;
  ssl_sni?: boolean;
  ssl_nosni?: boolean;
  ssl_verify_peer?: boolean;
  ssl_verify_host?: boolean;
  ssl_noverify?: boolean;
  ssl_ca?: string;
  ssl_cert?: string;
  ssl_key?: string;
  ssl_name?: string;
}

export function isTlsAttribute(name: string): boolean {
  return name === 'ssl' || name.startsWith('ssl_');
}

const UNSAFE_HINT =
  'The parameter vcc_unsafe_path allows a "/" in the name; without one vcl_path is searched.';
const STORE_HINT =
  'Install the package ca-certificates, set SSL_CERT_FILE for the daemon, or name the authorities with .ssl_ca.';

/**
 * Checks the attributes and reads their files.
 * @param decl the backend, its other attributes checked
 * @param spans positions of the values, by attribute
 * @returns undefined without TLS, or after an error
 */
export function checkTls(
  scope: Scope,
  decl: BackendDecl,
  given: TlsAttributes,
  spans: ReadonlyMap<string, Span>,
  at: Span,
): BackendTls | undefined {
  const { reporter, pem } = scope.model;
  const place = (name: string): Span => spans.get(name) ?? at;
  if (given.ssl !== true) {
    // With `.ssl = 0` they are what to go back to.
    const first = [...spans.keys()].find((name) => name !== 'ssl');
    if (first !== undefined && given.ssl === undefined)
      reporter.error(MESSAGES.sslAttribute(first), place(first), 'Write .ssl = 1; or remove it.');
    return undefined;
  }
  if (decl.path !== undefined) {
    reporter.error(MESSAGES.sslAndPath(), place('ssl'));
    return undefined;
  }
  for (const [one, other] of OPPOSITES) {
    if (given[one] !== true || given[other] !== true) continue;
    reporter.error(MESSAGES.sslContradiction(one, other), place(one), 'Remove one of them.');
    return undefined;
  }
  const verifyPeer = given.ssl_noverify !== true && given.ssl_verify_peer !== false;
  const verifyHost = given.ssl_noverify !== true && (given.ssl_verify_host ?? verifyPeer);
  const asks = given.ssl_nosni !== true && given.ssl_sni !== false;
  const name = peerName(given, decl);
  if (name === null) {
    const [wrong, from] =
      given.ssl_name !== undefined
        ? [given.ssl_name, 'ssl_name']
        : [decl.hostHeader ?? decl.host ?? '', 'ssl'];
    reporter.error(MESSAGES.sslName(wrong), place(from), 'Let .ssl_name = "origin.example"; say it.');
    return undefined;
  }

  const refused = (problem: PemProblem, span: Span, hint?: string): undefined => {
    const message = MESSAGES.sslFile(problem.file, problem.why);
    if (scope.model.isOffline) reporter.warn(message, span, hint);
    else reporter.error(message, span, hint);
    return undefined;
  };
  const isUnsafe = FILES.some((attribute) => {
    const file = given[attribute];
    if (file?.includes('/') !== true || scope.model.unsafePath) return false;
    reporter.error(MESSAGES.unsafeFile(file), place(attribute), UNSAFE_HINT);
    return true;
  });
  if (isUnsafe) return undefined;

  let ca: string | null = null;
  if (given.ssl_ca !== undefined && !verifyPeer) {
    reporter.error(MESSAGES.sslUnusedCa(), place('ssl_ca'), 'Remove it, or verify the peer.');
    return undefined;
  }
  if (verifyPeer) {
    const span = place(given.ssl_ca === undefined ? 'ssl' : 'ssl_ca');
    const found =
      given.ssl_ca === undefined ? pem.systemAuthorities() : pem.authorities(given.ssl_ca, span.file.name);
    if (typeof found !== 'string')
      return refused(found, span, given.ssl_ca === undefined ? STORE_HINT : undefined);
    ca = found;
  }

  if (given.ssl_cert === undefined && given.ssl_key !== undefined) {
    reporter.error(MESSAGES.sslKeyAlone(), place('ssl_key'));
    return undefined;
  }
  let cert: string | null = null;
  let key: string | null = null;
  if (given.ssl_cert !== undefined) {
    const span = place('ssl_cert');
    const client = pem.client(given.ssl_cert, given.ssl_key ?? null, span.file.name);
    if ('why' in client) return refused(client, client.file === given.ssl_key ? place('ssl_key') : span);
    if (client.ended !== null) reporter.warn(MESSAGES.sslCertEnded(given.ssl_cert, client.ended), span);
    ({ cert, key } = client);
  }
  return {
    name,
    sni: asks && isIP(name) === 0,
    verifyPeer,
    verifyHost,
    ca,
    systemCa: ca !== null && given.ssl_ca === undefined,
    cert,
    key,
  };
}

const FILES = ['ssl_ca', 'ssl_cert', 'ssl_key'] as const;

const OPPOSITES = [
  ['ssl_nosni', 'ssl_sni'],
  ['ssl_noverify', 'ssl_verify_peer'],
  ['ssl_noverify', 'ssl_verify_host'],
] as const;

/** The name that the certificate is to have; null if there is no valid one. */
function peerName(given: TlsAttributes, decl: BackendDecl): string | null {
  const text = given.ssl_name ?? splitHostPort(decl.hostHeader ?? decl.host ?? '').host;
  if (isIP(text) !== 0) return text;
  const ascii = domainToASCII(Buffer.from(text, 'latin1').toString('utf8')).replace(/\.$/, '');
  return /^[a-z0-9_](?:[a-z0-9_.-]{0,252})$/.test(ascii) && isIP(ascii) === 0 ? ascii : null;
}
