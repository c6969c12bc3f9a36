// The calls of each network as they would be sent, and what its answers mean; calls against servers that hang, dawdle and
// lie, with TLS and a certificate of one's own.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createPlain, type RequestListener } from 'node:http';
import { createServer as createTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ruleText } from '../../../../daemon/edge/eccu-rule.ts';
import { parseEdgeConfig } from '../../../../daemon/edge/edge-config.ts';
import { apiCall } from '../../../../daemon/edge/providers/api-call.ts';
import { makeProvider } from '../../../../daemon/edge/providers/make-provider.ts';
import type { CallResult, EdgeBatch, Outcome, Provider } from '../../../../daemon/edge/providers/provider.ts';

const network = (name: string, more = '', ca: string | null = null): Provider =>
  makeProvider(
    parseEdgeConfig(
      `provider = ${name}\npurge_host = api.example.com\npurge_client_token = zone1\npurge_client_secret = hush-secret\npurge_access_token = hush-token\n${more}`,
      'test',
    ),
    { ca, now: () => 1_767_323_045_000, nonce: () => 'n' },
  );

const batch = (kind: EdgeBatch['kind'], type: EdgeBatch['type'], ...targets: string[]): EdgeBatch => ({
  kind,
  type,
  network: 'production',
  targets,
});

describe('calls', () => {
  const rule = ruleText({ host: 'h', prefix: '/a/', extensions: null });
  it.each<[string, EdgeBatch, RegExp]>([
    [
      'akamai',
      batch('delete', 'url', 'https://h/a', 'https://h/b'),
      /^POST https:\/\/api\.example\.com\/ccu\/v3\/delete\/url\/production .*signature=\*\*\* \{"objects":\["https:\/\/h\/a","https:\/\/h\/b"\]\}$/,
    ],
    [
      'akamai',
      batch('invalidate', 'tag', 't'),
      /\/ccu\/v3\/invalidate\/tag\/production .* \{"objects":\["t"\]\}$/,
    ],
    [
      'akamai',
      batch('delete', 'cpcode', '12', '34'),
      /\/ccu\/v3\/delete\/cpcode\/production .* \{"objects":\[12,34\]\}$/,
    ],
    [
      'akamai',
      batch('invalidate', 'rule', rule),
      /\/eccu-api\/v1\/requests .*"metadata":"<\?xml.*<revalidate>now<\/revalidate>/,
    ],
    [
      'fastly',
      batch('delete', 'tag', 'a', 'b'),
      /^POST https:\/\/api\.example\.com\/service\/zone1\/purge \{"Accept":"application\/json","Fastly-Key":"\*\*\*","Content-Type":"application\/json"\} \{"surrogate_keys":\["a","b"\]\}$/,
    ],
    [
      'fastly',
      batch('invalidate', 'url', 'https://h/a?b'),
      /^POST https:\/\/api\.example\.com\/purge\/h\/a\?b \{.*"Fastly-Soft-Purge":"1"\} $/,
    ],
    [
      'cloudflare',
      batch('delete', 'url', 'https://h/a'),
      /\/client\/v4\/zones\/zone1\/purge_cache .* \{"files":\["https:\/\/h\/a"\]\}$/,
    ],
    ['cloudflare', batch('delete', 'tag', 'a'), / \{"tags":\["a"\]\}$/],
    ['cloudflare', batch('delete', 'rule', rule), / \{"prefixes":\["h\/a\/"\]\}$/],
  ])('%s %o', (name, sent, expected) => {
    const text = network(name).describe(sent);
    expect(text).toMatch(expected);
    expect(text).not.toContain('hush');
  });
});

describe('answers', () => {
  const answer = (
    status: number,
    body: object | string,
    headers: Record<string, string> = {},
  ): CallResult => ({
    status,
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  it.each<[string, CallResult, Partial<Outcome>]>([
    ['akamai', answer(201, { purgeId: 'p' }), { is: 'acked', purgeId: 'p' }],
    ['akamai', answer(201, { requestId: 7, status: 'PENDING' }), { is: 'acked', poll: '7' }],
    ['akamai', answer(200, { requestId: 7, status: 'SUCCEEDED' }), { is: 'acked', purgeId: '7' }],
    ['akamai', answer(200, { requestId: 7, status: 'FAILED' }), { is: 'dead' }],
    ['akamai', answer(200, { requestId: 7, status: 'IGNORED' }), { is: 'dead' }],
    ['akamai', answer(201, 'what?'), { is: 'retry' }],
    ['akamai', answer(429, {}), { is: 'limited', wait: 5000 }],
    ['akamai', answer(429, {}, { 'retry-after': '60' }), { is: 'limited', wait: 60_000 }],
    [
      'akamai',
      answer(429, {}, { 'x-ratelimit-seconds-to-refresh-limit': '9' }),
      { is: 'limited', wait: 9000 },
    ],
    ['akamai', answer(429, {}, { 'retry-after': '99999999' }), { is: 'limited', wait: 86_400_000 }],
    ['akamai', answer(413, {}), { is: 'split' }],
    ['akamai', answer(400, { title: 'Bad', detail: 'no' }), { is: 'bisect', detail: '400 Bad: no' }],
    ['akamai', answer(401, {}), { is: 'pause' }],
    ['akamai', answer(403, { detail: 'unauthorized' }), { is: 'pause' }],
    ['akamai', answer(403, { detail: 'unauthorized arl https://h/a' }), { is: 'bisect' }],
    ['akamai', answer(408, {}), { is: 'retry' }],
    ['akamai', answer(302, {}, { location: 'https://elsewhere/' }), { is: 'retry' }],
    ['akamai', answer(503, {}), { is: 'retry' }],
    ['akamai', { failure: 'reset' }, { is: 'retry', detail: 'reset' }],
    ['fastly', answer(200, { status: 'ok', id: '1-2' }), { is: 'acked', purgeId: '1-2' }],
    ['fastly', answer(200, { a: '1', b: '2' }), { is: 'acked', purgeId: '1,2' }],
    ['fastly', answer(200, {}), { is: 'retry' }],
    ['cloudflare', answer(200, { success: true, result: { id: 'z' } }), { is: 'acked', purgeId: 'z' }],
    ['cloudflare', answer(200, { success: false, errors: [] }), { is: 'retry' }],
    ['cloudflare', answer(403, {}), { is: 'pause' }],
  ])('%s %o', (name, result, expected) => {
    expect(network(name).classify(result, false)).toMatchObject(expected);
  });
});

describe('a call', () => {
  const open: { close: () => void }[] = [];
  afterEach(() => {
    for (const each of open.splice(0)) each.close();
  });
  const serve = async (listener: RequestListener): Promise<string> => {
    const server = createPlain(listener);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    open.push({
      close: () => {
        server.closeAllConnections();
        server.close();
      },
    });
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const call = (host: string, signal = new AbortController().signal): Promise<CallResult> =>
    apiCall({ method: 'POST', scheme: 'http', host, path: '/', headers: {}, body: '{}' }, null, signal, 300);

  it.each<[string, RequestListener, string]>([
    ['hangs', () => undefined, 'no answer within 300 ms'],
    [
      'dawdles',
      (_request, response) => {
        const timer = setInterval(() => response.write('x'), 20);
        response.on('close', () => clearInterval(timer));
      },
      'no answer within 300 ms',
    ],
    [
      'never ends',
      (_request, response) => void response.end(Buffer.alloc(100_000)),
      'an answer of more than 65536 bytes',
    ],
    [
      'ends half way',
      (_request, response) => {
        response.writeHead(200, { 'Content-Length': '100' });
        response.write('half', () => response.socket?.destroy());
      },
      'aborted',
    ],
    ['resets', (request) => void request.socket.resetAndDestroy(), 'read ECONNRESET'],
  ])('to a server that %s', async (_what, listener, failure) => {
    expect(await call(await serve(listener))).toEqual({ failure });
  });

  it('ends when it is called off', async () => {
    const leaving = new AbortController();
    const asked = call(await serve(() => leaving.abort(new Error('closed'))), leaving.signal);
    await expect(asked).rejects.toThrow('closed');
  });

  /** A server with a certificate of its own, and what it was asked. */
  async function serveTls(answer: string): Promise<{ host: string; ca: string; asked: string[] }> {
    const directory = mkdtempSync(join(tmpdir(), 'edge-tls-'));
    const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
    const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout ${key} -out ${cert}`;
    execFileSync('openssl', words.split(' '), { stdio: 'ignore' });
    const asked: string[] = [];
    const tls = createTls({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
      let body = '';
      request.on('data', (piece) => {
        body += piece;
      });
      request.on('end', () => {
        const {
          authorization = '',
          'fastly-key': fastly = '',
          'fastly-soft-purge': soft = '',
        } = request.headers;
        asked.push(`${request.method} ${request.url} ${authorization}${fastly} ${soft} ${body}`);
        response.writeHead(201, { 'Content-Type': 'application/json' });
        response.end(answer);
      });
    });
    const ca = readFileSync(cert, 'utf8');
    rmSync(directory, { recursive: true });
    await new Promise<void>((done) => tls.listen(0, 'localhost', done));
    open.push({ close: () => void tls.close() });
    return { host: `localhost:${(tls.address() as AddressInfo).port}`, ca, asked };
  }
  const configFor = (provider: string, host: string) =>
    parseEdgeConfig(
      `provider = ${provider}\npurge_host = ${host}\npurge_client_token = a\npurge_client_secret = b\npurge_access_token = c\n`,
      'test',
    );

  it.each<[string, Parameters<typeof batch>, string, string]>([
    [
      'fastly',
      ['invalidate', 'tag', 'k1', 'k2'],
      '{"k1":"7-1"}',
      'POST /service/a/purge c 1 {"surrogate_keys":["k1","k2"]}',
    ],
    ['fastly', ['delete', 'url', 'https://h/a?b'], '{"status":"ok","id":"7-1"}', 'POST /purge/h/a?b c  '],
    [
      'cloudflare',
      ['delete', 'url', 'https://h/a'],
      '{"success":true,"result":{"id":"7-1"}}',
      'POST /client/v4/zones/a/purge_cache Bearer c  {"files":["https://h/a"]}',
    ],
    [
      'cloudflare',
      ['delete', 'tag', 'k1'],
      '{"success":true,"result":{"id":"7-1"}}',
      'POST /client/v4/zones/a/purge_cache Bearer c  {"tags":["k1"]}',
    ],
  ])('of %s, %o', async (name, what, text, expected) => {
    const { host, ca, asked } = await serveTls(text);
    const provider = makeProvider(configFor(name, host), { ca });
    const result = await provider.send(batch(...what), new AbortController().signal);
    expect(asked).toEqual([expected]);
    expect(provider.classify(result, false)).toEqual({ is: 'acked', purgeId: '7-1' });
  });

  it('takes a certificate of purge_ca_file, and no other', async () => {
    const { host, ca } = await serveTls('{"purgeId":"tls"}');
    const config = configFor('akamai', host);
    const { signal } = new AbortController();
    const trusting = makeProvider(config, { ca });
    const result = await trusting.send(batch('delete', 'url', 'https://h/a'), signal);
    expect(trusting.classify(result, false)).toEqual({ is: 'acked', purgeId: 'tls' });
    const other = await makeProvider(config, { ca: null }).send(
      batch('delete', 'url', 'https://h/a'),
      signal,
    );
    expect(other.failure).toMatch(/self-signed certificate/);
  });
});
