// Load: every body is checked by a small generator (a wrong, mixed or short body is an error), in front of
// a real nginx serving files where one is installed; and a log reader that stands still meanwhile.
// PROXYD_LOAD_REQUESTS sets the number of requests (default 5,000).
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, field, requestText } from '../harness/http-client.ts';
import { freePort, Origin, respond, respondChunked } from '../harness/origin.ts';
import { delay, findProgram, installed, run, Sandbox, until } from '../harness/processes.ts';
import { command, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-load');
const REQUESTS = Number(process.env.PROXYD_LOAD_REQUESTS ?? 5000);
const PAGES = 200;

afterAll(() => box.dispose());

/** Page i: its own length (some empty, some large) and bytes that name the page throughout. */
function pageBody(i: number): Buffer {
  const size = i % 50 === 0 ? 0 : i % 20 === 7 ? 150_000 + i : 100 + i * 13;
  return Buffer.from(`page ${i};`.repeat(Math.ceil(size / 6)).slice(0, size), 'latin1');
}

/** Requests random pages on `connections` kept-alive connections; returns errors. */
async function verify(
  port: number,
  total: number,
  connections: number,
): Promise<{ done: number; wrong: string[] }> {
  const digests = Array.from({ length: PAGES }, (_, i) =>
    createHash('sha1').update(pageBody(i)).digest('hex'),
  );
  const wrong: string[] = [];
  let left = total;
  let done = 0;
  let seed = 12345;
  const next = () => {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff;
    return seed % PAGES;
  };
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = await ClientConnection.open(port);
      try {
        while (left-- > 0) {
          const i = next();
          connection.send(requestText(`/page/${i}`));
          const response = await connection.response();
          const digest = createHash('sha1').update(response.body).digest('hex');
          if (response.status !== 200) wrong.push(`page ${i}: status ${response.status}`);
          else if (!response.complete || digest !== digests[i])
            wrong.push(`page ${i}: wrong body of ${response.body.length}`);
          done++;
        }
      } catch (error) {
        wrong.push(String(error));
      } finally {
        connection.close();
      }
    }),
  );
  return { done, wrong };
}

describe('a site of pages of all sizes', () => {
  let origin: Origin;
  let proxy: RunningProxy;
  beforeAll(async () => {
    origin = await Origin.start();
    for (let i = 0; i < PAGES; i++) {
      const fields = { 'Cache-Control': i % 10 === 3 ? 'private' : `max-age=${1 + (i % 5)}` };
      const body = pageBody(i);
      const reply =
        i % 4 === 1 ? respondChunked('200 OK', fields, cut(body)) : respond('200 OK', fields, body);
      origin.on(`/page/${i}`, reply);
    }
    proxy = await startProxy(box, { backend: `127.0.0.1:${origin.port}`, storage: ['malloc,8m'] });
  });
  afterAll(async () => {
    await proxy.stop();
    await origin.close();
  });

  it('gives every client the right body, with expiry and eviction going on', async () => {
    const { done, wrong } = await verify(proxy.port, REQUESTS, 64);
    expect(wrong.slice(0, 10)).toEqual([]);
    expect(done).toBe(REQUESTS);
    expect(proxy.daemon.running).toBe(true);
  });

  it('a proxylog that stands still costs nothing and reports its losses', async () => {
    // A small ring, so that a short load overruns it.
    const small = await startProxy(box, {
      backend: `127.0.0.1:${origin.port}`,
      params: { vsl_space: '1m' },
    });
    const [program, lead] = command('proxyd', 'log');
    const pidFile = box.path('pid');
    const reader = box.start('proxylog', program, [...lead, '-n', small.dir, '-g', 'raw', '-P', pidFile]);
    await until('the reader attached', () => existsSync(pidFile));
    reader.child.kill('SIGSTOP');
    const { wrong } = await verify(small.port, 4000, 32);
    expect(wrong.slice(0, 10)).toEqual([]);
    // The daemon answers at once although one of its readers does not read.
    expect((await small.adm('ping')).code).toBe(0);
    reader.child.kill('SIGCONT');
    await until('a report of lost records', () =>
      /\b[1-9]\d* records? lost|lost [1-9]\d*/i.test(reader.stderr + reader.stdout),
    );
    // It continues with new ones.
    await until('new records', async () => {
      await small.get('/page/1', { fields: { 'X-Mark': 'after-the-loss' } });
      return reader.stdout.includes('after-the-loss');
    });
    reader.child.kill('SIGTERM');
    await reader.exit(30_000);
    await small.stop();
  });
});

const nginx = installed('nginx');
if (!nginx) console.warn('tests in front of nginx skipped: it is not installed');

describe.skipIf(!nginx)('in front of a real nginx', () => {
  let proxy: RunningProxy;
  beforeAll(async () => {
    const dir = box.path('nginx');
    const files = join(dir, 'files', 'page');
    mkdirSync(files, { recursive: true });
    for (let i = 0; i < PAGES; i++) writeFileSync(join(files, String(i)), pageBody(i));
    const port = await freePort();
    writeFileSync(
      join(dir, 'nginx.conf'),
      `daemon off; worker_processes 1; pid ${dir}/pid; error_log ${dir}/error.log;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path ${dir}/b; proxy_temp_path ${dir}/p; fastcgi_temp_path ${dir}/f;
  uwsgi_temp_path ${dir}/u; scgi_temp_path ${dir}/s;
  default_type text/plain; gzip on; gzip_min_length 100; gzip_proxied any;
  server { listen 127.0.0.1:${port}; root ${dir}/files; location / { expires 100s; } }
}
`,
    );
    box.start('nginx', findProgram('nginx') ?? 'nginx', [
      '-p',
      dir,
      '-c',
      join(dir, 'nginx.conf'),
      '-e',
      join(dir, 'error.log'),
    ]);
    await until('nginx', () => accepts(port));
    proxy = await startProxy(box, { backend: `127.0.0.1:${port}` });
  });
  afterAll(() => proxy.stop());

  it('hits have a rising age', async () => {
    await proxy.get('/page/1');
    const ages: number[] = [];
    for (let i = 0; i < 2; i++) {
      await delay(1050);
      const hit = await proxy.get('/page/1');
      expect(hit.status).toBe(200);
      expect(field(hit, 'X-Proxy-Id')).toMatch(/^\d+ \d+$/);
      ages.push(Number(field(hit, 'Age')));
    }
    expect(ages[0]).toBeGreaterThan(0);
    expect(ages[1]).toBeGreaterThan(ages[0] ?? 0);
  });

  it('every body is right', async () => {
    const { done, wrong } = await verify(proxy.port, REQUESTS, 64);
    expect(wrong.slice(0, 10)).toEqual([]);
    expect(done).toBe(REQUESTS);
  });

  const wrk = installed('wrk');
  it.skipIf(!wrk)('wrk with 64 connections sees no error', async () => {
    const end = await run('wrk', [
      '-t',
      '1',
      '-c',
      '64',
      '-d',
      '1s',
      `http://127.0.0.1:${proxy.port}/page/3`,
    ]);
    expect(end.stdout).toMatch(/\d+ requests in/);
    expect(end.stdout).not.toMatch(/Socket errors|Non-2xx/);
  });
});

function cut(body: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += 5000) parts.push(body.subarray(at, at + 5000));
  return parts;
}

async function accepts(port: number): Promise<boolean> {
  try {
    (await ClientConnection.open(port)).close();
    return true;
  } catch {
    return false;
  }
}
