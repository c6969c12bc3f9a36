import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TEXT } from '../../../daemon/http1/byte-classes.ts';
import { parseRequestHead } from '../../../daemon/http1/head-parser.ts';
import { HEAD_COMPLETE, HeadResult } from '../../../daemon/http1/head-result.ts';
import { requestHeadLength } from '../../../daemon/http1/head-writer.ts';
import { HttpMessage, nameBit } from '../../../daemon/http1/message.ts';
import { normaliseTarget } from '../../../daemon/http1/request-host.ts';
import { HEAD_RULES, type HeadRuleName } from '../../../daemon/http2/head-rules.ts';
import { HeaderField } from '../../../daemon/http2/header-field.ts';
import { Http2RequestHead, quoteField, trailerFault } from '../../../daemon/http2/http2-request-head.ts';

type Pair = readonly [name: string, value: string];

const LIMITS = { maxLine: 200, maxFields: 6, maxSize: 600 };
const GET: readonly Pair[] = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/'],
];
const AUTHORITY: Pair = [':authority', 'www.example.com'];

const EARLIER: readonly Pair[] = [
  ...GET,
  AUTHORITY,
  ['cookie', 'z=1'],
  ['cookie', 'y=2'],
  ['content-length', '7'],
];

/** The head of these fields, after one that has left something of everything. */
function headOf(pairs: readonly Pair[], limits = LIMITS) {
  const head = new Http2RequestHead();
  const fill = (msg: HttpMessage, fields: readonly Pair[], most: typeof LIMITS) => {
    head.begin(msg, most);
    for (const [name, value] of fields) head.take(new HeaderField(name, value));
    return head.end();
  };
  fill(new HttpMessage(0), EARLIER, LIMITS);
  const msg = new HttpMessage(0);
  const fault = fill(msg, pairs, limits);
  const all = msg.lines.slice(0, msg.n);
  return { head, msg, fault, all, lines: all.filter((line) => !line.startsWith('scheme: ')) };
}

describe('a request', () => {
  it('has its method, target and lines, the authority as the first', () => {
    const { head, msg, fault, lines } = headOf([
      [':scheme', 'https'],
      [':path', '/a?b=c'],
      [':authority', 'www.Example.com:8443'],
      [':method', 'PURGE'],
      ['accept', '*/*'],
      ['te', 'trailers'],
      ['x-empty', ''],
    ]);
    expect(fault).toBeNull();
    expect([msg.method, msg.url, msg.proto, head.scheme]).toEqual(['PURGE', '/a?b=c', 'HTTP/2.0', 'https']);
    expect(lines).toEqual(['host: www.Example.com:8443', 'accept: */*', 'te: trailers', 'x-empty: ']);
    expect(msg.keys.slice(0, msg.n)).toEqual(['scheme', 'host', 'accept', 'te', 'x-empty']);
    expect(msg.get('host')).toBe('www.Example.com:8443');
    expect(msg.names).toBe(
      ['scheme', 'host', 'accept', 'te', 'x-empty'].reduce((bits, key) => bits | nameBit(key), 0),
    );
  });

  it('has its scheme as a header, where it stood', () => {
    const { all, msg } = headOf([...GET, AUTHORITY, ['accept', '*/*']]);
    expect(all).toEqual(['scheme: https', 'host: www.example.com', 'accept: */*']);
    expect(msg.get('scheme')).toBe('https');
  });

  it('has a host without an authority where the client has sent it', () => {
    expect(headOf([...GET, ['accept', '*/*'], ['host', 'a']]).lines).toEqual(['accept: */*', 'host: a']);
    expect(headOf(GET).lines).toEqual([]);
  });

  it.each([
    ['www.example.com', 'www.example.com'],
    ['WWW.example.com', 'www.Example.com'],
    ['www.example.com:443', 'www.example.com'],
    ['www.example.com', 'www.example.com:'],
  ])('has one host of authority %s and host %s', (authority, host) => {
    const { fault, lines } = headOf([...GET, [':authority', authority], ['host', host], ['host', host]]);
    expect(fault).toBeNull();
    expect(lines).toEqual([`host: ${authority}`]);
  });

  it('may have its pseudo-headers anywhere if it has no :authority, as the clients of vtc(7) write them', () => {
    const { fault, lines } = headOf([['host', 'a'], ['x', '1'], ...GET]);
    expect([fault, lines]).toEqual([null, ['host: a', 'x: 1']]);
  });

  it('has the crumbs of its cookie in one line where the first one was', () => {
    const pairs: Pair[] = [...GET, ['cookie', 'a=1'], ['accept', '*/*'], ['cookie', 'b=2'], ['cookie', 'c']];
    const { msg, lines } = headOf(pairs);
    expect(lines).toEqual(['cookie: a=1; b=2; c', 'accept: */*']);
    expect(msg.keys.slice(0, msg.n)).toEqual(['scheme', 'cookie', 'accept']);
    expect(headOf([...GET, ['cookie', 'a=1']]).lines).toEqual(['cookie: a=1']);
  });

  it('ends a cookie without a space, also after an empty crumb', () => {
    const { lines } = headOf([...GET, ['cookie', 'a=b'], ['cookie', '']]);
    expect(lines).toContain('cookie: a=b;');
  });

  it('has the line of crumbs that are the same as before', () => {
    const head = new Http2RequestHead();
    const fields = [...GET, ['cookie', 'a'] as const, ['cookie', 'b'] as const].map(
      ([name, value]) => new HeaderField(name, value),
    );
    const lines = [fields, fields, [...fields, new HeaderField('cookie', 'c')], fields].map((all) => {
      const msg = new HttpMessage(0);
      head.begin(msg, LIMITS);
      for (const field of all) head.take(field);
      head.end();
      return msg.lines[msg.n - 1];
    });
    expect(lines).toEqual(['cookie: a; b', 'cookie: a; b', 'cookie: a; b; c', 'cookie: a; b']);
  });

  it('has one length, which may be repeated', () => {
    const { head, lines } = headOf([...GET, ['content-length', '12'], ['content-length', '12']]);
    expect(head.contentLength).toBe(12);
    expect(lines).toEqual(['content-length: 12']);
    expect(headOf(GET).head.contentLength).toBe(-1);
  });

  it('may be about the server as a whole', () => {
    const { msg, fault } = headOf([[':method', 'OPTIONS'], [':scheme', 'http'], [':path', '*'], AUTHORITY]);
    expect([fault, msg.url, normaliseTarget(msg)]).toEqual([null, '*', null]);
  });

  it('may be CONNECT, in the authority form', () => {
    const { msg, fault, lines } = headOf([
      [':method', 'CONNECT'],
      [':authority', 'a:443'],
    ]);
    expect([fault, msg.method, msg.url, lines]).toEqual([null, 'CONNECT', 'a:443', ['host: a:443']]);
    expect(normaliseTarget(msg)).toBeNull();
  });

  it('counts as many octets as HTTP/1 would write', () => {
    const pairs: Pair[] = [...GET, AUTHORITY, ['cookie', 'a=1'], ['accept', '*/*'], ['cookie', 'b=2']];
    const { head, msg } = headOf(pairs);
    expect(head.bytes).toBe(requestHeadLength(msg));
  });

  it('names a field for the log, shortened and without control characters', () => {
    expect(quoteField(new HeaderField('x-y', 'a\r\nb\0\x7f'))).toBe('"x-y: a\\x0d\\x0ab\\x00\\x7f"');
    expect(quoteField(new HeaderField('x', 'v'.repeat(100)))).toBe(`"x: ${'v'.repeat(57)}..."`);
    expect(quoteField(new HeaderField('n'.repeat(100), ''))).toBe(`"${'n'.repeat(60)}..."`);
  });
});

/** Fields beside :method, :scheme and :path, unless the row has its own, by the rule that they break. */
const BROKEN: readonly (readonly [rule: HeadRuleName, pairs: readonly Pair[]])[] = [
  ['name_empty', [...GET, ['', 'x']]],
  ['name_case', [...GET, ['Accept', 'x']]],
  ['name_case', [...GET, ['x-fOo', 'x']]],
  ...[' ', '\t', '\r', '\n', '\0', ':', '\x7f', '\xe4', '(', '/'].flatMap((c) => [
    ['name_token', [...GET, [`a${c}b`, 'x']]] as const,
    ['name_token', [...GET, [`a${c}`, 'x']]] as const,
  ]),
  ...['\r', '\n', '\0', '\x0b', '\x7f', '\x1b', '\r\nx: y', '\r\n\r\nGET / HTTP/1.1\r\n'].flatMap((c) => [
    ['value_control', [...GET, ['x', `a${c}b`]]] as const,
    ['value_control', [...GET, ['x', c]]] as const,
    ['value_control', [[':method', `GE${c}T`]]] as const,
    ['value_control', [[':path', `/a${c}b`]]] as const,
    ['value_control', [[':authority', `a${c}b`]]] as const,
    ['value_control', [[':scheme', `http${c}`]]] as const,
    ['value_control', [...GET, ['content-length', `5${c}`]]] as const,
  ]),
  ...[' a', 'a ', '\ta', 'a\t', ' '].map((value) => ['value_blank', [...GET, ['x', value]]] as const),
  ['value_blank', [...GET, ['host', 'a ']]],
  ['value_blank', [[':path', '/a ']]],
  ...['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'upgrade'].map(
    (name) => ['connection_field', [...GET, [name, 'close']]] as const,
  ),
  ['te', [...GET, ['te', 'gzip']]],
  ['te', [...GET, ['te', 'trailers, deflate']]],
  ['te', [...GET, ['te', '']]],
  ...[':status', ':protocol', ':', ':Method', ':path ', ':\r\n'].map(
    (name) => ['pseudo_unknown', [...GET, [name, '200']]] as const,
  ),
  ...['', 'G T', 'GET:', 'G\xe4T', 'GET /x', '(GET)'].map(
    (value) => ['method', [[':method', value]]] as const,
  ),
  ...['', 'ftp', 'HTTP', 'https:', 'http://a', 'javascript'].map(
    (value) => ['scheme', [[':scheme', value]]] as const,
  ),
  ['path_empty', [[':path', '']]],
  ...['a', 'http://a/', '**', '?a', '/a b', '/a\tb', '/ HTTP/1.1', '\\', '//a b'].map(
    (value) => ['path', [[':path', value]]] as const,
  ),
  ...['', 'a b', 'user@a', 'user:secret@a:80', '@', 'a\tb'].map(
    (value) => ['authority', [...GET, [':authority', value]]] as const,
  ),
  ...[...GET, AUTHORITY].map((pair) => ['pseudo_repeated', [...GET, AUTHORITY, pair]] as const),
  ...GET.map((pair) => ['pseudo_late', [AUTHORITY, ['accept', 'x'], pair]] as const),
  ['pseudo_late', [['accept', 'x'], AUTHORITY]],
  ['pseudo_late', [...GET, ['cookie', 'x'], AUTHORITY]],
  ['pseudo_late', [...GET, ['host', 'www.example.com'], AUTHORITY]],
  ['pseudo_late', [...GET, ['content-length', '1'], AUTHORITY]],
  ['method_missing', []],
  ['method_missing', [[':scheme', 'http'], [':path', '/'], AUTHORITY]],
  ['scheme_missing', [[':method', 'GET'], [':path', '/'], AUTHORITY]],
  ['path_missing', [[':method', 'GET'], [':scheme', 'http'], AUTHORITY]],
  [
    'path_asterisk',
    [
      [':method', 'GET'],
      [':scheme', 'http'],
      [':path', '*'],
    ],
  ],
  ['connect', [[':method', 'CONNECT']]],
  [
    'connect',
    [
      [':method', 'CONNECT'],
      ['host', 'a:443'],
    ],
  ],
  ['connect', [[':method', 'CONNECT'], AUTHORITY, [':scheme', 'http']]],
  ['connect', [[':method', 'CONNECT'], AUTHORITY, [':path', '/']]],
  ['host_differs', [...GET, AUTHORITY, ['host', 'other.example']]],
  ['host_differs', [...GET, AUTHORITY, ['host', 'www.example.com:80']]],
  ['host_differs', [...GET, AUTHORITY, ['host', '']]],
  ['host_differs', [...GET, ['host', 'a'], ['host', 'b']]],
  ...['', '-1', '+1', '1x', '5, 5', '0x10', '99999999999999999', '1.0'].map(
    (value) => ['length_invalid', [...GET, ['content-length', value]]] as const,
  ),
  ['length_conflict', [...GET, ['content-length', '1'], ['content-length', '2']]],
  ['line_long', [...GET, ['x', 'y'.repeat(LIMITS.maxLine)]]],
  ['line_long', [...GET, ['cookie', 'y'.repeat(LIMITS.maxLine)], ['cookie', 'z']]],
  ['line_long', [...GET, ['cookie', 'y'.repeat(100)], ['cookie', 'z'.repeat(100)]]],
  ['line_long', [...GET, [':authority', 'y'.repeat(LIMITS.maxLine)]]],
  ['fields_many', [...GET, ...Array.from({ length: 7 }, (_, i): Pair => [`x-${i}`, ''])]],
  ['overflow', [...GET, ...Array.from({ length: 4 }, (_, i): Pair => [`x-${i}`, 'y'.repeat(160)])]],
];

describe('a head is refused when', () => {
  for (const [rule, pairs] of BROKEN) {
    it(`${HEAD_RULES[rule].words}: ${JSON.stringify(pairs.at(-1) ?? [])}`, () => {
      expect(headOf(pairs).fault?.rule).toBe(rule);
    });
  }

  it('has a row for each rule', () => {
    const judged = new Set<string>(BROKEN.map(([rule]) => rule));
    expect(Object.keys(HEAD_RULES).filter((rule) => !judged.has(rule))).toEqual(['pseudo_trailer']);
  });

  it('breaks the first of several rules, and a malformed one before a limit', () => {
    expect(headOf([...GET, ['A', ''], ['te', 'x']]).fault).toEqual({ rule: 'name_case', place: '"A: "' });
    expect(headOf([...GET, ['x', 'y'.repeat(300)], ['te', 'x']]).fault?.rule).toBe('te');
    expect(
      headOf([
        [':method', 'GET'],
        ['x', 'y'.repeat(300)],
      ]).fault?.rule,
    ).toBe('scheme_missing');
  });

  it('keeps of a head that is too large what fits', () => {
    const { head, msg, lines } = headOf([...GET, AUTHORITY, ['x', 'y'.repeat(300)], ['z', '1']]);
    expect([msg.method, msg.url, lines]).toEqual(['GET', '/', ['host: www.example.com', 'z: 1']]);
    expect(head.bytes).toBe(requestHeadLength(msg) + 305);
  });

  it('keeps no line of a cookie whose first crumb does not fit', () => {
    const crumb: Pair = ['cookie', 'a'];
    expect(headOf([...GET, ['cookie', 'y'.repeat(300)], ['x', '1'], crumb, ['y', '2']]).lines).toEqual([
      'x: 1',
      'y: 2',
    ]);
  });

  it('says nothing about the next head', () => {
    const head = new Http2RequestHead();
    for (const [value, rule] of [
      ['y'.repeat(300), 'line_long'],
      ['a\0', 'value_control'],
      ['y', undefined],
    ] as const) {
      head.begin(new HttpMessage(0), LIMITS);
      for (const [name, text] of [...GET, ['x', value] as const]) head.take(new HeaderField(name, text));
      expect(head.end()?.rule).toBe(rule);
    }
  });

  it('takes as many fields and as long ones as it may', () => {
    const { fault } = headOf([
      ...GET,
      AUTHORITY,
      ['x', 'y'.repeat(LIMITS.maxLine - 3)],
      ...Array.from({ length: 3 }, (_, i): Pair => [`x-${i}`, '']),
      ['host', AUTHORITY[1]],
    ]);
    expect(fault).toBeNull();
  });
});

it('a value may hold the octets that one of HTTP/1 may hold', () => {
  for (let c = 0; c < 256; c++) {
    const { fault } = new HeaderField('x', `a${String.fromCharCode(c)}b`);
    expect(fault).toBe(TEXT[c] === 1 ? 0 : 'value_control');
  }
});

describe('trailers', () => {
  it.each([
    ['x-checksum', '1', null],
    [':path', '/', 'pseudo_trailer'],
    [':status', '200', 'pseudo_trailer'],
    ['X', '1', 'name_case'],
    ['connection', 'close', 'connection_field'],
    ['x', 'a\nb', 'value_control'],
  ])('with %s: %s are judged', (name, value, rule) => {
    expect(trailerFault(new HeaderField(name, value))).toBe(rule);
  });
});

it('a head that is accepted means the same when it is written as HTTP/1', () => {
  const text = fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map((c) => String.fromCharCode(c)),
    maxLength: 6,
  });
  const name = fc.oneof(
    fc.constantFrom(':authority', ':path', ':method', 'host', 'cookie', 'content-length', 'te', 'x-a', 'x-b'),
    text,
  );
  const value = fc.oneof(fc.constantFrom('/', 'a', '1', 'GET', '*', 'trailers', ' ', 'a: b', 'a\r\nb'), text);
  const pairs = fc.array(fc.tuple(name, value), { maxLength: 5 });
  const limits = { maxLine: 1000, maxFields: 50, maxSize: 10_000 };
  let accepted = 0;
  fc.assert(
    fc.property(pairs, fc.boolean(), (tail, whole) => {
      const { msg, fault } = headOf([...(whole ? GET : GET.slice(0, 2)), ...tail], limits);
      if (fault !== null) return;
      accepted++;
      const wire = `${msg.method} ${msg.url} HTTP/1.1\r\n${msg.lines.slice(0, msg.n).join('\r\n')}`;
      const bytes = Buffer.from(`${wire}${msg.n === 0 ? '' : '\r\n'}\r\n`, 'latin1');
      const read = new HttpMessage(0);
      const result = new HeadResult();
      expect(parseRequestHead(bytes, 0, bytes.length, limits, read, result)).toBe(HEAD_COMPLETE);
      expect([result.headEnd, read.method, read.url]).toEqual([bytes.length, msg.method, msg.url]);
      expect(read.keys.slice(0, read.n)).toEqual(msg.keys.slice(0, msg.n));
      for (let i = 0; i < msg.n; i++) {
        expect(read.valueAt(i)).toBe(msg.valueAt(i));
        for (const c of Buffer.from(msg.lines[i] ?? '', 'latin1')) expect(TEXT[c]).toBe(1);
      }
    }),
    { numRuns: 2000 },
  );
  expect(accepted).toBeGreaterThan(100);
});
