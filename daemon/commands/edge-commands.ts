// The commands of the edge connector: its state, its queue, and a request for the test object through one of our own
// listeners (edge.test).

import { request } from 'node:http';
import type { CommandReply } from '../../protocol/messages.ts';
import type { QueueEntry } from '../edge/queue/queue-entry.ts';
import type { CommandCall, ListenerAddress } from '../link.ts';
import { bad, cannot, gathered, jsonReply, ok } from './reply.ts';
import type { EdgeServices, WorkerHandler, WorkerHandlers, WorkerServices } from './worker-services.ts';

type Queue = NonNullable<EdgeServices['queue']>;

/** Wraps a command that needs the queue. */
function onQueue(
  run: (queue: Queue, call: CommandCall) => CommandReply | Promise<CommandReply>,
): WorkerHandler {
  return async ({ edge }: WorkerServices, call) => {
    if (edge === null) return bad('No program that imports edge is loaded.');
    if (edge.queue === null)
      return bad(
        edge.broken ??
          'The connector is not configured to purge: edge-connector.conf names no network, or lacks fields of its purge section.',
      );
    try {
      return await run(edge.queue, call);
    } catch (cause) {
      return cannot(`${(cause as Error).message}\n`);
    }
  };
}

const status: WorkerHandler = ({ edge }, call) => {
  if (edge === null) return bad('No program that imports edge is loaded.');
  const { queue, config } = edge;
  const counts = queue?.counters() ?? null;
  const state = queue?.status() ?? null;
  const settings = Object.fromEntries(config.shown());
  const row = {
    provider: settings.provider || null,
    network: settings.network,
    configured: edge.configured,
    problem: edge.broken,
    ...state,
    counters: counts,
  };
  if (call.json) return jsonReply(call, `\n  ${JSON.stringify({ ...row, settings })}`);
  const lines = [
    `Provider    ${row.provider ?? 'none'} (${row.network})`,
    `Purges      ${edge.configured ? (edge.broken ?? describeState(state)) : 'not configured: local only'}`,
    ...(counts === null ? [] : Object.entries(counts).map(([name, value]) => `${name.padEnd(12)}${value}`)),
  ];
  return ok(`${lines.join('\n')}\n`);
};

function describeState(state: ReturnType<Queue['status']> | null): string {
  if (state === null) return 'the queue is opening';
  if (state.alarm !== null) return `paused: ${state.alarm}`;
  if (state.paused) return 'paused by an operator';
  return state.dryRun ? 'dry run: nothing is sent' : 'sent';
}

/** Takes several turns: each entry is shown as it is when its line is generated. */
async function listing(call: CommandCall, entries: readonly QueueEntry[]): Promise<CommandReply> {
  if (call.json) {
    const pieces = texts(entries, (entry) => JSON.stringify(entry));
    return jsonReply(call, `\n  [${await gathered(pieces, ',', call.most)}]`);
  }
  const rows = texts(entries, (e) => {
    const detail = e.detail === '' ? '' : `  ${e.detail}`;
    return `${e.id}  ${e.state.padEnd(8)}  ${e.kind} ${e.type}  ${e.target}  ${e.attempts} failed${detail}\n`;
  });
  return ok(entries.length === 0 ? 'Nothing.\n' : await gathered(rows, '', call.most));
}

/** Lazily, one after another. */
function* texts(entries: readonly QueueEntry[], text: (entry: QueueEntry) => string): Generator<string> {
  for (const entry of entries) yield text(entry);
}

const done = (count: number): CommandReply => (count === 0 ? bad('No such entry.') : ok(`${count}\n`));

export const EDGE_COMMANDS = {
  'edge.status': status,
  'edge.queue': onQueue((queue, call) => listing(call, queue.list())),
  'edge.dead': onQueue((queue, call) => listing(call, queue.dead())),
  'edge.show': onQueue((queue, call) => {
    const entry = queue.show(call.args[0] as string);
    return entry === null ? bad('No such entry.') : ok(`${JSON.stringify(entry, null, 2)}\n`);
  }),
  'edge.retry': onQueue(async (queue, call) => done(await queue.retry(call.args[0] as string))),
  'edge.drop': onQueue(async (queue, call) => done(await queue.drop(call.args[0] as string))),
  'edge.pause': onQueue((queue) => {
    queue.pause();
    return ok();
  }),
  'edge.resume': onQueue((queue) => {
    queue.resume();
    return ok();
  }),
  'edge.dryrun': onQueue((queue, call) => {
    queue.setDryRun(call.args[0] === 'on');
    return ok();
  }),
  'edge.test': ({ edge, listening }) => testEdge(edge, listening()),
} satisfies Partial<WorkerHandlers>;

/** A Via header of a real edge network. */
const VIA = '1.1 v1-akamaitech.net(ghost) (AkamaiGHost), 1.1 akamai.net(ghost) (AkamaiGHost)';
const SIZE = 20_480;
const TIMEOUT = 5000;
const MAX_BODY = 1 << 20;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: number;
}

/** Required headers of the response. */
const CHECKS: readonly (readonly [string, RegExp])[] = [
  ['edge-control', /^max-age=70$/],
  ['cache-control', /^post-check=60$/],
  ['via', /, 1\.1 edge-connector \(Edge-Connector\/[0-9.]+\)$/],
  ['accept-ranges', /^bytes$/],
];

async function testEdge(
  edge: EdgeServices | null,
  listeners: readonly ListenerAddress[],
): Promise<CommandReply> {
  if (edge === null) return bad('No program that imports edge is loaded.');
  const [listener] = listeners;
  if (listener === undefined) return bad('There is no listener that takes plain HTTP.');
  const path = `${edge.settings.prefix}/testobject.html`;
  let answer: Answer;
  try {
    answer = await ask(listener, path);
  } catch (cause) {
    return bad(`${path}: ${(cause as Error).message}`);
  }
  const lines = [
    line('status', answer.status === 200, String(answer.status), '200'),
    line('body', answer.bytes === SIZE, `${answer.bytes} bytes`, `${SIZE} bytes`),
    line(
      'content-encoding',
      answer.headers['content-encoding'] === undefined,
      answer.headers['content-encoding'] ?? 'none',
      'none',
    ),
    ...CHECKS.map(([name, wanted]) => {
      const value = answer.headers[name] ?? '';
      return line(name, wanted.test(value), value === '' ? 'missing' : value, wanted.source);
    }),
  ];
  const text = `GET ${path}\n${lines.join('')}`;
  return lines.some((each) => each.startsWith('bad'))
    ? bad(`${text}The program has to include edge_auto.vcl, or to make the calls in it.\n`)
    : ok(text);
}

function line(name: string, right: boolean, value: string, wanted: string): string {
  return right ? `ok   ${name}: ${value}\n` : `bad  ${name}: ${value} (wanted ${wanted})\n`;
}

function ask(listener: ListenerAddress, path: string): Promise<Answer> {
  const any = listener.address === '0.0.0.0' || listener.address === '::';
  const where =
    listener.path === undefined || listener.path === ''
      ? {
          host: any ? (listener.address === '::' ? '::1' : '127.0.0.1') : listener.address,
          port: listener.port,
        }
      : { socketPath: listener.path };
  return new Promise((answered, failed) => {
    const asked = request(
      { ...where, path, headers: { Host: 'edge-test', Via: VIA, 'Accept-Encoding': 'gzip' }, agent: false },
      (response) => {
        let bytes = 0;
        response.on('data', (piece: Buffer) => {
          bytes += piece.length;
          if (bytes > MAX_BODY) response.destroy(new Error('the answer is too long'));
        });
        response.on('error', failed);
        response.on('end', () =>
          answered({
            status: response.statusCode ?? 0,
            headers: response.headers as Record<string, string | undefined>,
            bytes,
          }),
        );
      },
    );
    asked.setTimeout(TIMEOUT, () => asked.destroy(new Error('no answer within 5 s')));
    asked.on('error', failed);
    asked.end();
  });
}
