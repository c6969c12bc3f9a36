// Clients on every proxy of a checked fleet, and an editor who changes objects and purges them by key. Collects
// bodies that are too old, and the editor's responses.
import { ClientConnection, field, type Response, requestText } from '../http-client.ts';
import { delay, until } from '../processes.ts';
import type { CheckedFleet, CheckedNode } from './checked-fleet.ts';

export interface LoadOptions {
  /** For each node. */
  readonly clients: number;
  /** Milliseconds between a client's requests. */
  readonly pause: number;
  /** Whether to continue after this many edits. */
  goesOn(edits: number): boolean;
  /** Processes are killed: connections may break off. */
  readonly faults: boolean;
}

export interface LoadResult {
  /** Bodies that were checked. */
  asked: number;
  /** Connections that broke off. */
  broken: number;
  /** Bodies that were older than they may be, or not whole. */
  readonly wrong: string[];
  /** Purges acknowledged by the stream, some of which name a lagging node. */
  stored: number;
  behind: number;
  /** Purges reported as uncertain, by reason. */
  readonly reported: Record<string, number>;
}

const BROKEN = 'connection broken';

export async function runLoad(fleet: CheckedFleet, options: LoadOptions): Promise<LoadResult> {
  const result: LoadResult = { asked: 0, broken: 0, wrong: [], stored: 0, behind: 0, reported: {} };
  let over = false;
  const clients = fleet.nodes.flatMap((node) =>
    Array.from({ length: options.clients }, () => client(fleet, node, options, () => over, result)),
  );
  try {
    for (let i = 0; options.goesOn(i); i++) await edit(fleet, i, result);
  } finally {
    over = true;
    await Promise.all(clients);
  }
  return result;
}

/** Asks for one object after the other. */
async function client(
  fleet: CheckedFleet,
  node: CheckedNode,
  { pause, faults }: LoadOptions,
  isOver: () => boolean,
  result: LoadResult,
): Promise<void> {
  let connection: ClientConnection | null = null;
  for (let n = Math.floor(Math.random() * fleet.objects); !isOver(); n = (n + 7) % fleet.objects) {
    const least = fleet.leastOf(node.name, n);
    try {
      connection ??= await ClientConnection.open(node.port);
      connection.send(requestText(`/${n}`));
      const { status, body } = await connection.response();
      const problem = fleet.problemOf(node.name, n, least, status, body.toString('latin1'));
      if (problem !== null) result.wrong.push(problem);
      result.asked++;
    } catch (cause) {
      if (!faults) throw cause;
      result.broken++;
      connection?.close();
      connection = null;
      await delay(50);
    }
    await delay(pause);
  }
  connection?.close();
}

/** Changes an object and purges it on one of the nodes. */
async function edit(fleet: CheckedFleet, i: number, result: LoadResult): Promise<void> {
  const object = i % fleet.objects;
  const version = fleet.change(object);
  const node = fleet.nodes[i % fleet.nodes.length] as CheckedNode;
  let answer: Response | null = null;
  try {
    answer = await node.proxy.get('/', { method: 'PURGE', fields: { xkey: `o${object}` } });
  } catch {
    // He knows nothing, and knows that.
  }
  if (answer?.status !== 200) {
    const reason = answer === null ? BROKEN : `${answer.status} ${answer.reason}`;
    if (answer !== null && !/^504 Applied here, /.test(reason)) result.wrong.push(`purge: ${reason}`);
    result.reported[reason] = (result.reported[reason] ?? 0) + 1;
    if (answer === null) await delay(50);
    return;
  }
  const text = field(answer, 'x-fleet') ?? '';
  const [, seq, count, missing = ''] =
    /^stored (\d+), applied by \d+ of (\d+) nodes?(?:, not yet by (.*))?$/.exec(text) ?? [];
  if (seq === undefined) {
    result.wrong.push(`purge: 200 without a place in the stream: ${text}`);
    return;
  }
  const behind = missing === '' ? [] : missing.split(' ');
  // A node silent long enough to count as gone is no longer named, but reports itself that it lags.
  if (Number(count) < fleet.nodes.length) behind.push(...(await sayBehind(fleet)));
  result.stored++;
  if (behind.length > 0) result.behind++;
  fleet.acknowledged(node.name, Number(seq), object, version, behind);
}

async function sayBehind(fleet: CheckedFleet): Promise<string[]> {
  const output = await Promise.all(
    fleet.nodes.map(async ({ name, proxy }) => {
      const counters = await proxy.counters().catch(() => null);
      return counters?.['FLEET.behind'] === 1 ? name : null;
    }),
  );
  return output.filter((name) => name !== null);
}

/** Waits until no node lags, and checks every object on each. */
export async function checkAtRest(fleet: CheckedFleet): Promise<string[]> {
  const wrong: string[] = [];
  fleet.settle();
  for (const { name, proxy } of fleet.nodes) {
    await until(`${name} is current`, async () => (await proxy.counters())['FLEET.behind'] === 0, 60_000);
    const connection = await ClientConnection.open(proxy.port);
    for (let n = 0; n < fleet.objects; n++) {
      connection.send(requestText(`/${n}`));
      const { status, body } = await connection.response();
      const problem = fleet.problemOf(name, n, fleet.leastOf(name, n), status, body.toString('latin1'));
      if (problem !== null) wrong.push(`at rest: ${problem}`);
    }
    connection.close();
  }
  return wrong;
}
