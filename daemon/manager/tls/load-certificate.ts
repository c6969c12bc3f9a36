// Makes a certificate as the worker gets it from PEM: from files, or from an authority. Everything is checked here: kinds
// of blocks, rights, that the key is that of the certificate, dates, stapling, and that OpenSSL takes it all.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { TlsCertificate, TlsPolicy } from '../../tls/tls-settings.ts';
import { CertificateError } from './certificate-error.ts';
import { type CertificateFacts, certificateFacts } from './certificate-facts.ts';
import { checkKeyAccess, type KeyMaterialFile, readKeyMaterial } from './key-material-file.ts';
import { readOcsp } from './ocsp-response.ts';
import { foundInstead, isEncrypted, type PemBlock, pemBlocks } from './pem-blocks.ts';
import type { CertificateFiles, PolicyText } from './tls-file.ts';
import { checkContext, DEFAULT_POLICY, dhparamProblem, readPolicy } from './tls-policy.ts';

/** Sources and settings of a certificate. */
export interface CertificateRequest {
  readonly id: string;
  /** Null: global. */
  readonly frontend: string | null;
  /** Null: installed by the program, such as from an authority; it is in memory only. */
  readonly files: CertificateFiles | null;
  readonly policy: PolicyText;
  readonly isDefault: boolean;
  /** `file:line:column` in the file of -A; null elsewhere. */
  readonly at?: string | null;
}

export interface LoadedCertificate {
  readonly request: CertificateRequest;
  readonly certificate: TlsCertificate;
  readonly facts: CertificateFacts;
  /** Epoch seconds at which its OCSP response is outdated; null for never. */
  readonly ocspUntil: number | null;
  /** For the operator: where, what, and what to do. */
  readonly warnings: readonly string[];
}

/** Certificates of a chain (chosen): real ones have two or three. */
const LONGEST_CHAIN = 20;
const KEY = /^(?:RSA |EC |DSA )?PRIVATE KEY$/;

interface Pair {
  readonly chain: readonly PemBlock[];
  readonly key: PemBlock;
  readonly dhparam: string | null;
}

/** @param now epoch seconds. Throws CertificateError. */
export function loadCertificate(
  request: CertificateRequest & { readonly files: CertificateFiles },
  now: number,
): LoadedCertificate {
  const { files } = request;
  const warnings: string[] = [];
  const main = readKeyMaterial(files.cert);
  const pair = readPair(main, files.key, warnings);
  const made = makeCertificate(request, files.cert, pair, warnings, now);
  const ocsp = readStaple(files, made.facts.serial, warnings, now);
  return {
    ...made,
    certificate: { ...made.certificate, ocsp: ocsp?.base64 ?? null },
    ocspUntil: ocsp?.until ?? null,
  };
}

/** A certificate that is not in files. @param texts PEM. Throws CertificateError. */
export function certificateOf(
  request: CertificateRequest,
  texts: { readonly chain: string; readonly key: string },
  now: number,
): LoadedCertificate {
  const where = `certificate ${request.id}`;
  const chain = pemBlocks(texts.chain).filter(({ label }) => label === 'CERTIFICATE');
  const key = onlyKey(pemBlocks(texts.key), where);
  if (chain.length === 0 || key === null)
    throw new CertificateError(`${where}: certificate or key is missing`);
  return makeCertificate(request, where, { chain, key, dhparam: null }, [], now);
}

function readPair(main: KeyMaterialFile, keyPath: string | null, warnings: string[]): Pair {
  const blocks = pemBlocks(main.bytes.toString('latin1'));
  const chain = blocks.filter(({ label }) => label === 'CERTIFICATE');
  if (chain.length === 0) {
    const found = foundInstead(main.bytes, blocks, main.path);
    throw new CertificateError(`${main.path}: no certificate but ${found}`);
  }
  const keyFile = keyPath === null ? main : readKeyMaterial(keyPath);
  const keyBlocks = keyPath === null ? blocks : pemBlocks(keyFile.bytes.toString('latin1'));
  const key = onlyKey(keyBlocks, keyFile.path);
  if (key === null && keyPath === null)
    throw new CertificateError(
      `${main.path}: it has no private key; add it to the file, or name its file: --cert FILE,key=FILE, private-key = "FILE", tls.cert.load FILE -k FILE`,
    );
  if (key === null) {
    const found = foundInstead(keyFile.bytes, keyBlocks, keyFile.path);
    throw new CertificateError(`${keyFile.path}: no private key but ${found}`);
  }
  const warning = checkKeyAccess(keyFile);
  if (warning !== null) warnings.push(warning);
  const dhparam = blocks.find(({ label }) => label === 'DH PARAMETERS')?.text ?? null;
  const problem = dhparam === null ? null : dhparamProblem(dhparam);
  if (problem !== null) throw new CertificateError(`${main.path}: ${problem}`);
  return { chain, key, dhparam };
}

function onlyKey(blocks: readonly PemBlock[], where: string): PemBlock | null {
  const encrypted = blocks.find(isEncrypted);
  if (encrypted !== undefined)
    throw new CertificateError(
      `${where}: the key is encrypted, and there is nobody to ask for its password; type: openssl pkey -in ${where} -out FILE, then chmod 600 FILE`,
    );
  const keys = blocks.filter(({ label }) => KEY.test(label));
  if (keys.length > 1)
    throw new CertificateError(`${where}: it has ${keys.length} private keys; leave one in it`);
  return keys[0] ?? null;
}

function makeCertificate(
  request: CertificateRequest,
  where: string,
  { chain, key, dhparam }: Pair,
  warnings: string[],
  now: number,
): LoadedCertificate {
  if (chain.length > LONGEST_CHAIN)
    throw new CertificateError(
      `${where}: a chain of ${chain.length} certificates; leave at most ${LONGEST_CHAIN} in it`,
    );
  const parsed = chain.map(({ text }, i) => parseCertificate(text, where, i + 1));
  const [leaf] = parsed as [X509Certificate, ...X509Certificate[]];
  checkKey(parsed, key, request.files?.key ?? where, where);
  const facts = certificateFacts(leaf);
  if (Number.isNaN(facts.notBefore + facts.notAfter))
    throw new CertificateError(`${where}: the dates of the certificate cannot be read; get a new one`);
  warnings.push(...certificateWarnings(parsed, facts, where, now));
  const own = readPolicy(request.policy);
  const policy: Partial<TlsPolicy> =
    dhparam === null || own.dhparam !== undefined ? own : { ...own, dhparam };
  const text = chain.map((block) => block.text).join('');
  checkContext(where, { ...DEFAULT_POLICY, ...policy }, { cert: text, key: key.text }, request.policy.at);
  const { id, frontend, isDefault } = request;
  const { names, subject, notBefore, notAfter, fingerprint } = facts;
  return {
    request,
    certificate: {
      id,
      frontend,
      chain: text,
      key: key.text,
      names,
      isDefault,
      ocsp: null,
      subject,
      notBefore,
      notAfter,
      fingerprint,
      policy,
    },
    facts,
    ocspUntil: null,
    warnings,
  };
}

function parseCertificate(text: string, where: string, number: number): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch {
    throw new CertificateError(`${where}: certificate ${number} in it is damaged; get the file again`);
  }
}

/** The error of the runtime is left out: nothing of a key may be in a message. */
function checkKey(chain: readonly X509Certificate[], key: PemBlock, keyWhere: string, where: string): void {
  let owner: number;
  try {
    const parsed = createPrivateKey(key.text);
    owner = chain.findIndex((one) => one.checkPrivateKey(parsed));
  } catch {
    throw new CertificateError(
      `${keyWhere}: the private key is damaged or of an unknown kind; get the file again`,
    );
  }
  if (owner === 0) return;
  if (owner < 0)
    throw new CertificateError(
      `${keyWhere}: the private key is not that of the certificate in ${where}; name the key that the certificate was made for`,
    );
  throw new CertificateError(
    `${where}: the private key is that of certificate ${owner + 1}; put that certificate first`,
  );
}

function certificateWarnings(
  chain: readonly X509Certificate[],
  { names, notBefore, notAfter }: CertificateFacts,
  where: string,
  now: number,
): string[] {
  const warnings: string[] = [];
  const date = (seconds: number): string => new Date(seconds * 1000).toISOString();
  if (notAfter <= now)
    warnings.push(`${where}: it expired on ${date(notAfter)}; clients will refuse it: renew it`);
  if (notBefore > now)
    warnings.push(`${where}: it is not valid before ${date(notBefore)}; see whether the clock is right`);
  if (names.length === 0)
    warnings.push(
      `${where}: it has no names, and is presented only where no name matches; get one with names`,
    );
  const broken = chain.findIndex((one, i) => i > 0 && chain[i - 1]?.checkIssued(one) === false);
  if (broken > 0)
    warnings.push(
      `${where}: certificate ${broken + 1} did not sign certificate ${broken}; put them into the order of their signatures`,
    );
  return warnings;
}

function readStaple(
  files: CertificateFiles,
  serial: string,
  warnings: string[],
  now: number,
): { base64: string; until: number | null } | null {
  const path = staplePath(files);
  if (files.ocsp === null && !existsSync(path)) return null;
  const { bytes } = readKeyMaterial(path);
  const facts = readOcsp(bytes, serial, now);
  if (typeof facts !== 'string') return { base64: bytes.toString('base64'), until: facts.until };
  warnings.push(`${path}: ${facts}; no OCSP response is stapled`);
  return null;
}

/** Where the OCSP response of a certificate is looked for. */
export function staplePath({ ocsp, cert }: CertificateFiles): string {
  return ocsp ?? `${cert}.ocsp`;
}
