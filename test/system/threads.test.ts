// Several worker threads over one store, as clients and operators see them: connections are spread, what one thread
// fetched is a hit on all, one fetch serves all who wait, an invalidation holds everywhere when it is answered, and a thread
// that ends takes the worker along.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { backAtOnce, timed } from '../harness/at-once.ts';
import { ClientConnection, field, requestText } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const THREADS = 4;
const box = new Sandbox('proxyd-threads');
const folder = box.path('modules');
mkdirSync(folder, { recursive: true });
writeFileSync(
  join(folder, 'which.mjs'),
  `import { threadId, isMainThread } from 'node:worker_threads';
export const extension = {
  abi: 1,
  name: 'which',
  functions: {
    thread: { signature: 'INT thread()', call: () => (isMainThread ? 0 : threadId) },
    leave: { signature: 'VOID leave()', call: () => process.exit(3) },
    fault: {
      signature: 'VOID fault()',
      // As of code of the daemon: no line of the stack is this file's.
      call: () => void setTimeout(() => { throw Object.assign(new Error(), { stack: 'Error: planted' }); }),
    },
    slip: {
      signature: 'VOID slip()',
      call: () => void setTimeout(() => { throw new Error('slipped'); }),
    },
    hang: {
      signature: 'VOID hang()',
      call: () => {
        for (;;);
      },
    },
  },
};
`,
);

let origin: Origin;
let proxy: RunningProxy;
const open: ClientConnection[] = [];

const PROGRAM = `import which;
acl ours { "127.0.0.1"; }
sub vcl_recv {
  if (req.method == "PURGE" && client.ip ~ ours) { return (purge); }
  if (req.url == "/leave") { which.leave(); }
  if (req.url == "/fault") { which.fault(); }
  if (req.url == "/slip") { which.slip(); }
  if (req.url == "/hang") { which.hang(); }
}
sub vcl_deliver { set resp.http.thread = which.thread(); }
`;

const started = (): Promise<RunningProxy> =>
  startProxy(box, {
    program: backendProgram(origin.port, PROGRAM),
    params: { worker_threads: String(THREADS), vmod_path: folder },
  });

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('/which', respond('200 OK', { 'Cache-Control': 'max-age=100' }, 'x'));
  proxy = await started();
});
afterEach(async () => {
  for (const connection of open.splice(0)) connection.close();
  await proxy.connectionsOpen(0);
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

function connections(count: number): Promise<ClientConnection[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const connection = await ClientConnection.open(proxy.port);
      open.push(connection);
      return connection;
    }),
  );
}

async function ask(connection: ClientConnection, url: string, method = 'GET') {
  connection.send(requestText(url, { method }));
  return connection.response();
}

/** Connections by thread; each asks something. */
async function threadsOf(all: readonly ClientConnection[]): Promise<number[]> {
  const answers = await Promise.all(all.map((connection) => ask(connection, '/which')));
  const counts = new Map<string, number>();
  for (const answer of answers) {
    const thread = field(answer, 'thread') ?? '-';
    counts.set(thread, (counts.get(thread) ?? 0) + 1);
  }
  return [...counts.values()].sort((a, b) => b - a);
}

describe('connections', () => {
  it('are spread over the threads, also after some have gone', async () => {
    const first = await connections(64);
    const spread = await threadsOf(first);
    expect(spread.length).toBe(THREADS);
    expect(spread[0]).toBeLessThanOrEqual((64 / THREADS) * 1.5);
    // All those of one thread go, and others come.
    const answers = await Promise.all(first.map((connection) => ask(connection, '/which')));
    const left = first.filter((connection, i) => {
      const goes =
        field(answers[i] as (typeof answers)[number], 'thread') ===
        field(answers[0] as (typeof answers)[number], 'thread');
      if (goes) connection.close();
      return !goes;
    });
    await proxy.connectionsOpen(left.length);
    const again = [...left, ...(await connections(64 - left.length))];
    expect((await threadsOf(again))[0]).toBeLessThanOrEqual((64 / THREADS) * 1.5);
  });
});

describe('one store', () => {
  it('what one thread fetched is a hit on all', async () => {
    origin.on('/once', respond('200 OK', { 'Cache-Control': 'max-age=100' }, 'once'));
    const all = await connections(32);
    await ask(all[0] as ClientConnection, '/once');
    const answers = await Promise.all(all.map((connection) => ask(connection, '/once')));
    expect(new Set(answers.map((answer) => answer.body.toString()))).toEqual(new Set(['once']));
    expect(new Set(answers.map((answer) => field(answer, 'thread'))).size).toBe(THREADS);
    expect(origin.seen('/once').length).toBe(1);
  });

  it('one fetch serves all waiters, and they read its body while it comes', async () => {
    const piece = Buffer.alloc(200_000, 'p');
    let finish = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    origin.on('/growing', [
      { hold: begun },
      {
        send: `HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nContent-Length: ${2 * piece.length}\r\n\r\n`,
      },
      { send: piece },
      { hold: held },
      { send: piece },
    ]);
    const all = await connections(40);
    for (const connection of all) connection.send(requestText('/growing'));
    await proxy.counterReaches('MAIN.busy_sleep', 39);
    begin();
    const answers = Promise.all(all.map((connection) => connection.response()));
    const bytes = (): number => all.reduce((sum, { socket }) => sum + socket.bytesRead, 0);
    await until('all have the first half', () => bytes() > 40 * piece.length);
    expect(bytes()).toBeLessThan(41 * piece.length);
    finish();
    const whole = Buffer.concat([piece, piece]);
    for (const answer of await answers) {
      expect(answer.complete && answer.framing === 'length' && answer.body.equals(whole)).toBe(true);
    }
    expect(origin.seen('/growing').length).toBe(1);
  });

  it('a fetch that fails lets all go at once', async () => {
    let fail = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      fail = resolve;
    });
    origin.on('/fails', [{ hold: held }, { reset: true }]);
    const before = (await proxy.counters())['MAIN.busy_sleep'] ?? 0;
    const all = await connections(24);
    for (const connection of all) connection.send(requestText('/fails'));
    await proxy.counterReaches('MAIN.busy_sleep', before + 23);
    fail();
    const statuses = await Promise.all(all.map(async (connection) => (await connection.response()).status));
    expect(new Set(statuses)).toEqual(new Set([503]));
  });
});

describe('an invalidation holds on every thread once it is answered', () => {
  const versions: Record<string, (connection: ClientConnection) => Promise<unknown>> = {
    'PURGE of a program': (connection) => ask(connection, '/changing', 'PURGE'),
    'the command ban': () => proxy.adm('ban', 'req.url', '==', '/changing'),
    'the command ban with an object’s header': () => proxy.adm('ban', 'obj.http.kind', '~', '^chang'),
  };
  for (const [name, invalidate] of Object.entries(versions)) {
    it(name, async () => {
      let version = 0;
      origin.on('/changing', () =>
        respond('200 OK', { 'Cache-Control': 'max-age=100', kind: 'changing' }, `v${version}`),
      );
      const all = await connections(16);
      for (let round = 0; round < 10; round++) {
        await Promise.all(all.map((connection) => ask(connection, '/changing')));
        version++;
        await invalidate(all[round] as ClientConnection);
        const answers = await Promise.all(all.map((connection) => ask(connection, '/changing')));
        expect(new Set(answers.map((answer) => answer.body.toString()))).toEqual(new Set([`v${version}`]));
      }
    });
  }
});

/** Has another thread than the first do something; a worker that has just begun serves with the first one alone. */
async function onOtherThread(url: string): Promise<void> {
  const connection = await until('a connection of another thread', async () => {
    const all = await connections(8);
    const answers = await Promise.all(all.map((each) => ask(each, '/which')));
    return all[answers.findIndex((answer) => field(answer, 'thread') !== '0')];
  });
  connection.send(requestText(url));
}

/** Has another thread run the command that ends it; returns the time until a new worker serves, in milliseconds. */
async function endThread(url: string): Promise<number> {
  const before = proxy.workerPid();
  await onOtherThread(url);
  const begun = performance.now();
  await until('a new worker', () => proxy.workerPid() !== before && proxy.workerPid() !== null);
  await until('an answer', async () => (await proxy.get('/which').catch(() => null))?.status === 200);
  return performance.now() - begun;
}

async function panicMatches(pattern: RegExp): Promise<void> {
  await until('the panic', async () => pattern.test((await proxy.adm('panic.show')).stdout));
}

describe('a thread', () => {
  it('that ends takes the worker along, which is back in a moment and reports the reason', async () => {
    await backAtOnce(
      () => endThread('/leave'),
      () => timed(async () => (await started()).stop()),
    );
    await panicMatches(/Thread \d+ ended with status 3/);
  });

  it('that throws does so, with what it threw', async () => {
    await endThread('/fault');
    await panicMatches(/Thread [1-9]\d*: Error: planted/);
  });

  it('in which an extension throws outside of a call continues, and reports it', async () => {
    const before = proxy.workerPid();
    await onOtherThread('/slip');
    await until('the report', () =>
      proxy.daemon.stderr.includes('An extension threw outside of a call: Error: slipped'),
    );
    expect((await proxy.get('/which')).status).toBe(200);
    expect(proxy.workerPid()).toBe(before);
  });

  it('that hangs does so after cli_timeout', async () => {
    // Longer than a busy machine leaves a thread without a processor.
    expect((await proxy.adm('param.set', 'cli_timeout', '5')).code).toBe(0);
    // One that has nothing to do does not hang.
    const before = proxy.workerPid();
    await delay(5000);
    expect(proxy.workerPid()).toBe(before);
    expect(await endThread('/hang')).toBeGreaterThan(4000);
    await panicMatches(
      /Thread [1-9]\d* hangs: its event loop has been blocked for almost 5 s \(cli_timeout\)/,
    );
  });
});
