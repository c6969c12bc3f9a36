// The file of -A as data: frontends, certificates and policies, each with its place for later errors. Checks all that
// the text alone allows; the files that it names are read when certificates are loaded.

import { resolve } from 'node:path';
import type { ClientVerify, TlsProtocol } from '../../tls/tls-settings.ts';
import { autoNames } from './auto-names.ts';
import { mistake, parseTlsBlocks, type TlsFileBlock, type TlsFileValue } from './tls-file-parser.ts';

/** A policy as far as it is given; paths are absolute. */
export interface PolicyText {
  protocols?: readonly TlsProtocol[];
  ciphers?: string;
  ciphersuites?: string;
  preferServerCiphers?: boolean;
  ecdhCurve?: string;
  /** A path. */
  dhparam?: string;
  /** Places of the settings in a file, for errors that OpenSSL or a later read finds. */
  at?: PolicyPlaces;
}

export type PolicyPlaces = Readonly<
  Partial<Record<'ciphers' | 'ciphersuites' | 'ecdhCurve' | 'dhparam', string>>
>;

/** Where a certificate is read from; absolute paths. */
export interface CertificateFiles {
  readonly cert: string;
  /** Null: in the file of the certificate. */
  readonly key: string | null;
  /** Null: the certificate's with `.ocsp`, if there is one. */
  readonly ocsp: string | null;
}

export interface CertificateEntry {
  readonly files: CertificateFiles;
  /** Null: to be made up. */
  readonly id: string | null;
  readonly policy: PolicyText;
  /** `file:line:column`; null for one of an option. */
  readonly at: string | null;
}

/** A certificate to obtain from an authority. */
export interface AutoEntry {
  /** In lower case. */
  readonly names: readonly string[];
  readonly policy: PolicyText;
  readonly id: string | null;
  readonly at: string;
}

/** Settings of the top, which are the defaults of frontends, or of a frontend. */
export interface TlsScope {
  readonly policy: PolicyText;
  readonly sniNomatchAbort: boolean | null;
  readonly clientVerify: ClientVerify | null;
  /** An absolute path. */
  readonly clientCa: string | null;
  readonly clientCaAt: string | null;
  readonly certificates: readonly CertificateEntry[];
  readonly auto: readonly AutoEntry[];
}

export interface FrontendEntry extends TlsScope {
  readonly name: string | null;
  readonly matchGlobalCerts: boolean | null;
  /** As in -a; null where neither host nor port is given. */
  readonly address: string | null;
  readonly at: string;
  /** Where its port is, or its host. */
  readonly addressAt: string;
}

export interface TlsFile {
  readonly top: TlsScope;
  readonly frontends: readonly FrontendEntry[];
}

export interface TlsFileRules {
  /** Whether TLS 1.0 and 1.1 are allowed (--insecure-tls). */
  readonly insecure: boolean;
  warn(text: string): void;
}

const PROTOCOLS: Readonly<Record<string, TlsProtocol>> = {
  tlsv1: 'TLSv1',
  'tlsv1.0': 'TLSv1',
  'tlsv1.1': 'TLSv1.1',
  'tlsv1.2': 'TLSv1.2',
  'tlsv1.3': 'TLSv1.3',
};
const NAME = /^[A-Za-z][A-Za-z0-9_-]*$/;
/** Of a certificate: no blanks, since it is a word of commands. */
const ID = /^[\w.:@*+-]{1,128}$/;

/** Throws TlsFileError. */
export function parseTlsFile(text: string, file: string, rules: TlsFileRules): TlsFile {
  const top = parseTlsBlocks(text, file, rules.warn);
  const frontends = top.blocks
    .filter(([key]) => key === 'frontend')
    .map(([, block]) => frontend(block, rules));
  return { top: scope(top, rules), frontends };
}

function scope(block: TlsFileBlock, rules: TlsFileRules): TlsScope {
  const { values } = block;
  const certificates = block.blocks.filter(([key]) => key === 'pem-file').map(([, one]) => one);
  const isAuto = (one: TlsFileBlock): boolean => one.values.get('cert')?.words[0] === 'auto';
  const clientVerify = (one(values, 'client-verify') as ClientVerify | null) ?? null;
  const clientCa = path(values, 'client-verify-ca');
  return {
    policy: policy(values, rules),
    sniNomatchAbort: flag(values, 'sni-nomatch-abort'),
    clientVerify,
    clientCa,
    clientCaAt: values.get('client-verify-ca')?.at ?? null,
    certificates: certificates.filter((each) => !isAuto(each)).map((each) => certificate(each, rules)),
    auto: certificates.filter(isAuto).map((each) => automatic(each, rules)),
  };
}

function frontend(block: TlsFileBlock, rules: TlsFileRules): FrontendEntry {
  const { values, at } = block;
  const short = values.get('');
  const own = scope(block, rules);
  if (short !== undefined) {
    // hitch takes a certificate after a plus sign.
    const [address = '', file] = (short.words[0] ?? '').split('+', 2);
    if (address === '') throw mistake(at, 'frontend is empty', 'write frontend = "[host]:port"');
    const certificates = file === undefined ? [] : [plainCertificate(file, at)];
    return {
      ...own,
      certificates,
      name: null,
      matchGlobalCerts: null,
      address: withoutStar(address),
      at,
      addressAt: at,
    };
  }
  const name = one(values, 'name');
  if (name !== null && !NAME.test(name))
    throw mistake(
      values.get('name')?.at ?? at,
      `"${name}" is not a name of a listener`,
      'write letters, digits, - and _, a letter first',
    );
  return {
    ...own,
    name,
    matchGlobalCerts: flag(values, 'match-global-certs'),
    address: addressOf(values),
    at,
    addressAt: (values.get('port') ?? values.get('host'))?.at ?? at,
  };
}

/** `[*]:443` is any address. */
function withoutStar(address: string): string {
  return address.replace(/^\[\*\]|^\[\](?=:)/, '');
}

function addressOf(values: TlsFileBlock['values']): string | null {
  const host = one(values, 'host');
  const port = one(values, 'port');
  if (host === null && port === null) return null;
  if (host?.startsWith('/') === true) return host;
  const place = host === null || host === '*' ? '' : host;
  return `${place.includes(':') && !place.startsWith('[') ? `[${place}]` : place}:${port ?? '443'}`;
}

function certificate(block: TlsFileBlock, rules: TlsFileRules): CertificateEntry {
  const { values, at } = block;
  const short = values.get('');
  if (short !== undefined) return plainCertificate(short.words[0] ?? '', at);
  const cert = path(values, 'cert');
  if (cert === null) throw mistake(at, 'pem-file has no cert', 'add cert = "file"');
  const names = values.get('names');
  if (names !== undefined) throw mistake(names.at, 'names are for cert = "auto"', 'remove them');
  return {
    files: { cert, key: path(values, 'private-key'), ocsp: path(values, 'ocsp-resp-file') },
    id: idOf(values, at),
    policy: policy(values, rules),
    at,
  };
}

function plainCertificate(file: string, at: string): CertificateEntry {
  if (file === '') throw mistake(at, 'pem-file is empty', 'write the name of a file');
  return { files: { cert: resolve(file), key: null, ocsp: null }, id: null, policy: {}, at };
}

function automatic({ values, at }: TlsFileBlock, rules: TlsFileRules): AutoEntry {
  for (const key of ['private-key', 'ocsp-resp-file']) {
    const value = values.get(key);
    if (value !== undefined) throw mistake(value.at, `cert = "auto" has no ${key}`, 'remove it');
  }
  const names = autoNames(values.get('names')?.words ?? []);
  if (typeof names === 'string')
    throw mistake(values.get('names')?.at ?? at, names, 'write names = a.example, b.example');
  return { names, policy: policy(values, rules), id: idOf(values, at), at };
}

function policy(values: TlsFileBlock['values'], rules: TlsFileRules): PolicyText {
  const made: PolicyText = {};
  const protocols = values.get('tls-protos');
  if (protocols !== undefined) {
    const read = readProtocols(protocols.words, rules.insecure);
    if (typeof read === 'string') throw mistake(protocols.at, ...split(read));
    made.protocols = read;
  }
  const ciphers = one(values, 'ciphers');
  if (ciphers !== null) made.ciphers = ciphers;
  const ciphersuites = one(values, 'ciphersuites');
  if (ciphersuites !== null) made.ciphersuites = ciphersuites;
  const prefer = flag(values, 'prefer-server-ciphers');
  if (prefer !== null) made.preferServerCiphers = prefer;
  const curve = one(values, 'ecdh-curve');
  if (curve !== null) made.ecdhCurve = curve;
  const dhparam = path(values, 'dhparam');
  if (dhparam !== null) made.dhparam = dhparam;
  const places = Object.entries(PLACED).flatMap(([setting, key]) => {
    const at = values.get(key)?.at;
    return at === undefined ? [] : [[setting, at]];
  });
  if (places.length > 0) made.at = Object.fromEntries(places);
  return made;
}

/** Keys of the settings whose places are kept. */
const PLACED: Readonly<Record<keyof PolicyPlaces, string>> = {
  ciphers: 'ciphers',
  ciphersuites: 'ciphersuites',
  ecdhCurve: 'ecdh-curve',
  dhparam: 'dhparam',
};

function split(text: string): [string, string] {
  const at = text.indexOf('; ');
  return [text.slice(0, at), text.slice(at + 2)];
}

/** Versions by their names in any case, the oldest first; or `what; hint`. */
export function readProtocols(words: readonly string[], insecure: boolean): TlsProtocol[] | string {
  const given = new Set<TlsProtocol>();
  for (const word of words) {
    const known = word.toLowerCase();
    if (/^sslv[23]$/.test(known)) return `${word} is broken and not supported; write TLSv1.2 TLSv1.3`;
    const protocol = Object.hasOwn(PROTOCOLS, known) ? PROTOCOLS[known] : undefined;
    if (protocol === undefined) return `"${word.slice(0, 40)}" is no version of TLS; write TLSv1.2 TLSv1.3`;
    if (!insecure && (protocol === 'TLSv1' || protocol === 'TLSv1.1'))
      return `${word} is insecure (RFC 8996) and refused; remove it, or start proxyd with --insecure-tls`;
    given.add(protocol);
  }
  if (given.size === 0) return 'no version of TLS is named; write TLSv1.2 TLSv1.3';
  return [...given].sort();
}

/** Whether a text can be the id of a certificate. */
export function isCertificateId(id: string): boolean {
  return ID.test(id) && !id.startsWith('-');
}

function idOf(values: TlsFileBlock['values'], at: string): string | null {
  const id = one(values, 'id');
  if (id === null || isCertificateId(id)) return id;
  throw mistake(
    values.get('id')?.at ?? at,
    `"${id.slice(0, 40)}" cannot be an id`,
    'write up to 128 letters, digits and . - _ : @ * +',
  );
}

function one(values: TlsFileBlock['values'], key: string): string | null {
  return values.get(key)?.words[0] ?? null;
}

function flag(values: TlsFileBlock['values'], key: string): boolean | null {
  const word = one(values, key);
  return word === null ? null : word === 'on';
}

function path(values: ReadonlyMap<string, TlsFileValue>, key: string): string | null {
  const value = values.get(key);
  if (value === undefined) return null;
  const [word = ''] = value.words;
  if (word === '' || word.includes('\0'))
    throw mistake(value.at, `${key} is empty`, 'write the name of a file');
  return resolve(word);
}
