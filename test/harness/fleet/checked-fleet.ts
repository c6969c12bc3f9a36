// Three proxies of one fleet in front of an origin whose objects have versions, with the minimum version of a body on
// each of them: an acknowledged purge raises it, at once on every proxy that its response does not name as lagging,
// and on a named one as soon as a later response does not.
import type { NatsServer } from '../nats-server.ts';
import { freePort, Origin, respond } from '../origin.ts';
import type { Sandbox } from '../processes.ts';
import { type RunningProxy, startProxy } from '../proxy.ts';
import { fleetProgram } from './fleet-program.ts';

export interface CheckedNode {
  readonly name: string;
  /** The same after it was started again, as are its port and its way to the bus. */
  readonly port: number;
  readonly via: readonly string[];
  proxy: RunningProxy;
}

/** A purge that the stream has acknowledged. */
export interface Stored {
  readonly seq: number;
  readonly object: number;
}

export class CheckedFleet {
  readonly nodes: CheckedNode[] = [];
  readonly name: string;
  readonly objects: number;
  readonly stored: Stored[] = [];
  private readonly box: Sandbox;
  private readonly origin: Origin;
  private readonly params: Readonly<Record<string, string>>;
  /** The origin's versions. */
  private readonly versions: number[];
  /** By node: the minimum version now, and after it stops lagging. */
  private readonly least = new Map<string, number[]>();
  private readonly owed = new Map<string, { seq: number; object: number; version: number }[]>();

  private constructor(
    box: Sandbox,
    origin: Origin,
    name: string,
    objects: number,
    params: Record<string, string>,
  ) {
    this.box = box;
    this.origin = origin;
    this.name = name;
    this.objects = objects;
    this.params = params;
    this.versions = Array(objects).fill(0);
    origin.on('*', ({ url }) => {
      origin.requests.length = 0;
      const object = Number(url.slice(1));
      return respond('200 OK', { xkey: `o${object}` }, bodyOf(object, this.versions[object] ?? 0));
    });
  }

  /** @param ways how each node reaches the bus */
  static async start(
    box: Sandbox,
    name: string,
    objects: number,
    ways: Readonly<Record<string, readonly string[]>>,
    params: Record<string, string> = {},
  ): Promise<CheckedFleet> {
    const fleet = new CheckedFleet(box, await Origin.start(), name, objects, params);
    const entries = Object.entries(ways);
    await Promise.all(
      entries.map(async ([node, via]) => {
        const port = await freePort();
        fleet.least.set(node, Array(objects).fill(0));
        fleet.owed.set(node, []);
        fleet.nodes.push({ name: node, port, via, proxy: await fleet.proxy(node, port, via) });
      }),
    );
    fleet.nodes.sort((a, b) => a.name.localeCompare(b.name));
    await Promise.all(fleet.nodes.map(({ proxy }) => proxy.counterReaches('FLEET.nodes', entries.length)));
    return fleet;
  }

  /** Every node by the same servers. */
  static everywhere(servers: readonly NatsServer[]): Record<string, readonly string[]> {
    const via = servers.map(({ url }) => url);
    return { a: via, b: via, c: via };
  }

  private proxy(name: string, port: number, via: readonly string[]): Promise<RunningProxy> {
    return startProxy(this.box, {
      program: fleetProgram(this.origin.port),
      port,
      dir: this.box.path(name),
      args: ['--fleet', via.join(','), '--fleet-name', this.name, '--node', name],
      params: { vsl_mask: '-VCL_call', ...this.params },
    });
  }

  /** After its manager was killed. */
  async startAgain(node: CheckedNode): Promise<void> {
    node.proxy = await this.proxy(node.name, node.port, node.via);
  }

  leastOf(node: string, object: number): number {
    return this.least.get(node)?.[object] ?? 0;
  }

  /** Why a body is none that this node may serve; null when it is. */
  problemOf(node: string, object: number, atLeast: number, status: number, body: string): string | null {
    const version = Number(/ v(\d+)/.exec(body)?.[1] ?? -1);
    if (status === 200 && version >= atLeast && body === bodyOf(object, version)) return null;
    return `${node} /${object}: ${status} ${body.slice(0, 20)}, at least v${atLeast}`;
  }

  /** The origin has another version from now on. */
  change(object: number): number {
    const version = (this.versions[object] ?? 0) + 1;
    this.versions[object] = version;
    return version;
  }

  /** A purge of the publisher's was acknowledged, and has not come to the nodes of these names. */
  acknowledged(
    publisher: string,
    seq: number,
    object: number,
    version: number,
    behind: readonly string[],
  ): void {
    this.stored.push({ seq, object });
    for (const [node, held] of this.least) {
      const owed = this.owed.get(node) ?? [];
      if (node === publisher) {
        // At once, whatever of others' it has not applied yet.
        held[object] = Math.max(held[object] ?? 0, version);
        continue;
      }
      owed.push({ seq, object, version });
      if (behind.includes(node)) continue;
      // It applies messages in order.
      for (const each of owed) {
        if (each.seq <= seq) held[each.object] = Math.max(held[each.object] ?? 0, each.version);
      }
      this.owed.set(
        node,
        owed.filter((each) => each.seq > seq),
      );
    }
  }

  /** No node lags any more: all must have applied acknowledged purges. */
  settle(): void {
    for (const [node, owed] of this.owed) {
      const held = this.least.get(node) ?? [];
      for (const { object, version } of owed) held[object] = Math.max(held[object] ?? 0, version);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map(({ proxy }) => proxy.stop()));
    await this.origin.close();
  }
}

/** Some hundred bytes, of which each says whose they are. */
function bodyOf(object: number, version: number): string {
  return `o${object} v${version} `.repeat(20 + (object % 50));
}
