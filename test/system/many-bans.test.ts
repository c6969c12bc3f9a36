// Objects under thousands of new bans: requests do not wait for tests of other objects, each object is tested once
// for all requests, and clients may disconnect meanwhile. Black box: only dist/ and its commands.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, requestText } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy, workerThreads } from '../harness/proxy.ts';

/** Bans of a request, and conditions of each: the second is never looked at, but counts. */
const A_REQUEST = 50;
const CONDITIONS = 20;
const box = new Sandbox('proxyd-many-bans');
let origin: Origin;
let proxy: RunningProxy;
let series = 0;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', (request) => respond('200 OK', {}, request.url));
  const never = ' + " && obj.status == 200"'.repeat(CONDITIONS - 1);
  const bans = Array.from(
    { length: A_REQUEST },
    (_, i) => `ban("req.url ~ ^/never/.*/" + req.http.n + "-${i}$"${never});`,
  ).join('\n');
  proxy = await startProxy(box, {
    program: `vcl 4.1;
import std;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
sub vcl_recv {
  if (req.url == "/synth") { return (synth(200, "at once")); }
  if (req.url == "/ban") { ${bans} return (synth(200, "banned")); }
}
sub vcl_backend_response { set beresp.ttl = 1h; set beresp.http.X-Url = bereq.url; }
`,
  });
});
afterAll(async () => {
  await origin.close();
  await box.dispose();
});

/** Adds this many bans that match nothing. */
async function manyBans(count: number): Promise<void> {
  const c = await ClientConnection.open(proxy.port);
  for (let i = 0; i < count; i += A_REQUEST) {
    c.send(requestText('/ban', { fields: { n: String(series++) } }));
    expect((await c.response()).reason).toBe('banned');
  }
  c.close();
}

async function tests(): Promise<number> {
  return (await proxy.counters())['MAIN.bans_tests_tested'] ?? 0;
}

/** Connections that clients ended: before their answer was written, or while it was. */
async function left(): Promise<number> {
  const counters = await proxy.counters();
  return (counters['MAIN.sc_rem_close'] ?? 0) + (counters['MAIN.sc_tx_error'] ?? 0);
}

function clients(count: number): Promise<ClientConnection[]> {
  return Promise.all(Array.from({ length: count }, () => ClientConnection.open(proxy.port)));
}

describe('an object under thousands of new bans', () => {
  it('is tested once for all clients, and is then a hit', async () => {
    await proxy.get('/a');
    await manyBans(2000);
    const before = await tests();
    const all = await clients(40);
    for (const c of all) c.send(requestText('/a'));
    const answers = await Promise.all(all.map((c) => c.response()));
    expect(answers.every((a) => a.status === 200 && a.body.toString() === '/a')).toBe(true);
    expect(origin.seen('/a')).toHaveLength(1);
    // Each thread goes its own way through the bans until one of them is done.
    const once = 2000 * CONDITIONS;
    await until('the tests', async () => (await tests()) - before >= once);
    expect((await tests()) - before).toBeLessThanOrEqual(workerThreads() * once);
    for (const c of all) c.close();
  });

  it('holds up nobody else', async () => {
    await proxy.get('/b');
    const [slow, ...others] = (await clients(1 + 2 * workerThreads())) as [
      ClientConnection,
      ...ClientConnection[],
    ];
    // Each asks twice, one after the other, while the first is tested: of a thread that does nothing else meanwhile the
    // second would come too late. A machine that holds the clients up may have them come too late as well.
    await until('all others to be served meanwhile', async () => {
      await manyBans(4000);
      let isOver = false;
      const tested = async (): Promise<void> => {
        slow.send(requestText('/b'));
        expect((await slow.response()).body.toString()).toBe('/b');
        isOver = true;
      };
      const served = async (c: ClientConnection): Promise<number> => {
        let count = 0;
        for (; !isOver && count < 2; count += isOver ? 0 : 1) {
          c.send(requestText('/synth'));
          expect((await c.response()).reason).toBe('at once');
        }
        return count;
      };
      const [, ...counts] = await Promise.all([tested(), ...others.map(served)]);
      return counts.every((count) => count === 2);
    });
    expect(origin.seen('/b')).toHaveLength(1);
    for (const c of [slow, ...others]) c.close();
  });

  it('goes when one of them matches, and a ban that comes meanwhile counts', async () => {
    await Promise.all([proxy.get('/c'), proxy.get('/d')]);
    await proxy.adm('ban', 'req.url', '==', '/c');
    await manyBans(2000);
    const all = await clients(20);
    for (const [i, c] of all.entries()) c.send(requestText(i % 2 === 0 ? '/c' : '/d'));
    await proxy.adm('ban', 'req.url', '==', '/d');
    const answers = await Promise.all(all.map((c) => c.response()));
    expect(answers.map((a) => a.body.toString())).toEqual(all.map((_, i) => (i % 2 === 0 ? '/c' : '/d')));
    await proxy.get('/d');
    expect([origin.seen('/c').length, origin.seen('/d').length]).toEqual([2, 2]);
    for (const c of all) c.close();
  });

  it('may be left by the client who asked', async () => {
    await proxy.get('/e');
    await manyBans(2000);
    const before = await left();
    const all = await clients(10);
    for (const [i, c] of all.entries()) {
      c.send(requestText('/e'));
      if (i % 2 === 0) c.socket.destroy();
      else c.socket.resetAndDestroy();
    }
    await until('the clients to be gone', async () => (await left()) >= before + all.length);
    expect((await proxy.get('/e')).body.toString()).toBe('/e');
    expect(origin.seen('/e')).toHaveLength(1);
    expect((await proxy.counters())['MGT.child_panic']).toBe(0);
  });
});
