// The TLS listeners of a daemon: those of -a with HTTPS and those of the file of -A, with their settings and certificates.
// Fixed from the start; certificates change later, by commands.

import type { ListenerSpec } from '../../link.ts';
import type { ClientVerify } from '../../tls/tls-settings.ts';
import { isSamePlace, parseListeners } from '../options/listener-option.ts';
import { OptionError } from '../options/option-error.ts';
import type { TlsOptions } from '../options/tls-option.ts';
import type { CertificateEntry, FrontendEntry, PolicyText, TlsFile, TlsScope } from './tls-file.ts';

/** A TLS listener before its files are read. */
export interface FrontendPlan {
  readonly name: string;
  readonly policy: PolicyText;
  readonly sniNomatchAbort: boolean;
  /** Null: if it has no certificates of its own. */
  readonly matchGlobalCerts: boolean | null;
  /** Whether the file gives it certificates of its own. */
  readonly hasOwn: boolean;
  readonly clientVerify: ClientVerify;
  /** A path. */
  readonly clientCa: string | null;
  readonly clientCaAt: string | null;
  /** For messages. */
  readonly at: string;
}

/** Names of certificates to obtain from an authority. */
export interface AutoCertificate {
  /** As the store's, if the file gives one. */
  readonly id: string | null;
  /** Null: global. */
  readonly frontend: string | null;
  readonly names: readonly string[];
  readonly policy: PolicyText;
}

export interface TlsPlan {
  /** All listeners, with those that the file adds. */
  readonly listeners: ListenerSpec[];
  readonly frontends: readonly FrontendPlan[];
  /** In the order in which they count: those of --cert, of the top of the file, of its frontends. */
  readonly certificates: readonly { readonly frontend: string | null; readonly entry: CertificateEntry }[];
  readonly auto: readonly AutoCertificate[];
}

const EMPTY: TlsScope = {
  policy: {},
  sniNomatchAbort: null,
  clientVerify: null,
  clientCa: null,
  clientCaAt: null,
  certificates: [],
  auto: [],
};

/** @param listeners those of -a. Throws OptionError. */
export function planTls(
  listeners: readonly ListenerSpec[],
  options: TlsOptions,
  file: TlsFile | null,
): TlsPlan {
  const top = file?.top ?? EMPTY;
  const all = [...listeners];
  /** The entry of the file for each listener that has one. */
  const byName = new Map<string, FrontendEntry>();
  let unnamed = 0;
  for (const entry of file?.frontends ?? []) {
    const { name } = findListener(all, entry) ?? addListener(all, entry, () => `tls${unnamed++}`);
    if (byName.has(name))
      throw refused(entry, `the listener ${name} is there twice`, 'make one frontend of both');
    byName.set(name, entry);
  }
  const names = new Set(all.filter(({ tls }) => tls === true).map(({ name }) => name));
  const given = options.certificates.length + options.auto.length;
  if (names.size === 0 && (given > 0 || file !== null))
    throw new OptionError(
      'Certificates without a listener that speaks TLS: add -a :443,HTTPS, or a frontend to the file of -A',
    );
  const global = [...options.certificates.map(fromOption), ...top.certificates];
  return {
    listeners: all,
    frontends: [...names].map((name) => frontendPlan(name, top, byName.get(name))),
    certificates: [
      ...global.map((entry) => ({ frontend: null, entry })),
      ...[...byName].flatMap(([frontend, own]) => own.certificates.map((entry) => ({ frontend, entry }))),
    ],
    auto: [
      ...options.auto.map((auto) => ({ id: null, frontend: null, names: auto, policy: {} })),
      ...top.auto.map(({ id, names: auto, policy }) => ({ id, frontend: null, names: auto, policy })),
      ...[...byName].flatMap(([frontend, own]) =>
        own.auto.map(({ id, names: auto, policy }) => ({ id, frontend, names: auto, policy })),
      ),
    ],
  };
}

function fromOption({ cert, key }: TlsOptions['certificates'][number]): CertificateEntry {
  return { files: { cert, key, ocsp: null }, id: null, policy: {}, at: null };
}

/** The listener of -a that a frontend adds to: one with its address, or with its name where it has no address. */
function findListener(listeners: readonly ListenerSpec[], entry: FrontendEntry): ListenerSpec | null {
  const named = listeners.find(({ name }) => name === entry.name);
  let found = named;
  if (entry.address !== null || named === undefined) {
    const wanted = listenerOf(entry, entry.name ?? 'x');
    found = listeners.find((each) => isSamePlace(each, wanted));
    if (named !== undefined && named !== found)
      throw refused(entry, `${named.text} has the name ${entry.name}, too`, 'take another name');
    if (found !== undefined && entry.name !== null && found.name !== entry.name)
      throw refused(
        entry,
        `-a ${found.text} has this address and the name ${found.name}`,
        'take that name, or none',
      );
  }
  if (found === undefined) return null;
  if (found.tls === true) return found;
  throw refused(
    entry,
    `-a ${found.text} has this address and speaks no TLS`,
    'add ,HTTPS to it, or take another port',
  );
}

function addListener(listeners: ListenerSpec[], entry: FrontendEntry, nextName: () => string): ListenerSpec {
  const spec = listenerOf(entry, entry.name ?? nextName());
  listeners.push(spec);
  return spec;
}

/** Without an address it is port 443 of the machine. */
function listenerOf(entry: FrontendEntry, name: string): ListenerSpec {
  try {
    return parseListeners([`${name}=${entry.address ?? ':443'},HTTPS`])[0] as ListenerSpec;
  } catch (cause) {
    if (cause instanceof OptionError)
      throw refused({ at: entry.addressAt }, cause.message, 'see -a of proxyd(1)');
    throw cause;
  }
}

function frontendPlan(name: string, top: TlsScope, own: FrontendEntry | undefined): FrontendPlan {
  const clientVerify = own?.clientVerify ?? top.clientVerify ?? 'none';
  const clientCa = own?.clientCa ?? top.clientCa;
  const at = own?.at ?? `listener ${name}`;
  if (clientVerify !== 'none' && clientCa === null)
    throw new OptionError(
      `-A ${at}: client-verify = ${clientVerify} without authorities; add client-verify-ca = "FILE"`,
      false,
    );
  return {
    name,
    policy: { ...top.policy, ...own?.policy, at: { ...top.policy.at, ...own?.policy.at } },
    sniNomatchAbort: own?.sniNomatchAbort ?? top.sniNomatchAbort ?? false,
    matchGlobalCerts: own === undefined ? true : own.matchGlobalCerts,
    hasOwn: (own?.certificates.length ?? 0) + (own?.auto.length ?? 0) > 0,
    clientVerify,
    clientCa,
    clientCaAt: own?.clientCaAt ?? top.clientCaAt,
    at,
  };
}

function refused({ at }: Pick<FrontendEntry, 'at'>, what: string, hint: string): OptionError {
  return new OptionError(`-A ${at}: ${what}; ${hint}`, false);
}
