// Checks `backend` and `probe` declarations field by field; each becomes plain data in the compiled program.
// A host name must resolve when the program is compiled, as in Varnish, but is kept as a name.

import { statSync } from 'node:fs';
import { isIP } from 'node:net';
import type { BackendDecl, ProbeDecl } from '../../contract/program.ts';
import type { Declaration, Expr, Field } from '../ast.ts';
import { nearest, type Span } from '../diagnostics.ts';
import { MESSAGES } from '../error-texts.ts';
import { BACKEND_FIELDS, type FieldRow, LIMITS, PROBE_DEFAULTS, PROBE_FIELDS } from '../tables/language.ts';
import { constantNumber } from '../typed-program.ts';
import { knownService, splitHostPort } from './addresses.ts';
import { checkTls, isTlsAttribute, type TlsAttributes } from './backend-tls.ts';
import { check, checkBlob, type Scope } from './type-conversions.ts';
import { checkVia, viaName } from './via-backends.ts';

/** Validators by attribute: the reason why a value is not allowed, or null. Other attributes accept any value of
 * their type. */
const VALUE_CHECKS: Readonly<Record<string, (value: never) => string | null>> = {
  path: (v: string) =>
    !v.startsWith('/') && !/^@./.test(v)
      ? 'Must be an absolute path, or @ with the name of an abstract socket'
      : v.length > LIMITS.socketPath.value
        ? `Path too long for a Unix domain socket (${LIMITS.socketPath.value} characters)`
        : null,
  proxy_header: (v: number) => (v === 1 || v === 2 ? null : '.proxy_header must be 1 or 2'),
  expected_response: (v: number) =>
    v >= 100 && v <= 999
      ? null
      : 'Must specify .expected_response with exactly three digits (100 <= x <= 999)',
};

/** The property of the declaration: `hostHeader` for `host_header`. */
function propertyOf(field: string): string {
  return field.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

const FETCH_TIMEOUTS = ['connectTimeout', 'firstByteTimeout', 'betweenBytesTimeout'] as const;
const LOOPBACK = ['127.0.0.1', '::1'];

export function checkBackend(scope: Scope, d: Extract<Declaration, { k: 'backend' }>): BackendDecl {
  const { reporter } = scope.model;
  const decl: BackendDecl = { name: d.name.text };
  if (d.none) {
    decl.none = true;
    return decl;
  }
  const attributes: TlsAttributes = {};
  readFields(scope, d.fields, BACKEND_FIELDS, decl, attributes);
  if (!scope.model.changes.zeroTimeouts) {
    for (const name of FETCH_TIMEOUTS) if (decl[name] === 0) delete decl[name];
  }
  const givenHeader = decl.hostHeader;
  const host = valueSpan(d.fields, 'host');
  const path = valueSpan(d.fields, 'path');
  if (host !== undefined && path !== undefined) {
    reporter.error(MESSAGES.hostAndPath(), path);
  } else if (host === undefined && path === undefined) {
    reporter.error(MESSAGES.noHost(decl.name), d.name.span);
  }
  if (decl.host !== undefined && host !== undefined) checkHost(scope, decl, host);
  if (decl.path !== undefined && path !== undefined) checkPath(scope, decl.path, path);
  const spans = new Map(
    d.fields
      .filter(({ name }) => isTlsAttribute(name))
      .map((f) => [f.name, f.values[0]?.span ?? f.nameSpan] as const),
  );
  const tls = checkTls(scope, decl, attributes, spans, d.name.span);
  if (tls !== undefined) decl.tls = tls;
  checkVia(scope, decl, givenHeader, d);
  return decl;
}

/** Position of a field's value; undefined if the field is missing. */
function valueSpan(fields: readonly Field[], name: string): Span | undefined {
  const f = fields.find((x) => x.name === name);
  return f === undefined ? undefined : (f.values[0]?.span ?? f.nameSpan);
}

function checkHost(scope: Scope, decl: BackendDecl, span: Span): void {
  const { host, port } = splitHostPort(decl.host as string);
  if (port !== null && decl.port !== undefined) {
    scope.model.reporter.error(MESSAGES.twoPorts(decl.host as string), span);
    return;
  }
  decl.host = host;
  if (port !== null) {
    decl.port = port;
    // The Host of a probe or of a request without one is that of the declaration, as in Varnish.
    decl.hostHeader ??= `${host.includes(':') ? `[${host}]` : host}:${port}`;
  }
  if (decl.port !== undefined && !/^\d+$/.test(decl.port) && !knownService(decl.port)) {
    scope.model.reporter.error(MESSAGES.unknownPort(decl.port), span);
  }
  if (/^\d+$/.test(decl.port ?? '80') && Number(decl.port ?? 80) > 65535) {
    scope.model.reporter.error(MESSAGES.portRange(decl.port), span);
  }
  if (isIP(host) !== 0) return;
  if (host === '' && decl.port !== undefined) {
    // A port alone means the local host.
    decl.host = 'localhost';
    decl.addresses = [...LOOPBACK];
    return;
  }
  const found = host === '' ? [] : [...new Set(scope.model.resolveHost(host))];
  if (found.length === 0) {
    scope.model.reporter.error(
      MESSAGES.unknownHost(host),
      span,
      'Names are resolved when the program is loaded.',
    );
    return;
  }
  decl.addresses = found;
  const crowded = [4, 6].some((family) => found.filter((a) => isIP(a) === family).length > 1);
  if (decl.resolve !== undefined || !crowded) return;
  scope.model.reporter.error(
    MESSAGES.manyAddresses(host, found),
    span,
    'Name one address, or let .resolve = 30s; use them all and look for new ones.',
  );
}

/** The socket may be created later, but an existing file must be a socket. */
function checkPath(scope: Scope, path: string, span: Span): void {
  const { reporter, syntax } = scope.model;
  if (syntax < 41) {
    reporter.error(MESSAGES.pathVersion(), span);
    return;
  }
  if (path.startsWith('@')) return;
  try {
    if (!statSync(path).isSocket()) reporter.error(MESSAGES.noSocket(), span);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'EACCES' ? 'Permission denied' : 'No such file or directory';
    reporter.warn(MESSAGES.unknownPath(why), span);
  }
}

export function checkProbe(scope: Scope, name: string | null, fields: readonly Field[], at: Span): ProbeDecl {
  const { reporter } = scope.model;
  const decl: ProbeDecl = {};
  if (name !== null) decl.name = name;
  const spans = readFields(scope, fields, PROBE_FIELDS, decl);
  const request = spans.get('request');
  if (request !== undefined && spans.has('url')) {
    reporter.error(MESSAGES.urlAndRequest(), request);
  }
  const threshold = decl.threshold ?? PROBE_DEFAULTS.threshold;
  const window = decl.window ?? threshold + 1;
  if (decl.window !== undefined && decl.threshold === undefined) {
    reporter.error(MESSAGES.windowAlone(), spans.get('window') ?? at);
  }
  const place = (field: string): Span => spans.get(field) ?? at;
  if (decl.window !== undefined && window > LIMITS.probeWindow.value)
    reporter.error(MESSAGES.windowTooLarge(), place('window'));
  if (window < 1) reporter.error(MESSAGES.windowTooSmall(), place('window'));
  if (threshold > LIMITS.probeWindow.value) reporter.error(MESSAGES.thresholdTooLarge(), place('threshold'));
  else if (threshold > window) {
    reporter.error(MESSAGES.thresholdBeyondWindow(), place('threshold'));
  }
  return decl;
}

function readFields(
  scope: Scope,
  fields: readonly Field[],
  rows: readonly FieldRow[],
  decl: object,
  attributes: object = {},
): Map<string, Span> {
  const { reporter } = scope.model;
  const seen = new Map<string, Span>();
  for (const f of fields) {
    const row = rows.find(({ name }) => name === f.name);
    if (row === undefined) {
      const names = rows.map(({ name }) => name);
      const near = nearest(f.name, names);
      const hint = near === null ? `Known fields: ${names.join(', ')}.` : `Did you mean '.${near}'?`;
      reporter.error(MESSAGES.unknownField(f.name), f.nameSpan, hint);
      continue;
    }
    const first = seen.get(f.name);
    if (first !== undefined) {
      reporter.error(MESSAGES.fieldTwice(f.name), f.nameSpan, undefined, [
        { message: 'First definition:', span: first },
      ]);
      continue;
    }
    seen.set(f.name, f.nameSpan);
    const value = fieldValue(scope, f, row);
    if (value === undefined) continue;
    const problem = VALUE_CHECKS[row.name]?.(value as never) ?? null;
    if (problem !== null) reporter.error(MESSAGES.fieldProblem(problem), f.nameSpan);
    else if (isTlsAttribute(row.name)) Object.assign(attributes, { [row.name]: value });
    else Object.assign(decl, { [propertyOf(row.name)]: value });
  }
  return seen;
}

/** The constant value of a field; undefined after reporting an error. */
function fieldValue(scope: Scope, f: Field, { type, digits }: FieldRow): unknown {
  const { reporter, symbols } = scope.model;
  const first = f.values[0];
  if (type === 'PROBE') {
    if (f.body !== null) return checkProbe(scope, null, f.body, f.nameSpan);
    const name = first?.k === 'path' ? first.parts.map((p) => p.text).join('.') : '';
    if (name.toLowerCase() === 'default') {
      if (scope.model.defaultProbe !== null) return scope.model.defaultProbe;
      const hint = 'Declare `probe default { … }` ahead of it, or leave the field out.';
      reporter.error(MESSAGES.noDefaultProbe(), first?.span ?? f.nameSpan, hint);
      return undefined;
    }
    const sym = symbols.get(name);
    if (sym?.kind === 'probe') {
      sym.used = true;
      return sym.decl;
    }
    const probes = [...symbols.values()].flatMap((s) => (s.kind === 'probe' ? [s.name] : []));
    const near = nearest(name, probes);
    const message = name === '' ? MESSAGES.noProbeName() : MESSAGES.notFound(name);
    reporter.error(message, first?.span ?? f.nameSpan, near === null ? undefined : `Did you mean '${near}'?`);
    return undefined;
  }
  if (type === 'BACKEND') return viaName(scope, first, f.nameSpan);
  if (first === undefined) {
    reporter.error(MESSAGES.fieldWithoutBlock(f.name), f.nameSpan);
    return undefined;
  }
  if (f.name === 'request') {
    const lines: string[] = [];
    for (const v of f.values) {
      if (v.k === 'string') lines.push(v.value);
      else reporter.error(MESSAGES.fieldText(), v.span);
    }
    return lines;
  }
  if (f.values.length > 1) reporter.error(MESSAGES.semicolonAfterField(), (f.values[1] as Expr).span);
  if (type === 'STRING') {
    if (first.k === 'string') return first.value;
    const hint = f.name === 'port' ? 'Ports are written in quotes: .port = "80";' : undefined;
    reporter.error(MESSAGES.fieldTakes(f.name, 'a string in quotes'), first.span, hint);
    return undefined;
  }
  if (type === 'BLOB') {
    if (first.k === 'blob') return checkBlob(reporter, first.value, first.span) ? first.value : undefined;
    reporter.error(MESSAGES.fieldTakes(f.name, 'a BLOB'), first.span);
    return undefined;
  }
  if (type === 'BOOL') {
    const word =
      first.k === 'path' && first.parts.length === 1 ? first.parts[0]?.text.toLowerCase() : undefined;
    if (word === 'true' || word === 'false') return word === 'true';
    if (digits === true && first.k === 'number' && /^[01]$/.test(first.text)) return first.text === '1';
    const words = digits === true ? '1 or 0' : 'true or false';
    reporter.error(MESSAGES.fieldTakes(f.name, words), first.span);
    return undefined;
  }
  if (first.k !== 'number' && first.k !== 'negate') {
    reporter.error(MESSAGES.fieldTakes(f.name, `a ${type}`), first.span);
    return undefined;
  }
  const v = constantNumber(check(scope, first, type).code) ?? Number.NaN;
  if (v < 0) reporter.error(MESSAGES.negativeField(f.name), first.span);
  return v;
}
