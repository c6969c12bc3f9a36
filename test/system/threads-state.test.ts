// State of extensions with two threads: what an operator thinks of as one is one, wherever a request is served. Several
// connections that are open at once are spread over the threads.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, field } from '../harness/http-client.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-threads-state');
afterAll(() => box.dispose());

/** A module that counts for all threads, and says which one it is. */
const COUNTING = `import { threadId } from 'node:worker_threads';
let own = 0;
export const extension = {
  abi: 1,
  functions: {
    thread: { signature: 'INT thread()', call: () => threadId },
    own: { signature: 'INT own()', call: () => ++own },
    count: {
      signature: 'INT count(STRING key)',
      call: (ctx, key) => ctx.shared.table('counting', { numbers: 1 }).update(key, (row) => ++row.numbers[0]),
    },
    fill: {
      signature: 'VOID fill(STRING key)',
      call: (ctx, key) => ctx.shared.table('counting.full', { entries: 2 }).update(key, () => undefined),
    },
    place: {
      signature: 'INT place()',
      call: (ctx) => Atomics.add(new Int32Array(ctx.shared.memory('counting', () => new SharedArrayBuffer(4))), 0, 1),
    },
  },
};
`;

const read = box.path('read');
const next = box.path('next');
const program = (file: string) => `vcl 4.1;
import vsthrottle;
import var;
import std;
import blob;
import counting from "${file}";
backend default none;
sub vcl_recv {
  if (req.url == "/count") { set req.http.x = counting.count(req.http.key); }
  if (req.url == "/own") { set req.http.x = counting.own(); }
  if (req.url == "/place") { set req.http.x = counting.place(); }
  if (req.url == "/full") { counting.fill("k1"); counting.fill("k2"); counting.fill("k3"); }
  if (req.url == "/limit") { set req.http.x = vsthrottle.is_denied(req.http.key, 50, 1000s); }
  if (req.url == "/set") { var.global_set("g", "of " + counting.thread()); }
  if (req.url == "/get") { set req.http.x = var.global_get("g"); }
  if (req.url == "/file") { set req.http.x = std.fileread("${read}"); }
  if (req.url == "/blob") { set req.http.x = blob.encode(blob=std.blobread("${read}")); }
  set req.http.thread = counting.thread();
  return (synth(200));
}
sub vcl_synth {
  set resp.http.x = req.http.x;
  set resp.http.thread = req.http.thread;
  return (deliver);
}
`;

let proxy: RunningProxy;
beforeAll(async () => {
  const file = `${box.path('counting')}.mjs`;
  writeFileSync(file, COUNTING);
  writeFileSync(next, program(file));
  proxy = await startProxy(box, { program: program(file), params: { worker_threads: '2' } });
});

interface Answer {
  status: number;
  thread: number;
  x: string | undefined;
}

async function ask(connection: ClientConnection, path: string, key = ''): Promise<Answer> {
  connection.send(`GET ${path} HTTP/1.1\r\nHost: a\r\nKey: ${key}\r\n\r\n`);
  const response = await connection.response();
  return { status: response.status, thread: Number(field(response, 'thread')), x: field(response, 'x') };
}

interface Open {
  connection: ClientConnection;
  thread: number;
}

/** Connections, open at once, until each thread has four: those that were closed a moment ago may still count. */
async function openEight(): Promise<Open[]> {
  const chosen: Open[] = [];
  for (let tries = 0; chosen.length < 8; tries++) {
    if (tries === 100) throw new Error(`of ${tries} connections one thread has less than four`);
    const connection = await ClientConnection.open(proxy.port);
    const { thread } = await ask(connection, '/');
    if (chosen.filter((each) => each.thread === thread).length < 4) chosen.push({ connection, thread });
    else surplus.push(connection);
  }
  return chosen;
}

const surplus: ClientConnection[] = [];
afterEach(() => {
  for (const connection of surplus.splice(0)) connection.close();
});

/** This many requests on each of eight connections at once. */
async function askAll(path: string, times: number): Promise<Answer[]> {
  const all = await openEight();
  // A retried test starts over.
  const key = randomUUID();
  const answers = await Promise.all(
    all.map(async ({ connection }) => {
      const own: Answer[] = [];
      for (let i = 0; i < times; i++) own.push(await ask(connection, path, key));
      return own;
    }),
  );
  for (const { connection } of all) connection.close();
  return answers.flat();
}

const numbersOf = (answers: readonly Answer[]) => answers.map(({ x }) => Number(x)).sort((a, b) => a - b);
const upTo = (count: number, first = 1) => Array.from({ length: count }, (_, i) => i + first);

describe('with two threads', () => {
  it('an extension from a file counts for both', async () => {
    expect(numbersOf(await askAll('/count', 50))).toEqual(upTo(400));
    // Variables of the module are a thread's own.
    const own = numbersOf(await askAll('/own', 50));
    expect(new Set(own).size).toBeLessThan(400);
  });

  it('memory has one name in both', async () => {
    const places = numbersOf(await askAll('/place', 20));
    expect(places).toEqual(upTo(160, places[0]));
  });

  it('a full table fails the transaction in words', async () => {
    const connection = await ClientConnection.open(proxy.port);
    expect((await ask(connection, '/full')).status).toBe(503);
    connection.close();
    await proxy.logged(
      /VCL_Error +c counting\.fill: .*'file:counting.full' is full: it has room for 2 entries/,
      '-g',
      'raw',
    );
  });

  it('vsthrottle lets exactly its limit through', async () => {
    const answers = await askAll('/limit', 20);
    const passed = answers.filter(({ x }) => x === 'false');
    expect(passed).toHaveLength(50);
    expect(new Set(passed.map(({ thread }) => thread)).size).toBe(2);
  });

  it('a global variable that one sets is read by the other', async () => {
    const all = await openEight();
    for (const { connection, thread } of all) {
      await ask(connection, '/set');
      const other = all.find((each) => each.thread !== thread) as (typeof all)[number];
      expect(await ask(other.connection, '/get')).toEqual({
        status: 200,
        thread: other.thread,
        x: `of ${thread}`,
      });
    }
    for (const { connection } of all) connection.close();
  });

  it('a file is for both what one of them has read first, for as long as programs live that have read it', async () => {
    const all = await openEight();
    const ofFirst = all.find(({ thread }) => thread === 0) as Open;
    const ofSecond = all.find(({ thread }) => thread === 1) as Open;
    const first = async ({ connection }: Open) =>
      [await ask(connection, '/file'), await ask(connection, '/blob')].map(({ x }) => x);
    writeFileSync(read, 'one\xe9', 'latin1');
    expect(await first(ofSecond)).toEqual(['one\xe9', 'one\xe9']);
    writeFileSync(read, 'two');
    expect([await first(ofFirst), await first(ofSecond)]).toEqual([
      ['one\xe9', 'one\xe9'],
      ['one\xe9', 'one\xe9'],
    ]);
    for (const words of [
      ['vcl.load', 'next', next],
      ['vcl.use', 'next'],
      ['vcl.discard', 'boot'],
    ])
      expect((await proxy.adm(...words)).code).toBe(0);
    await until('it has gone', async () => !(await proxy.adm('vcl.list')).stdout.includes('boot'));
    expect([await first(ofFirst), await first(ofSecond)]).toEqual([
      ['two', 'two'],
      ['two', 'two'],
    ]);
    for (const { connection } of all) connection.close();
  });
});
