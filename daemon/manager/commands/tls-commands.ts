// tls.cert.*: changes of certificates are staged one by one and become active together.

import { resolve } from 'node:path';
import type { CommandReply } from '../../../protocol/messages.ts';
import { cannot, columns, jsonReply, ok } from '../../commands/reply.ts';
import type { CommandCall } from '../../link.ts';
import { CertificateError } from '../tls/certificate-error.ts';
import { daysLeft } from '../tls/certificate-expiry.ts';
import type { CertificateStatus } from '../tls/certificate-store.ts';
import type { LoadedCertificate } from '../tls/load-certificate.ts';
import { type PolicyText, readProtocols } from '../tls/tls-file.ts';
import type { ManagerHandler, ManagerHandlers } from './handler.ts';

/** As shown for certificates of all listeners. */
const GLOBAL = 'default';

const load: ManagerHandler = async ({ tls }, { args, options, values = {} }) => {
  const [first = '', second] = args;
  const policy = readPolicyOptions(values, options.includes('o'), tls.insecure);
  if (typeof policy === 'string') return cannot(policy);
  const cert = resolve(second ?? first);
  const { f: frontend = null, k } = values;
  return answered(async () => {
    const { request, certificate, warnings } = await tls.store.stage({
      id: second === undefined ? null : first,
      frontend: frontend === GLOBAL ? null : frontend,
      files: { cert, key: k === undefined ? null : resolve(k), ocsp: null },
      policy,
      isDefault: options.includes('d'),
    });
    const staged = `Staged as ${request.id}: ${certificate.subject}; tls.cert.commit makes it active.`;
    const unused = tls.isUsed ? [] : ['No listener speaks TLS: -a address,HTTPS makes one'];
    return [staged, ...[...warnings, ...unused].map((text) => `Warning: ${text}`)].join('\n');
  });
};

function readPolicyOptions(
  { p, c, s }: NonNullable<CommandCall['values']>,
  prefersOurs: boolean,
  insecure: boolean,
): PolicyText | string {
  const policy: PolicyText = {};
  if (p !== undefined) {
    const protocols = readProtocols(
      p.split(/[\s,]+/).filter((word) => word !== ''),
      insecure,
    );
    if (typeof protocols === 'string') return `-p: ${protocols}`;
    policy.protocols = protocols;
  }
  if (c !== undefined) policy.ciphers = c;
  if (s !== undefined) policy.ciphersuites = s;
  if (prefersOurs) policy.preferServerCiphers = true;
  return policy;
}

const commit: ManagerHandler = (services) =>
  answered(async () => {
    const { added, discarded } = await services.tls.store.commit();
    services.tls.committed();
    const changes = [
      ...(added.length === 0 ? [] : [`now presented: ${added.join(', ')}`]),
      ...(discarded.length === 0 ? [] : [`no longer: ${discarded.join(', ')}`]),
    ];
    if (changes.length > 0) services.happened('tls', `Certificates were committed; ${changes.join('; ')}`);
    return '';
  });

const rollback: ManagerHandler = ({ tls }) =>
  answered(async () => {
    await tls.store.rollback();
    return '';
  });

const discard: ManagerHandler = async ({ tls }, { args: [id = ''] }) =>
  (await tls.store.discard(id)) ? ok() : cannot('ID not found');

const reload: ManagerHandler = async (services) => {
  const { tls } = services;
  if (tls.store.hasStaged)
    return cannot('There are staged changes: tls.cert.commit or tls.cert.rollback comes first\n');
  return answered(async () => {
    const changed = await tls.store.reload();
    const ids = changed.map(({ request }) => request.id).join(', ');
    if (changed.length > 0) services.happened('tls', `Certificates were loaded from their files: ${ids}`);
    const warnings = changed.flatMap((one) => one.warnings).map((text) => `Warning: ${text}`);
    return [changed.length === 0 ? 'Nothing has changed.' : `Changed: ${ids}`, ...warnings].join('\n');
  });
};

const list: ManagerHandler = ({ tls }, call) => {
  const rows = tls.store.list().filter(({ status }) => !call.options.includes('s') || status !== 'active');
  if (call.json) {
    const now = Date.now() / 1000;
    return jsonReply(
      call,
      rows.map(({ status, entry }) => `\n  ${JSON.stringify(item(status, entry, now))}`).join(','),
    );
  }
  const lines = rows.map(({ status, entry: { request, certificate } }) => [
    request.frontend ?? GLOBAL,
    request.id,
    status,
    certificate.subject,
  ]);
  return ok(columns([['Frontend', 'ID', 'Status', 'Subject'], ...lines]));
};

function item(status: CertificateStatus, entry: LoadedCertificate, now: number): Record<string, unknown> {
  const { request, certificate, facts } = entry;
  const time = (seconds: number): string => new Date(seconds * 1000).toISOString();
  return {
    frontend: request.frontend ?? GLOBAL,
    id: request.id,
    status,
    subject: certificate.subject,
    names: certificate.names,
    issuer: facts.issuer,
    serial: facts.serial,
    notBefore: time(certificate.notBefore),
    notAfter: time(certificate.notAfter),
    fingerprint: certificate.fingerprint,
    daysLeft: daysLeft(certificate, now),
    default: certificate.isDefault,
    ocsp: certificate.ocsp !== null,
    file: request.files?.cert ?? null,
  };
}

/** An operator's mistake is status 300 with its words. */
async function answered(operation: () => Promise<string>): Promise<CommandReply> {
  try {
    const text = await operation();
    return ok(text === '' ? '' : `${text}\n`);
  } catch (cause) {
    if (cause instanceof CertificateError) return cannot(`${cause.message}\n`);
    throw cause;
  }
}

export const TLS_COMMANDS = {
  'tls.cert.commit': commit,
  'tls.cert.discard': discard,
  'tls.cert.list': list,
  'tls.cert.load': load,
  'tls.cert.reload': reload,
  'tls.cert.rollback': rollback,
} satisfies Partial<ManagerHandlers>;
