// The listeners of one thread: each listens on the handle that the manager bound, or on a descriptor of its own for the
// same socket. With several threads, a connection goes to the thread that has the fewest.

import type { ListenerAddress, ListenerSpec } from '../link.ts';
import { Acceptor, type AcceptorHost } from '../net/acceptor.ts';
import { endpointOf } from '../net/endpoint.ts';
import { Handover } from '../net/handover.ts';
import type { Peers } from '../threads/peers.ts';
import type { Core } from '../transaction/core.ts';

export interface ListeningParts {
  readonly core: Core;
  readonly host: AcceptorHost;
  readonly specs: readonly ListenerSpec[];
  readonly readBuffer: Buffer;
  /** Null with one thread. */
  readonly peers: Peers | null;
  /** Length of the kernel's queue. */
  backlog(): number;
  /** A listener is bound. */
  changed(): void;
  failed(reason: string): void;
}

export class Listening {
  readonly handover: Handover | null;
  private readonly parts: ListeningParts;
  /** Both are indexed by listener. */
  private readonly acceptors: (Acceptor | undefined)[] = [];
  private readonly addresses: (ListenerAddress | undefined)[] = [];
  /** Listeners that arrived before clients can be served; null afterwards. */
  private early: { index: number; handle: unknown }[] | null = [];

  constructor(parts: ListeningParts) {
    this.parts = parts;
    const { peers } = parts;
    this.handover =
      peers === null
        ? null
        : new Handover({
            thread: peers.thread,
            loads: peers.part('loads').words(peers.count),
            take: (listener, connection, counted) => {
              // It is counted again when its session opens.
              if (counted) this.handover?.closed();
              const acceptor = this.acceptors[listener];
              if (acceptor === undefined) connection.close();
              else acceptor.accept(connection);
            },
            lost: () => parts.host.descriptors.ranOut(),
          });
  }

  /** Addresses of the listeners that are bound. */
  get bound(): ListenerAddress[] {
    return this.addresses.filter((address) => address !== undefined);
  }

  /** Addresses of the bound listeners that take plain HTTP. */
  get plain(): ListenerAddress[] {
    return this.addresses.filter(
      (address, i) => address !== undefined && this.parts.specs[i]?.proto === 'HTTP',
    ) as ListenerAddress[];
  }

  /** Called when the programs are loaded: opens the listeners that arrived before. Not earlier, because a client that
   * the kernel queued while no worker ran is accepted at once and needs a program. */
  begin(): void {
    const { early } = this;
    this.early = null;
    for (const { index, handle } of early ?? []) this.listen(index, handle);
  }

  /** @param handle from the manager, or an object with a descriptor; null to bind the address itself */
  listen(index: number, handle: unknown): void {
    if (this.early !== null) {
      this.early.push({ index, handle });
      return;
    }
    const { core, host, specs, readBuffer, backlog, changed, failed } = this.parts;
    const spec = specs[index];
    if (spec === undefined) return;
    const acceptor = new Acceptor(core, host, endpointOf(spec), readBuffer, index, this.handover);
    const { server } = acceptor;
    this.acceptors[index] = acceptor;
    server.once('error', (error) => failed(`${spec.text}: ${error.message}`));
    const done = (): void => {
      const at = server.address();
      this.addresses[index] =
        at === null || typeof at === 'string'
          ? { name: spec.name, address: spec.path ?? '', port: -1, path: spec.path ?? '' }
          : { name: spec.name, address: at.address, port: at.port };
      changed();
    };
    const depth = backlog();
    if (handle !== undefined && handle !== null) server.listen(handle as object, depth, done);
    else if (spec.path !== undefined)
      server.listen({ path: spec.path.replace(/^@/, '\0'), backlog: depth }, done);
    else server.listen({ host: spec.host ?? '', port: spec.port ?? 0, backlog: depth }, done);
  }

  /** Connections that other threads have given to this one are still taken. */
  close(): void {
    for (const acceptor of this.acceptors) acceptor?.server.close();
  }
}
