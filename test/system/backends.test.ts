// Backends under load: a flapping origin, a probe that diverts traffic and back, programs that cool, and leftovers.
// PROXYD_FLAP_SECONDS makes the origin flap for longer than needed to see enough of both outcomes.
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { ClientConnection, requestText } from '../harness/http-client.ts';
import { freePort, Origin, respond } from '../harness/origin.ts';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-backends');
const SECONDS = Number(process.env.PROXYD_FLAP_SECONDS ?? 0);
/** Failures of the origin, and responses of each kind (chosen): enough of them under any load. */
const FLAPS = 8;
const ANSWERS = 200;
const LOOPS = 64;

afterAll(() => box.dispose());

function descriptors(proxy: RunningProxy): number {
  return readdirSync(`/proc/${proxy.workerPid()}/fd`).length;
}

/** An origin that can be killed and started again on its port; a page's body names the page throughout. */
class FlappingOrigin {
  readonly port: number;
  private server: Server | null = null;
  private readonly sockets = new Set<Socket>();

  constructor(port: number) {
    this.port = port;
  }

  up(): Promise<void> {
    const server = createServer({ noDelay: true }, (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      socket.on('error', () => {});
      let text = '';
      socket.on('data', (bytes) => {
        text += bytes.toString('latin1');
        for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
          const url = text.split(' ')[1] ?? '';
          text = text.slice(end + 4);
          const body = bodyOf(url);
          const age = url.startsWith('/cached') ? 'max-age=1' : 'no-store';
          socket.write(
            `HTTP/1.1 200 OK\r\nCache-Control: ${age}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
          );
        }
      });
    });
    this.server = server;
    return new Promise((done) => server.listen(this.port, '127.0.0.1', done));
  }

  down(): Promise<void> {
    return new Promise((done) => {
      this.server?.close(() => done());
      for (const socket of this.sockets) socket.resetAndDestroy();
    });
  }
}

function bodyOf(url: string): string {
  return `${url};`.repeat(1 + (url.length % 7) * 10);
}

describe('an origin that is killed and restarted all the time', () => {
  it('costs right answers or clean 503s only, and no descriptor', async () => {
    const origin = new FlappingOrigin(await freePort());
    await origin.up();
    const program = `vcl 4.1;
backend default {
  .host = "127.0.0.1"; .port = "${origin.port}"; .first_byte_timeout = 2s; .connect_timeout = 1s;
}
sub vcl_recv { if (req.url ~ "^/pass") { return (pass); } }`;
    const proxy = await startProxy(box, { program });
    // Many at once: where threads give each other connections, the ways between them are open from now on.
    await Promise.all(Array.from({ length: LOOPS }, () => proxy.get('/pass/many')));
    await origin.down();
    await origin.up();
    await proxy.get('/pass/first');
    await settled(proxy);
    const before = descriptors(proxy);
    const wrong: string[] = [];
    const seen = { right: 0, refused: 0 };
    let on = true;
    const load = Array.from({ length: LOOPS }, async (_, loop) => {
      let connection: ClientConnection | null = null;
      for (let n = 0; on; n++) {
        const url = n % 3 === 0 ? `/cached/${(loop + n) % 50}` : `/pass/${loop}/${n}`;
        try {
          if (connection === null || connection.ended) connection = await ClientConnection.open(proxy.port);
          connection.send(requestText(url));
          const got = await connection.response();
          const body = got.body.toString('latin1');
          if (!got.complete) wrong.push(`${url}: cut after ${got.body.length}`);
          else if (got.status === 200 && body === bodyOf(url)) seen.right++;
          else if (got.status === 503) seen.refused++;
          else wrong.push(`${url}: ${got.status} ${body.slice(0, 40)}`);
        } catch (error) {
          wrong.push(`${url}: ${error}`);
          connection = null;
        }
        await delay(2);
      }
      connection?.close();
    });
    const end = performance.now() + SECONDS * 1000;
    for (let flaps = 0; flaps < FLAPS || performance.now() < end; flaps++) {
      const { right } = seen;
      await until('right answers', () => seen.right >= right + ANSWERS / FLAPS);
      await origin.down();
      const { refused } = seen;
      await until('refused ones', () => seen.refused >= refused + ANSWERS / FLAPS);
      await origin.up();
    }
    on = false;
    await Promise.all(load);
    expect(wrong.slice(0, 10)).toEqual([]);
    expect(Math.min(seen.right, seen.refused)).toBeGreaterThanOrEqual(ANSWERS);
    // Any number of connections opened since it last came back may be kept: it fails once more.
    await origin.down();
    await until('nothing is held', () => descriptors(proxy) < before);
    await origin.up();
    // It is back: so is traffic.
    await until('healthy again', async () => (await proxy.get('/pass/last')).status === 200);
    await until('as many descriptors as before', () => descriptors(proxy) === before);
    await until('no connection in use', async () => (await proxy.counters())['VBE.boot.default.conn'] === 0);
    await proxy.stop();
    await origin.down();
  });

  /** Waits until only the connections of an idle worker are open: at most one kept connection to the origin. */
  async function settled(proxy: RunningProxy): Promise<void> {
    let last = -1;
    await until('descriptors settle', async () => {
      const now = descriptors(proxy);
      const same = now === last;
      last = now;
      await delay(300);
      return same;
    });
  }
});

describe('probes', () => {
  it('turn traffic away and back, rest with cold programs and leave no counters', async () => {
    const origin = await Origin.start();
    let status = '200 OK';
    origin.on('*', () => respond('200 OK', { 'Cache-Control': 'no-store' }, 'page'));
    origin.on('/health', () => [...respond(status, { Connection: 'close' }), { close: true }]);
    const program = (name: string): string => `vcl 4.1;
backend ${name} {
  .host = "127.0.0.1"; .port = "${origin.port}";
  .probe = { .url = "/health"; .interval = 0.05s; .window = 4; .threshold = 2; .initial = 2; }
}`;
    const proxy = await startProxy(box, { program: program('one') });
    expect((await proxy.get('/')).status).toBe(200);
    status = '500 Broken';
    await until('sick', async () => (await proxy.get('/')).status === 503);
    expect((await proxy.adm('backend.list')).stdout).toMatch(/^boot\.one +probe +[01]\/4 +sick /m);
    expect((await proxy.adm('backend.set_health', 'one', 'healthy')).code).toBe(0);
    expect((await proxy.get('/')).status).toBe(200);
    expect((await proxy.adm('backend.set_health', 'one', 'auto')).code).toBe(0);
    expect((await proxy.get('/')).status).toBe(503);
    status = '200 OK';
    await until('healthy', async () => (await proxy.get('/')).status === 200);

    const file = box.path('two');
    writeFileSync(file, program('two'));
    expect((await proxy.adm('vcl.load', 'next', file)).code).toBe(0);
    expect((await proxy.adm('vcl.use', 'next')).code).toBe(0);
    await until('both count', async () => 'VBE.next.two.happy' in (await proxy.counters()));
    expect((await proxy.adm('vcl.state', 'boot', 'cold')).code).toBe(0);
    expect((await proxy.adm('vcl.state', 'next', 'warm')).code).toBe(0);
    await until(
      'the cold one has no counters',
      async () => !('VBE.boot.one.happy' in (await proxy.counters())),
    );
    expect((await proxy.adm('backend.list', 'boot.*')).stdout).toMatch(/^boot\.one +probe +2\/4 +healthy /m);
    // Only the warm program polls: far fewer than both would.
    const from = origin.seen('/health').length;
    await until('the warm one goes on', () => origin.seen('/health').length >= from + 5);
    await until('no poll of the cold one since', async () => {
      const records = (await proxy.log('-g', 'raw', '-i', 'Backend_health')).split('\n');
      const last = records.findLastIndex((line) => line.includes(' one '));
      return records.slice(last + 1).filter((line) => line.includes(' two ')).length > 4;
    });
    expect((await proxy.adm('vcl.discard', 'boot')).code).toBe(0);
    expect((await proxy.adm('backend.list', 'boot.*')).stdout).not.toContain('boot.one');
    await proxy.stop();
    await origin.close();
  });
});
