// A generated matrix of exchanges: statuses, cache headers, validators and methods of the first request, times
// follow-up requests (conditions, ranges, other methods and versions). One URL per combination, several requests
// each, in order; recorded is what client and origin saw.
import { createHash } from 'node:crypto';
import { ClientConnection, type Response } from '../harness/http-client.ts';
import { IdNames, normaliseText } from '../harness/log-text.ts';
import { Origin, type OriginRequest, type Reply, respond } from '../harness/origin.ts';
import type { Sandbox } from '../harness/processes.ts';
import { backendProgram, type Product, startProxy } from '../harness/proxy.ts';
import { type PlayedConnection, RequestsOverHttp2 } from './requests-over-http2.ts';
import { CaseTimes } from './slow-machine.ts';

type Protocol = 'HTTP/1' | 'HTTP/2';
type Fields = Readonly<Record<string, string>>;

interface Ask {
  name: string;
  method?: string;
  proto?: string;
  fields?: Fields;
  body?: string;
}

/** One URL: its origin's response and the requests in turn. */
export interface Combination {
  url: string;
  status: number;
  fields: Fields;
  asks: readonly Ask[];
}

const SINCE = 'Thu, 01 Jan 2015 00:00:00 GMT';
export const STATUSES = [
  200, 201, 203, 204, 300, 301, 302, 303, 307, 308, 400, 404, 410, 414, 451, 500, 503, 599,
];

const LIVES: Fields[] = [
  {},
  { 'Cache-Control': 'max-age=60' },
  { 'Cache-Control': 'max-age=0' },
  { 'Cache-Control': 'max-age=1, s-maxage=60' },
  { 'Cache-Control': 'max-age=60, must-revalidate' },
  { 'Cache-Control': 'private, max-age=60' },
  { 'Cache-Control': 'no-store' },
  { 'Cache-Control': 'no-cache' },
  { 'Cache-Control': 'max-age=60', Age: '30' },
  { 'Cache-Control': 'max-age=60', Age: '90' },
  { 'Cache-Control': 'max-age=60', 'Set-Cookie': 'a=b' },
  { 'Cache-Control': 'max-age=60', Vary: 'X-V' },
  { 'Cache-Control': 'max-age=60', Vary: '*' },
  { 'Surrogate-Control': 'no-store' },
  { Expires: SINCE },
  { Expires: 'Thu, 01 Jan 2037 00:00:00 GMT' },
  { Pragma: 'no-cache' },
];

const VALIDATORS: Fields[] = [{}, { ETag: '"v"', 'Last-Modified': SINCE }, { ETag: 'W/"v"' }];

const NEXT: Ask[] = [
  { name: 'again' },
  { name: 'etag matches', fields: { 'If-None-Match': '"v"' } },
  { name: 'weak etag matches', fields: { 'If-None-Match': 'W/"v"' } },
  { name: 'etag differs', fields: { 'If-None-Match': '"w"' } },
  { name: 'same date', fields: { 'If-Modified-Since': SINCE } },
  { name: 'older date', fields: { 'If-Modified-Since': 'Wed, 01 Jan 2014 00:00:00 GMT' } },
  { name: 'newer date', fields: { 'If-Modified-Since': 'Fri, 01 Jan 2016 00:00:00 GMT' } },
  { name: 'etag differs, date agrees', fields: { 'If-None-Match': '"w"', 'If-Modified-Since': SINCE } },
  { name: 'range', fields: { Range: 'bytes=1-3' } },
  { name: 'suffix', fields: { Range: 'bytes=-3' } },
  { name: 'range behind the end', fields: { Range: 'bytes=90-' } },
  { name: 'two ranges', fields: { Range: 'bytes=0-1,3-4' } },
  { name: 'range of this', fields: { Range: 'bytes=1-3', 'If-Range': '"v"' } },
  { name: 'range of another', fields: { Range: 'bytes=1-3', 'If-Range': '"w"' } },
  { name: 'head', method: 'HEAD' },
  { name: 'http 1.0', proto: 'HTTP/1.0' },
  { name: 'http 1.0 kept', proto: 'HTTP/1.0', fields: { Connection: 'keep-alive' } },
  { name: 'cookie', fields: { Cookie: 'a=b' } },
  { name: 'cookie and a condition', fields: { Cookie: 'a=b', 'If-None-Match': '"v"' } },
  { name: 'authorization', fields: { Authorization: 'Basic Zm9vOmJhcg==' } },
  { name: 'no-cache asked', fields: { 'Cache-Control': 'no-cache' } },
  { name: 'another variant', fields: { 'X-V': '2' } },
  { name: 'gzip taken', fields: { 'Accept-Encoding': 'gzip, br' } },
  { name: 'post', method: 'POST', body: 'a=1' },
  { name: 'closed', fields: { Connection: 'close' } },
];

const FIRST: Ask[] = ['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE'].map((method) => ({
  name: method.toLowerCase(),
  method,
  ...(/^P/.test(method) ? { body: 'data' } : {}),
}));

/** Follow-ups of one combination; which ones turns with its number, so that all meet all over the matrix. */
const EACH = 9;

export function combinations(): Combination[] {
  const out: Combination[] = [];
  const add = (status: number, fields: Fields, asks: Ask[]): void => {
    out.push({ url: `/m/${out.length}`, status, fields, asks });
  };
  let turn = 0;
  for (const status of STATUSES) {
    for (const life of LIVES) {
      for (const validator of VALIDATORS) {
        const asks: Ask[] = [{ name: 'first' }];
        for (let i = 0; i < EACH; i++) asks.push(NEXT[turn++ % NEXT.length] as Ask);
        add(status, { ...life, ...validator }, asks);
      }
    }
  }
  for (const first of FIRST) {
    for (const status of STATUSES) {
      for (const life of LIVES.slice(0, 3)) add(status, life, [first, { name: 'then get' }, first]);
    }
  }
  return out;
}

/** The lines of all combinations with a status, each with the fields of its origin's response. */
export function linesOf(status: number, answer: (url: string) => readonly string[]): string[] {
  const mine = combinations().filter((c) => c.status === status);
  return mine.flatMap((c) => answer(c.url).map((line) => `${JSON.stringify(c.fields)} ${line}`));
}

function replyOf(c: Combination): Reply {
  return respond(`${c.status} Some`, { ...c.fields }, c.status === 204 ? '' : 'The quick fox');
}

function textOf(ask: Ask, url: string): string {
  let text = `${ask.method ?? 'GET'} ${url} ${ask.proto ?? 'HTTP/1.1'}\r\nHost: example.test\r\n`;
  for (const [name, value] of Object.entries(ask.fields ?? {})) text += `${name}: ${value}\r\n`;
  if (ask.body !== undefined) text += `Content-Length: ${ask.body.length}\r\n`;
  return `${text}\r\n${ask.body ?? ''}`;
}

/** A response in one line; ids become their number, so that a hit shows. */
function lineOf(response: Response): string {
  const own = response.body.toString('latin1', 0, 15) === '<!DOCTYPE html>';
  const fields = response.fields.map(([name, value]) => {
    if (/^x-(varnish|proxy-id)$/i.test(name)) return `Ids: ${value.split(' ').length}`;
    if (own && /^content-length$/i.test(name)) return `${name}: PAGE`;
    return normaliseText(`${name}: ${value}`, new IdNames());
  });
  const body = own ? 'page' : createHash('sha1').update(response.body).digest('hex').slice(0, 8);
  const end = response.complete ? body : `${body} CUT`;
  return `${response.status} ${response.reason} | ${fields.join(' | ')} | ${response.framing} ${end}`;
}

function askedOf(request: OriginRequest): string {
  const head = request.head.replace(/X-(?:Varnish|Proxy-Id): \d+/i, 'Id').trimEnd();
  return `${head.replaceAll('\r\n', ' | ')} + ${request.body.toString('latin1')}`;
}

/** Only HTTP/1 has versions and lives of a connection. */
function isOfHttp1({ proto, fields }: Ask): boolean {
  return proto !== undefined || fields?.Connection !== undefined;
}

async function playOne(port: number, c: Combination, protocol: Protocol): Promise<string[]> {
  const lines: string[] = [];
  const { open } = protocol === 'HTTP/2' ? RequestsOverHttp2 : ClientConnection;
  let connection: PlayedConnection | null = null;
  for (const ask of c.asks) {
    if (protocol === 'HTTP/2' && isOfHttp1(ask)) continue;
    if (connection === null || connection.ended) connection = await open(port);
    connection.send(textOf(ask, c.url));
    lines.push(`${ask.name}: ${lineOf(await connection.response(ask.method))}`);
    const closes =
      ask.fields?.Connection === 'close' || (ask.proto !== undefined && ask.fields === undefined);
    if (closes) {
      if (!(await connection.closedByPeer())) lines.push('surplus bytes');
      connection = null;
    }
  }
  connection?.close();
  return lines;
}

/** Plays everything against one product: by URL, the clients' responses followed by the origin's requests. */
export async function playMatrix(
  box: Sandbox,
  product: Product,
  times = new CaseTimes(),
  protocol: Protocol = 'HTTP/1',
): Promise<Map<string, string[]>> {
  const all = combinations();
  const origin = await Origin.start();
  for (const c of all) origin.on(c.url, replyOf(c));
  const proxy = await startProxy(box, {
    product,
    program: backendProgram(origin.port),
    dir: box.path(`matrix-${product}`),
    params: protocol === 'HTTP/2' ? { feature: '+http2' } : {},
  });
  const seen = new Map<string, string[]>();
  try {
    let next = 0;
    const player = async (): Promise<void> => {
      for (let i = next++; i < all.length; i = next++) {
        const c = all[i] as Combination;
        const end = times.start(c.url);
        seen.set(c.url, await playOne(proxy.port, c, protocol));
        end();
      }
    };
    await Promise.all(Array.from({ length: 8 }, player));
    for (const r of origin.requests) seen.get(r.url)?.push(`origin: ${askedOf(r)}`);
    return seen;
  } finally {
    await proxy.stop().catch(() => {});
    await origin.close();
  }
}
