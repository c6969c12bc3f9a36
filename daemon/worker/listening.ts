// The listeners of one thread: each listens on the handle that the manager bound, or on a descriptor of its own of the
// same socket. With several threads, connections go to the one that has the fewest.

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
  /** The length of the kernel's queue. */
  backlog(): number;
  /** A listener is bound. */
  changed(): void;
  failed(reason: string): void;
}

export class Listening {
  readonly handover: Handover | null;
  private readonly parts: ListeningParts;
  /** Both by the index of their listeners. */
  private readonly acceptors: (Acceptor | undefined)[] = [];
  private readonly addresses: (ListenerAddress | undefined)[] = [];
  /** What has come before clients can be served; null from then on. */
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
              // It is counted again when it is a session.
              if (counted) this.handover?.closed();
              const acceptor = this.acceptors[listener];
              if (acceptor === undefined) connection.close();
              else acceptor.accept(connection);
            },
            lost: () => parts.host.descriptors.ranOut(),
          });
  }

  /** Those that listen. */
  get bound(): ListenerAddress[] {
    return this.addresses.filter((address) => address !== undefined);
  }

  /** Those that listen and take plain HTTP. */
  get plain(): ListenerAddress[] {
    return this.addresses.filter(
      (address, i) => address !== undefined && this.parts.specs[i]?.proto === 'HTTP',
    ) as ListenerAddress[];
  }

  /** The programs are there: listens on what has come meanwhile. A client that the kernel has queued since the last worker
   * died is accepted at once, and must find a program. */
  begin(): void {
    const { early } = this;
    this.early = null;
    for (const { index, handle } of early ?? []) this.listen(index, handle);
  }

  /** @param handle of the manager, or with a descriptor; on the address itself when there is none */
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
    else if (spec.path !== undefined) server.listen({ path: spec.path, backlog: depth }, done);
    else server.listen({ host: spec.host ?? '', port: spec.port ?? 0, backlog: depth }, done);
  }

  close(): void {
    for (const acceptor of this.acceptors) acceptor?.server.close();
  }
}
