// Requests of HTTP/2 that would be other requests once they are written as HTTP/1. The origin keeps the bytes of each
// connection, and a reader of its own, which allows nothing, finds one request in them or none: the one that was sent.
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DowngradeCase, downgradeCases } from '../harness/downgrade-heads.ts';
import { hpackLiterals } from '../harness/hpack-text.ts';
import { Http2Client } from '../harness/http2-client.ts';
import { FLAG, FRAME, frame } from '../harness/http2-frames.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-http2-smuggling');
/** Requests of one connection. */
const TOGETHER = 20;
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok';
const received: string[] = [];
let server: Server;
let proxy: RunningProxy;

interface PlainRequest {
  readonly method: string;
  readonly target: string;
  readonly fields: readonly (readonly [string, string])[];
  readonly body: string;
}

/** The one request that a text is; null while it is not whole, and a text for what makes it another thing. */
function readStrictly(text: string): PlainRequest | string | null {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [start = '', ...lines] = text.slice(0, end).split('\r\n');
  const [, method, target] =
    /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([^\0-\x20\x7f#]+) HTTP\/1\.1$/.exec(start) ?? [];
  if (method === undefined || target === undefined) return `start line ${JSON.stringify(start)}`;
  const fields: (readonly [string, string])[] = [];
  for (const line of lines) {
    const [, name, value] = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+): ?([^\0-\x08\x0a-\x1f\x7f]*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return `line ${JSON.stringify(line)}`;
    fields.push([name.toLowerCase(), value]);
  }
  const all = (name: string): string[] => fields.flatMap(([each, value]) => (each === name ? [value] : []));
  if (all('host').length !== 1) return `${all('host').length} hosts`;
  for (const name of ['connection', 'upgrade', 'keep-alive', 'proxy-connection', 'http2-settings'])
    if (all(name).length > 0) return `${name} is there`;
  const lengths = all('content-length');
  const codings = all('transfer-encoding');
  if (lengths.length + codings.length > 1) return 'two framings';
  const rest = text.slice(end + 4);
  const [length] = lengths;
  if (length !== undefined) {
    if (!/^(?:0|[1-9]\d*)$/.test(length) && !/^\d+$/.test(length)) return `length ${length}`;
    if (rest.length > Number(length)) return 'bytes behind the body';
    return rest.length < Number(length) ? null : { method, target, fields, body: rest };
  }
  if (codings.length === 0)
    return rest === '' ? { method, target, fields, body: '' } : 'bytes behind the head';
  if (codings[0] !== 'chunked') return `coding ${codings[0]}`;
  const body = unchunked(rest);
  return body === null || body === 'more'
    ? body === null
      ? null
      : 'bytes behind the chunks'
    : { method, target, fields, ...body };
}

function unchunked(text: string): { body: string } | 'more' | null {
  let at = 0;
  let body = '';
  for (;;) {
    const [line, size] = /^([0-9a-fA-F]+)\r\n/.exec(text.slice(at)) ?? [];
    if (line === undefined || size === undefined) return null;
    const bytes = Number.parseInt(size, 16);
    at += line.length;
    if (text.slice(at + bytes, at + bytes + 2) !== '\r\n') return null;
    body += text.slice(at, at + bytes);
    at += bytes + 2;
    if (bytes === 0) return at === text.length ? { body } : 'more';
  }
}

beforeAll(async () => {
  server = createServer((socket) => {
    const place = received.push('') - 1;
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      received[place] += bytes.toString('latin1');
      if (readStrictly(received[place] as string) !== null) socket.end(ANSWER);
    });
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
  proxy = await startProxy(box, {
    program: backendProgram(
      port,
      'sub vcl_recv { if (req.method != "CONNECT" && req.method != "PRI") { return (pass); } }',
    ),
    params: { feature: '+http2', h2_rapid_reset_limit: '0', backend_local_error_holddown: '0' },
  });
});
afterAll(async () => {
  await box.dispose();
  server.close();
});

/** Sends a case; resolves with what became of it. */
async function play(client: Http2Client, stream: number, each: DowngradeCase, mark: string): Promise<string> {
  const { fields, body } = each;
  const ends = body === null ? FLAG.END_STREAM : 0;
  client.send(
    frame(FRAME.HEADERS, ends | FLAG.END_HEADERS, stream, hpackLiterals([...fields, ['x-case', mark]])),
    ...(body === null ? [] : [frame(FRAME.DATA, FLAG.END_STREAM, stream, body)]),
  );
  const { status, reset } = await client.response(stream);
  return status > 0 ? String(status) : `reset ${reset}`;
}

/** The fault in the way a case was handled, or null. */
function judge(each: DowngradeCase, mark: string, outcome: string): string | null {
  const seen = received.filter((text) => text.includes(`x-case: ${mark}\r\n`));
  const isRefused = /^(?:reset [1-9]\d*|400|405|501)$/.test(outcome);
  const wrong = (what: string): string => `${each.name}: ${what} (${outcome}) ${JSON.stringify(seen)}`;
  if (each.verdict === 'refused') {
    if (seen.length > 0) return wrong('reached the origin');
    return isRefused ? null : wrong('was not refused');
  }
  if (isRefused && seen.length === 0) return null;
  if (each.verdict === 'broken') {
    const whole = seen.filter((text) => readStrictly(text) !== null);
    return isRefused && whole.length === 0 ? null : wrong('is whole');
  }
  if (seen.length !== 1) return wrong(`reached the origin ${seen.length} times`);
  const request = readStrictly(seen[0] as string);
  if (request === null || typeof request === 'string') return wrong(request ?? 'is not whole');
  const value = (name: string): string | undefined => each.fields.find(([key]) => key === name)?.[1];
  if (request.method !== value(':method')) return wrong('has another method');
  if (request.target !== value(':path')) return wrong('has another target');
  const host = value(':authority') ?? value('host');
  if (host !== undefined && request.fields.find(([name]) => name === 'host')?.[1] !== host)
    return wrong('has another host');
  // A body of a GET is dropped where it might change what is answered.
  if (request.body !== (each.body ?? '') && request.method === 'POST') return wrong('has another body');
  return null;
}

describe('a request of HTTP/2 that would be another as HTTP/1', () => {
  const cases = downgradeCases();

  it(`reaches no origin, in ${cases.length} forms`, async () => {
    expect(cases.length).toBeGreaterThan(300);
    const wrong: string[] = [];
    for (let at = 0; at < cases.length; at += TOGETHER) {
      const client = await Http2Client.connect(proxy.port);
      const some = cases.slice(at, at + TOGETHER);
      const outcomes = await Promise.all(some.map((each, i) => play(client, 2 * i + 1, each, `c${at + i}.`)));
      for (const [i, each] of some.entries()) {
        const found = judge(each, `c${at + i}.`, outcomes[i] as string);
        if (found !== null) wrong.push(found);
      }
      client.close();
    }
    expect(wrong).toEqual([]);
  });

  it('leaves the origin with whole requests that have one reading, and no more of them than were sent', () => {
    const refused = cases.flatMap(({ verdict }, i) => (verdict === 'refused' ? [`x-case: c${i}.`] : []));
    expect(received.filter((text) => refused.some((mark) => text.includes(mark)))).toEqual([]);
    const read = received.map(readStrictly);
    expect(read.filter((each) => typeof each === 'string')).toEqual([]);
    const count = (verdict: DowngradeCase['verdict']): number =>
      cases.filter((each) => each.verdict === verdict).length;
    const partly = received.filter((text, i) => text !== '' && read[i] === null);
    if (partly.length > count('broken')) expect(partly).toEqual([]);
    expect(received.filter((text) => text.startsWith('GET /smuggled'))).toEqual([]);
    expect(received.length).toBeLessThanOrEqual(count('clean') + count('broken'));
    expect(received.length).toBeGreaterThan(count('clean') / 2);
  });
});
