// An object of dynamic.director(): the hosts and services that a program has asked for, each a director of its own. Hosts
// may come from requests, so that their number is limited, and those that nobody uses go.

import { isIP } from 'node:net';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { Director, VclContext, VclProgram } from '../../contract/context.ts';
import { ExtensionError } from '../../contract/failure.ts';
import { type ProbeDecl, type RunTimeDecl, State } from '../../contract/program.ts';
import type { VclAcl } from '../../vcl/runtime/acl.ts';
import { addressBytes, formatAddress, VclIp } from '../../vcl/runtime/ip.ts';
import { Domain } from './domain.ts';
import type { Answer, Names, Target } from './names.ts';
import { Service } from './service.ts';

/** Hosts and services of an object at most (chosen). */
const MOST = 1000;
/** Seconds between two looks for those that nobody uses (chosen): backends that nobody asks for go after 300. */
const LOOK = 60;
const HOST_NAME = /^[0-9A-Za-z_.-]{1,253}$/;
const PORT = /^[0-9A-Za-z-]{1,40}$/;

export type TtlFrom = 'cfg' | 'dns' | 'min' | 'max';

export interface DirectorOptions {
  readonly port: string;
  readonly hostHeader: string | null;
  readonly share: 'DIRECTOR' | 'HOST';
  readonly probe: ProbeDecl | null;
  readonly whitelist: VclAcl | null;
  /** Seconds, also of the times below. */
  readonly ttl: number;
  readonly ttlFrom: TtlFrom;
  readonly usageTimeout: number;
  readonly firstTimeout: number;
  readonly retryAfter: number;
  /** Attributes of all backends. */
  readonly attributes: RunTimeDecl;
  /** For backends with `via`: the name in the preamble; null for the host. */
  readonly authority: string | null;
  /** The declared backend whose TLS is spoken; null for none. */
  readonly tlsAs: string | null;
  readonly names: Names;
  /** Whether `names` knows services. */
  readonly hasServices: boolean;
}

export class DynamicDirector {
  readonly name: string;
  readonly #options: DirectorOptions;
  readonly #vcl: VclProgram;
  readonly #now: () => number;
  /** Both by their name, least recently asked for first. */
  readonly #members = new Map<string, Domain | Service>();
  readonly #timer: NodeJS.Timeout;
  isDebugged = false;

  constructor(ctx: VclContext, name: string, options: DirectorOptions) {
    this.name = name;
    this.#options = options;
    this.#vcl = ctx.vcl;
    const { host } = ctx;
    this.#now = () => host.now();
    this.#timer = setInterval(() => this.#look(), LOOK * 1000).unref();
  }

  end(): void {
    clearInterval(this.#timer);
    for (const [key, member] of this.#members) this.#drop(key, member);
  }

  /** Keeps the backends of those in use, and ends the others. */
  #look(): void {
    const now = this.#now();
    // A service moves its hosts to the end.
    for (const [key, member] of [...this.#members]) {
      const isOver = !member.isLasting && now - member.usedAt >= this.#options.usageTimeout;
      if (isOver && member.inUse === 0) this.#drop(key, member);
      else member.touch();
    }
  }

  #drop(key: string, member: Domain | Service): void {
    member.end();
    this.#members.delete(key);
    if (this.#vcl.directors.get(member.vclName) === member) this.#vcl.directors.delete(member.vclName);
  }

  /** The member of this name, made if missing; null where there are too many. */
  #member<M extends Domain | Service>(key: string, kind: new (options: never) => M, make: () => M): M | null {
    const known = this.#members.get(key);
    if (known instanceof kind) {
      // Latest asked for last.
      this.#members.delete(key);
      this.#members.set(key, known);
      known.usedAt = this.#now();
      return known;
    }
    if (this.#members.size >= MOST && !this.#makeRoom()) return null;
    const made = make();
    this.#members.set(key, made);
    // It is not listed where something else has its name.
    if (!this.#vcl.directors.has(made.vclName)) this.#vcl.directors.set(made.vclName, made);
    return made;
  }

  #makeRoom(): boolean {
    for (const [key, member] of this.#members) {
      if (member.isLasting || member.inUse > 0) continue;
      this.#drop(key, member);
      return true;
    }
    return false;
  }

  /** `.backend()`: the director of a host; null for what is no name, which is logged. */
  backend(ctx: VclContext, host: string, port: string, authority: string | null): Director | null {
    const named = host === '' ? hostOfRequest(ctx) : host;
    const bare = named.startsWith('[') && named.endsWith(']') ? named.slice(1, -1) : named;
    const at = port === '' ? this.#options.port : port;
    if ((isIP(bare) === 0 && !HOST_NAME.test(bare)) || !PORT.test(at)) {
      this.#say(ctx, Tag.Error, `${shown(bare)}:${shown(at)} is not a host and port`);
      return null;
    }
    const found = this.#domain(bare.toLowerCase(), at, authority, ctx.state === State.init);
    if (found === null) this.#say(ctx, Tag.Error, `${bare}:${at} is one host too many`);
    else if (this.isDebugged) this.#say(ctx, Tag.Debug, `${bare}:${at} is ${found.vclName}`);
    return found;
  }

  /** `.service()`: the director of a service. */
  service(ctx: VclContext, service: string): Director | null {
    if (!this.#options.hasServices)
      throw new ExtensionError(`vmod-dynamic ${this.name}.service() needs a director with a resolver`);
    if (!HOST_NAME.test(service)) {
      this.#say(ctx, Tag.Error, `${shown(service)} is not a service name`);
      return null;
    }
    const { names, ttl, firstTimeout, retryAfter } = this.#options;
    const lower = service.toLowerCase();
    const isLasting = ctx.state === State.init;
    return this.#member(
      `service ${lower}`,
      Service,
      () =>
        new Service({
          name: `${this.name}(${lower})`,
          ask: () => names.targets(lower),
          domainOf: (target) => this.#targetOf(target),
          ttl,
          firstTimeout,
          retryAfter,
          now: this.#now,
          isWarm: !isLasting,
          isLasting,
        }),
    );
  }

  #targetOf({ name, port }: Target): Domain | null {
    return HOST_NAME.test(name) ? this.#domain(name.toLowerCase(), String(port), null, false) : null;
  }

  #domain(host: string, port: string, authority: string | null, isLasting: boolean): Domain | null {
    const { names, firstTimeout, retryAfter, whitelist } = this.#options;
    const vcl = this.#vcl;
    const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const make = (): Domain =>
      new Domain({
        name: isIP(host) === 0 ? `${this.name}(${place})` : `${this.name}(${place}, host)`,
        place,
        director: this.name,
        program: vcl.name,
        declAt: (address) => this.#declAt(host, address, port, authority),
        isAllowed: (address) => whitelist === null || isAllowed(whitelist, address),
        ask: () => names.addresses(host),
        lifetime: (answer) => (isIP(host) === 0 ? lifetime(this.#options, answer) : Number.POSITIVE_INFINITY),
        backendAt: (decl) => {
          if (vcl.makeBackend === null) throw new ExtensionError('backends cannot be created here');
          return vcl.makeBackend(decl, false);
        },
        firstTimeout,
        retryAfter,
        now: this.#now,
        isWarm: !isLasting,
        isLasting,
      });
    return this.#member(`${place} ${authority ?? ''}`, Domain, make);
  }

  #declAt(host: string, address: string, port: string, authority: string | null): RunTimeDecl {
    const { attributes, hostHeader, share, authority: usual, tlsAs } = this.#options;
    const place = `${address.includes(':') ? `[${address}]` : address}:${port}`;
    // Of several hosts at one address each has a certificate of its own.
    const isOwn = share === 'HOST' || tlsAs !== null;
    const decl: RunTimeDecl = {
      ...attributes,
      host: address,
      port,
      shownAs: `${this.name}(${isOwn ? `${host}.` : ''}${place})`,
    };
    const header = hostHeader ?? (isOwn ? host : null);
    if (header !== null) decl.hostHeader = header;
    if (tlsAs !== null) decl.tlsAs = { backend: tlsAs, name: host };
    if (attributes.via !== undefined) {
      const named = authority ?? usual ?? hostHeader ?? host;
      decl.authority = isIP(named) === 0 ? named : '';
    }
    return decl;
  }

  #say(ctx: VclContext, tag: number, words: string): void {
    ctx.log.put(tag, `vmod-dynamic ${this.#vcl.name} ${this.name} ${words}`);
  }
}

/** The start of a text up to its first control character, for the log. */
function shown(text: string): string {
  return text.slice(0, 60).replace(/[\0-\x1f\x7f].*/s, '');
}

/** The host of the Host header, without its port. */
function hostOfRequest(ctx: VclContext): string {
  const head = ctx.bo?.bereq ?? ctx.req?.http;
  return (head?.get('host') ?? '').replace(/:\d*$/, '');
}

/** Seconds until a name is looked up again. */
function lifetime({ ttl, ttlFrom }: DirectorOptions, answer: Answer): number {
  if (ttlFrom === 'cfg' || answer.ttl === null) return ttl;
  if (ttlFrom === 'dns') return answer.ttl;
  return ttlFrom === 'min' ? Math.min(ttl, answer.ttl) : Math.max(ttl, answer.ttl);
}

/** An IPv4-mapped IPv6 address is checked as the IPv4 address that is reached. */
function isAllowed(acl: VclAcl, address: string): boolean {
  const bytes = addressBytes(address);
  return bytes !== null && acl.allows(new VclIp(formatAddress(bytes), 0));
}
