// Reads the files that settings of listeners name: Diffie-Hellman parameters, and authorities of client certificates.

import { X509Certificate } from 'node:crypto';
import type { TlsFrontend, TlsPolicy } from '../../tls/tls-settings.ts';
import { CertificateError, placed } from './certificate-error.ts';
import type { FrontendPlan } from './frontend-plan.ts';
import { readKeyMaterial } from './key-material-file.ts';
import { foundInstead, pemBlocks } from './pem-blocks.ts';
import { checkContext, DEFAULT_POLICY, readPolicy } from './tls-policy.ts';

/** Throws CertificateError. */
export function loadFrontend(plan: FrontendPlan): TlsFrontend {
  const { name, sniNomatchAbort, matchGlobalCerts, hasOwn, clientVerify, clientCa } = plan;
  const policy: TlsPolicy = { ...DEFAULT_POLICY, ...readPolicy(plan.policy) };
  checkContext(plan.at, policy, null, plan.policy.at);
  return {
    name,
    policy,
    sniNomatchAbort,
    matchGlobalCerts: matchGlobalCerts ?? !hasOwn,
    clientVerify,
    clientCa:
      clientVerify === 'none' || clientCa === null
        ? null
        : placed(plan.clientCaAt, () => readAuthorities(clientCa)),
  };
}

/** Files that the settings of a listener are from. */
export function filesOf({ policy, clientCa }: FrontendPlan): string[] {
  return [policy.dhparam, clientCa].filter((path) => typeof path === 'string');
}

function readAuthorities(path: string): string {
  const { bytes } = readKeyMaterial(path);
  const blocks = pemBlocks(bytes.toString('latin1'));
  const found = blocks.filter(({ label }) => label === 'CERTIFICATE');
  if (found.length === 0)
    throw new CertificateError(
      `${path}: no certificate of an authority but ${foundInstead(bytes, blocks, path)}`,
    );
  for (const [i, { text }] of found.entries()) {
    try {
      new X509Certificate(text);
    } catch {
      throw new CertificateError(`${path}: certificate ${i + 1} in it is damaged; get the file again`);
    }
  }
  return found.map(({ text }) => text).join('');
}
