// dynamic.resolver(): which name servers are asked, and how. The runtime's own resolver asks those that the system names,
// over UDP and TCP; a program that wants another way does not load.

import type { VclContext } from '../../contract/context.ts';
import type { ExtensionFunction, ExtensionObject } from '../../contract/extension.ts';
import { ExtensionError } from '../../contract/failure.ts';
import { byName, row } from '../extension-rows.ts';
import { type Names, ServerNames } from './names.ts';

/** Known namespaces and transports. */
const NAMESPACES: ReadonlySet<string> = new Set(['DNS', 'LOCALNAMES']);
const TRANSPORTS: ReadonlySet<string> = new Set(['UDP', 'TCP']);

class NameResolver {
  readonly #name: string;
  readonly #parallel: number;
  #timeout: number | null = null;
  #namespaces: string[] = ['LOCALNAMES', 'DNS'];
  #names: Names | null = null;

  constructor(name: string, parallel: number) {
    this.#name = name;
    this.#parallel = parallel;
  }

  get names(): Names {
    this.#names ??= new ServerNames({
      parallel: this.#parallel,
      timeout: this.#timeout,
      alsoLocal: this.#namespaces.includes('LOCALNAMES'),
    });
    return this.#names;
  }

  /** Fails vcl_init for an unknown setting. */
  require(is: boolean, setting: string): true {
    if (!is) throw new ExtensionError(`dynamic.resolver ${this.#name}: ${setting} is not available here`);
    return true;
  }

  setTimeout(seconds: number): true {
    this.#timeout = seconds > 0 ? seconds : null;
    this.#names = null;
    return true;
  }

  clearNamespaces(): true {
    this.#namespaces = [];
    this.#names = null;
    return true;
  }

  addNamespace(namespace: string): true {
    this.require(NAMESPACES.has(namespace), namespace);
    this.#namespaces.push(namespace);
    this.#names = null;
    return true;
  }
}

/** A resolver as a BLOB, which only a director understands. */
export class ResolverBlob extends Uint8Array {
  readonly resolver: NameResolver;

  constructor(resolver: NameResolver) {
    super(0);
    this.resolver = resolver;
  }
}

type Setting<A> = (self: NameResolver, value: A) => true;

function setting<A>(signature: string, set: Setting<A>, help: string): ExtensionFunction {
  const call = (_ctx: VclContext, self: NameResolver, value: A): true => set(self, value);
  return row(`BOOL ${signature}`, call, help, { places: 'init' });
}

const DONE = 'Returns true.';

export const resolver: ExtensionObject = {
  signature: 'resolver(BOOL set_from_os=1, INT parallel=16)',
  help: 'The name servers that the system names, of which `parallel` questions are asked at once. They give lifetimes and services.',
  create: (_ctx, name, _fromSystem: boolean, parallel: number) => new NameResolver(name, parallel),
  // biome-ignore format: a row is a line
  methods: byName(
    row('BLOB use()', (_ctx, self: NameResolver) => new ResolverBlob(self), 'The value for the argument resolver of a director.'),
    setting<string>('set_resolution_type(ENUM {RECURSING, STUB})', (self, type) => self.require(type === 'STUB', type),
      `STUB alone: the servers look further themselves. ${DONE}`),
    setting('clear_namespaces()', (self) => self.clearNamespaces(), `No namespace is asked. ${DONE}`),
    setting<string>('add_namespace(ENUM {DNS, LOCALNAMES, NETBIOS, MDNS, NIS})', (self, namespace) => self.addNamespace(namespace),
      `DNS, and LOCALNAMES for names that no server knows and the system does. ${DONE}`),
    setting('set_namespaces()', () => true, `The namespaces hold as they are added. ${DONE}`),
    setting('clear_transports()', () => true, `The transports are always UDP, and TCP for long answers. ${DONE}`),
    setting<string>('add_transport(ENUM {UDP, TCP, TLS})', (self, transport) => self.require(TRANSPORTS.has(transport), transport),
      `UDP and TCP alone. ${DONE}`),
    setting('set_transports()', () => true, `No effect. ${DONE}`),
    setting<number>('set_idle_timeout(DURATION)', () => true, `No effect: no connection is kept. ${DONE}`),
    setting<number>('set_limit_outstanding_queries(INT)', () => true, `No effect: parallel is the limit. ${DONE}`),
    setting<number>('set_timeout(DURATION)', (self, seconds) => self.setTimeout(seconds), `How long one try of a question takes at most. ${DONE}`),
    setting<string>('set_follow_redirects(ENUM {REDIRECTS_FOLLOW, REDIRECTS_DO_NOT_FOLLOW})',
      (self, follow) => self.require(follow === 'REDIRECTS_FOLLOW', follow), `Other names of a host are followed. ${DONE}`),
  ),
};
