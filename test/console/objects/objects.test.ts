// Objects of proxylog-json out of records: what the other side has seen, how it was handled, and members that records
// which are left out leave out. The schema that is published is the one of the tables.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { objectsText } from '../../../console/objects/make-objects.ts';
import { objectSchema } from '../../../console/objects/object-schema.ts';
import { encodeRecord } from '../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import { Tag, type TagName } from '../../../protocol/tables/tags.ts';
import { LogFileDecoder } from '../../../queries/binary-log.ts';
import { Grouper } from '../../../queries/group.ts';

const ALL = { form: 'transaction', client: true, backend: true, esi: true, pretty: false } as const;

function transaction(type: 'request' | 'bereq' | 'raw', text: string, reason = 'rxreq'): LogTransaction {
  const side = type === 'bereq' ? 'b' : 'c';
  const records = text
    .trim()
    .split('\n')
    .map((line) => {
      const [, tag = '', payload = ''] = /^\s*(\S+) ?(.*)$/.exec(line) ?? [];
      return encodeRecord(Tag[tag as TagName], 7, side, payload);
    });
  return { level: 1, type, reason, vxid: 7, parent: 3, records: Buffer.concat(records) };
}

function objectOf(type: 'request' | 'bereq', text: string): Record<string, Record<string, unknown>> {
  return JSON.parse(objectsText([[transaction(type, text)]], ALL));
}

describe('the object of a client’s request', () => {
  it('has the request as it came and the response as it left', () => {
    const object = objectOf(
      'request',
      `ReqStart 192.0.2.1 4711 a0
       ReqMethod GET
       ReqURL /a
       ReqProtocol HTTP/1.1
       ReqHeader Host: shop.example
       ReqHeader Accept: a
       ReqHeader Accept: b
       VCL_call RECV
       ReqURL /b
       ReqHeader X-Added: 1
       ReqUnset Host: shop.example
       VCL_call HIT
       RespProtocol HTTP/1.1
       RespStatus 200
       RespReason OK
       RespHeader Set-Cookie: a=1
       RespHeader Set-Cookie: b=2
       RespHeader X-Old: 1
       RespUnset X-Old: 1
       RespHeader Age: 3
       ReqAcct 100 5 105 60 3 63`,
    );
    expect(object).toMatchObject({
      req: { method: 'GET', url: '/a', proto: 'HTTP/1.1', hdrBytes: 100, bodyBytes: 5 },
      resp: { status: 200, reason: 'OK', proto: 'HTTP/1.1', hdrBytes: 60, bodyBytes: 3 },
      handling: 'hit',
      side: 'client',
      id: '7',
      client: { rAddr: '192.0.2.1', rPort: 4711, sock: 'a0' },
      timeline: [],
      links: [],
      logs: [],
    });
    expect(object.req?.headers).toEqual({ host: 'shop.example', accept: 'a, b' });
    expect(object.resp?.headers).toEqual({ age: '3' });
    expect(object.resp?.['set-cookie']).toEqual(['a=1', 'b=2']);
    expect(object).not.toHaveProperty('errors');
    expect(object).not.toHaveProperty('backend');
  });

  it('has the head of the response that took the place of another', () => {
    const { resp, handling } = objectOf(
      'request',
      `VCL_call DELIVER
       RespProtocol HTTP/1.1
       RespStatus 200
       RespHeader ETag: "1"
       VCL_return synth
       RespProtocol HTTP/1.1
       RespStatus 410
       RespReason Gone
       VCL_call SYNTH
       RespHeader Server: x
       RespProtocol HTTP/2.0`,
    );
    expect(resp).toMatchObject({ status: 410, proto: 'HTTP/2.0', headers: { server: 'x' } });
    expect(resp?.headers).not.toHaveProperty('etag');
    expect(handling).toBe('synth');
  });

  it.each([
    ['hit', 'VCL_call HIT'],
    ['streaming-hit', 'Hit 3 10 10 0 4096 9000\nVCL_call HIT'],
    ['miss', 'VCL_call MISS'],
    ['pass', 'VCL_call MISS\nVCL_return pass\nVCL_call PASS'],
    ['pipe', 'VCL_return pipe\nVCL_call HASH'],
    ['synth', 'VCL_call MISS\nVCL_call SYNTH'],
    ['fail', 'VCL_call RECV\nVCL_return fail\nVCL_call SYNTH'],
    [undefined, 'VCL_call RECV\nVCL_return restart'],
  ])('says that it was handled as %s', (handling, records) => {
    expect(objectOf('request', records).handling).toBe(handling);
  });

  it('has the bytes of a tunnel', () => {
    const object = objectOf('request', 'VCL_return pipe\nPipeAcct 80 90 1000 2000');
    expect(object).toMatchObject({ req: { hdrBytes: 80, bodyBytes: 1000 }, resp: { bodyBytes: 2000 } });
  });

  it('has errors, among them that it is incomplete, and what the program logged', () => {
    const object = objectOf('request', 'Error a\nVCL_Error b\nVCL_Log c\nVCL_Log d\nVSL timeout');
    expect(object).toMatchObject({ errors: ['a', 'b', 'timeout'], logs: ['c', 'd'] });
  });

  it('has text in UTF-8, and a character a byte where that is none', () => {
    const { req } = objectOf('request', 'ReqURL /\xc3\xa9\nReqHeader A: \xe9');
    expect(req).toMatchObject({ url: '/é', headers: { a: 'é' } });
  });
});

describe('the object of a fetch', () => {
  it('has the request as it was sent and the response as it came', () => {
    const object = objectOf(
      'bereq',
      `VCL_use boot
       BereqMethod GET
       BereqHeader A: 1
       VCL_call BACKEND_FETCH
       BereqUnset A: 1
       BereqHeader A: 2
       BackendOpen 25 default 127.0.0.1 8080 127.0.0.1 4711 reuse
       Timestamp Bereq: 1700000000.500000 0.1 0.1
       BereqHeader Late: 1
       BerespProtocol HTTP/1.1
       BerespStatus 304
       BerespReason Not Modified
       BerespHeader Own: 1
       BerespProtocol HTTP/1.1
       BerespStatus 200
       BerespHeader Merged: 1
       Timestamp Beresp: 1700000000.750000 0.2 0.1
       VCL_call BACKEND_RESPONSE
       Storage malloc s0
       Link bereq 9 retry
       BereqAcct 10 0 10 20 30 50`,
    );
    expect(object).toMatchObject({
      req: { method: 'GET', hdrBytes: 10 },
      resp: { status: 304, reason: 'Not Modified', hdrBytes: 20, bodyBytes: 30 },
      handling: 'fetch',
      side: 'backend',
      vcl: 'boot',
      backend: { name: 'default', rAddr: '127.0.0.1', rPort: 8080, connReused: true },
      storage: 'malloc s0',
      links: [{ type: 'bereq', id: '9', reason: 'retry' }],
      timeline: [
        { name: 'Bereq', timestamp: 1700000000.5 },
        { name: 'Beresp', timestamp: 1700000000.75 },
      ],
    });
    expect(object.req?.headers).toEqual({ a: '2' });
    expect(object.resp?.headers).toEqual({ own: '1' });
    expect(object).not.toHaveProperty('client');
  });

  it.each([
    ['error', 'VCL_call BACKEND_FETCH\nFetchError no\nVCL_call BACKEND_ERROR'],
    ['abandon', 'VCL_call BACKEND_FETCH\nVCL_return abandon'],
    ['fail', 'VCL_call BACKEND_FETCH\nVCL_return fail'],
  ])('says that it ended as %s', (handling, records) => {
    expect(objectOf('bereq', records).handling).toBe(handling);
  });

  it('names the director of a backend that was made at run time', () => {
    const name = (text: string): unknown =>
      objectOf('bereq', `BackendOpen 25 ${text} 127.0.0.1 80 127.0.0.1 4711 connect`).backend?.name;
    expect(name('goto.00000001.(127.0.0.1).(http://a.example:80)')).toBe('goto');
    expect(name('pool.(sa4:127.0.0.1:80)')).toBe('pool');
    expect(name('(odd)')).toBe('(odd)');
  });
});

describe('the text of objects', () => {
  const client = transaction('request', 'ReqURL /c');
  const esi = transaction('request', 'ReqURL /e', 'esi');
  const fetch = transaction('bereq', 'BereqURL /b', 'fetch');

  const urls = (options: Partial<typeof ALL> | object): string[] =>
    objectsText([[client, esi, fetch]], { ...ALL, ...options })
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line).req.url);

  it('has a line for each transaction of the sides that are shown', () => {
    expect(urls({})).toEqual(['/c', '/e', '/b']);
    expect(urls({ backend: false, esi: false })).toEqual(['/c']);
    expect(urls({ client: false })).toEqual(['/b']);
  });

  it('has a list for each group, and nothing for a group that is not shown', () => {
    const text = objectsText([[client, fetch], [esi]], { ...ALL, form: 'group', esi: false });
    expect(text.split('\n')).toHaveLength(2);
    expect(JSON.parse(text)).toHaveLength(2);
  });

  it('is indented when that is asked for', () => {
    expect(objectsText([[client]], { ...ALL, pretty: true })).toMatch(/^\{\n {2}"req": \{\n {4}"url": "\/c"/);
  });

  it('has an object for each probe, and none for a record that is none', () => {
    const probes = transaction(
      'raw',
      'Backend_health boot.a Went healthy 4---X-RH 5 3 8 0.002 0.001 "HTTP/1.1 200 OK"\nBackend_health odd',
    );
    expect(JSON.parse(objectsText([[probes]], { ...ALL, form: 'probe' }))).toEqual({
      name: 'boot.a',
      event: 'Went',
      state: 'healthy',
      window: { bits: '4---X-RH', good: 5, threshold: 3, size: 8 },
      responseTime: 0.002,
      averageTime: 0.001,
      answer: 'HTTP/1.1 200 OK',
    });
  });
});

interface Schema {
  type: string;
  enum?: unknown[];
  items?: Schema;
  additionalProperties?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
}

/** Where a value is not as the schema has it, or has a member that it does not name. */
function violations(value: unknown, schema: Schema, at = ''): string[] {
  const kind = Array.isArray(value) ? 'array' : typeof value;
  if (kind !== schema.type) return [`${at}: ${kind}, not ${schema.type}`];
  if (schema.enum !== undefined && !schema.enum.includes(value)) return [`${at}: ${value} is none of them`];
  if (Array.isArray(value)) {
    return value.flatMap((v, i) => violations(v, schema.items as Schema, `${at}[${i}]`));
  }
  if (typeof value !== 'object' || value === null) return [];
  const missing = (schema.required ?? []).filter((name) => !Object.hasOwn(value, name));
  return [
    ...missing.map((name) => `${at}: no ${name}`),
    ...Object.entries(value).flatMap(([name, v]) => {
      const known = schema.properties?.[name] ?? schema.additionalProperties;
      return known === undefined ? [`${at}: unknown ${name}`] : violations(v, known, `${at}.${name}`);
    }),
  ];
}

describe('the schema', () => {
  const published = JSON.parse(
    readFileSync(new URL('../../../protocol/log-object.schema.json', import.meta.url), 'utf8'),
  );

  it('that is published is the one of the tables', () => {
    expect(published).toEqual(objectSchema());
  });

  it.each(['mixed.vsl', 'varied.vsl'])('describes every object of %s', (file) => {
    const groups: LogTransaction[][] = [];
    const grouper = new Grouper({ grouping: 'request' }, (group) => groups.push(group));
    const bytes = readFileSync(new URL(`../../queries/fixtures/${file}`, import.meta.url));
    grouper.push(new LogFileDecoder().push(bytes) as Uint8Array, 0);
    grouper.flush();
    const lines = objectsText(groups, ALL).trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(20);
    for (const line of lines) expect(violations(JSON.parse(line), published.$defs.transaction)).toEqual([]);
    expect(violations({ side: 'c' }, published.$defs.transaction)).not.toEqual([]);
  });
});
