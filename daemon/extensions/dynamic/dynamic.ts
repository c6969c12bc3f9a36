// The extension dynamic: backends by names that are looked up again and again, also names of requests. Follows
// libvmod-dynamic.
//
// A director of a host is there at once. Its first lookup is waited for by the fetch that needs an address, not by the
// program (Director.pending).

import type { Director, VclContext } from '../../contract/context.ts';
import type { Extension, ExtensionObject } from '../../contract/extension.ts';
import { ExtensionError } from '../../contract/failure.ts';
import type { ProbeDecl, RunTimeDecl } from '../../contract/program.ts';
import type { VclAcl } from '../../vcl/runtime/acl.ts';
import { declaredBackend, tlsBackend } from '../declared-backend.ts';
import { byName, row } from '../extension-rows.ts';
import { DynamicDirector, type TtlFrom } from './dynamic-director.ts';
import { type Names, systemNames } from './names.ts';
import { ResolverBlob, resolver } from './resolver.ts';

type Text = string | null;

/** Attributes of backends: a number that is not positive is the default. */
function attributesOf(
  given: Readonly<Partial<Record<keyof RunTimeDecl, number>>>,
  probe: ProbeDecl | null,
  via: string | null,
): RunTimeDecl {
  const positive = Object.entries(given).filter(([, value]) => value > 0);
  return {
    ...Object.fromEntries(positive),
    ...(probe === null ? {} : { probe }),
    ...(via === null ? {} : { via }),
  };
}

/** The name of the backend of `via`. */
function viaOf(ctx: VclContext, name: string, via: Director | null): string | null {
  if (via === null) return null;
  const decl = declaredBackend(ctx, via);
  if (decl === null || decl.via !== undefined)
    throw new ExtensionError(`dynamic.director ${name}: via has to be a backend of the program`);
  return via.vclName;
}

/** The extension with the given resolver in the place of the system's, and of those that are made. */
export function dynamicExtension(system: Names, servers: Names | null = null): Extension {
  const director: ExtensionObject = {
    signature:
      'director(STRING port="http", STRING host_header=NULL, ENUM {DIRECTOR, HOST} share=DIRECTOR, PROBE probe=NULL, ACL whitelist=NULL, ' +
      'DURATION ttl=3600, DURATION connect_timeout=0, DURATION first_byte_timeout=0, DURATION between_bytes_timeout=0, ' +
      'DURATION domain_usage_timeout=7200, DURATION first_lookup_timeout=10, INT max_connections=0, INT proxy_header=0, BLOB resolver=NULL, ' +
      'ENUM {cfg, dns, min, max} ttl_from=cfg, DURATION retry_after=30, BACKEND via=NULL, INT keep=3, STRING authority=NULL, ' +
      'DURATION wait_timeout=-1, INT wait_limit=0, BACKEND tls=NULL)',
    help:
      'Hosts by name, each a director with one backend for each of its addresses. A name is looked up again after ttl, or with ttl_from after what the name server says (dns), the lesser (min) or the greater (max) of both; after a failure in retry_after. ' +
      'Addresses that whitelist does not allow are left out. Hosts that nobody has used for domain_usage_timeout go. With share=HOST each host has backends of its own. keep has no effect: a backend without a name goes after five minutes. With tls they are spoken to over TLS as that backend of the program is by its .ssl attributes, and each certificate must have the name of its host. The other arguments are those of a backend.',
    create: (
      ctx,
      name,
      port: Text,
      hostHeader: Text,
      share: 'DIRECTOR' | 'HOST',
      probe: ProbeDecl | null,
      whitelist: VclAcl | null,
      ttl: number,
      connectTimeout: number,
      firstByteTimeout: number,
      betweenBytesTimeout: number,
      usageTimeout: number,
      firstTimeout: number,
      maxConnections: number,
      proxyHeader: number,
      blob: Uint8Array | null,
      ttlFrom: TtlFrom,
      retryAfter: number,
      via: Director | null,
      _keep: number,
      authority: Text,
      waitTimeout: number,
      waitLimit: number,
      tls: Director | null,
    ) => {
      if (blob !== null && !(blob instanceof ResolverBlob))
        throw new ExtensionError(`dynamic.director ${name}: resolver has to be the result of use()`);
      if (blob === null && ttlFrom !== 'cfg')
        throw new ExtensionError(`dynamic.director ${name}: ttl_from=${ttlFrom} needs a resolver`);
      if (proxyHeader < 0 || proxyHeader > 2)
        throw new ExtensionError(`dynamic.director ${name}: proxy_header is 0, 1 or 2`);
      if (tls !== null && via !== null)
        throw new ExtensionError(`dynamic.director ${name}: either via or tls`);
      const times = { connectTimeout, firstByteTimeout, betweenBytesTimeout, waitTimeout };
      const numbers = { ...times, maxConnections, proxyHeader, waitLimit };
      return new DynamicDirector(ctx, name, {
        port: port ?? '',
        hostHeader,
        share,
        probe,
        whitelist,
        ttl,
        ttlFrom,
        usageTimeout,
        firstTimeout,
        retryAfter,
        attributes: attributesOf(numbers, probe, viaOf(ctx, name, via)),
        authority,
        tlsAs: tlsBackend(ctx, `dynamic.director ${name}`, tls, port),
        names: blob === null ? system : (servers ?? blob.resolver.names),
        hasServices: blob !== null,
      });
    },
    destroy: (self: DynamicDirector) => self.end(),
    methods: byName(
      row(
        'BACKEND backend(STRING host="", STRING port="", STRING authority=NULL)',
        (ctx, self: DynamicDirector, host: Text, port: Text, authority: Text) =>
          self.backend(ctx, host ?? '', port ?? '', authority),
        'The director of a host, by default the one of the Host header, and of a port, by default that of the object. A fetch waits for its first lookup, for first_lookup_timeout. authority is sent to the backend of via. None for what is no name, and where there are 1000 hosts in use; the log says so (`Error`).',
      ),
      row(
        'BACKEND service(STRING service)',
        (ctx, self: DynamicDirector, service: Text) => self.service(ctx, service ?? ''),
        'The director of a service (SRV records): one of the healthy hosts with the lowest priority, as often as its weight says. Fails the transaction for a director without a resolver.',
      ),
      row(
        'VOID debug(BOOL)',
        (_ctx, self: DynamicDirector, on: boolean) => {
          self.isDebugged = on;
        },
        'Whether calls of backend() write Debug records.',
      ),
    ),
  };
  return {
    name: 'dynamic',
    help: 'backends by names that are looked up again and again',
    functions: {},
    objects: { director, resolver },
  };
}

export const dynamic = dynamicExtension(systemNames);
