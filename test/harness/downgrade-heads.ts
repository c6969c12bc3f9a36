// Heads of HTTP/2 that would mean something else once they are written as HTTP/1: line ends, blanks and colons where HTTP/1
// has its own, lengths and codings, several hosts, targets of other forms.

import type { Field } from './hpack-text.ts';

export interface DowngradeCase {
  readonly name: string;
  /** All fields, pseudo-headers too, in order. */
  readonly fields: readonly Field[];
  readonly body: string | null;
  /** `refused`: no origin may see it. `broken`: its body shows what is wrong with it, and no origin may see all of it.
   * `clean`: it may reach one, if it still means the same. */
  readonly verdict: 'refused' | 'broken' | 'clean';
}

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n';
const NOT_TARGET = [...Array.from({ length: 33 }, (_, c) => c), 127, 35].map((c) => String.fromCharCode(c));
const CONTROLS = [...Array.from({ length: 32 }, (_, c) => c), 127]
  .filter((c) => c !== 9)
  .map((c) => String.fromCharCode(c));
const NOT_NAME = [...NOT_TARGET.filter((c) => c !== '#'), ...':"(),/;<=>?@[\\]{}ÄZ'];

interface Parts {
  readonly method?: string;
  readonly scheme?: string;
  readonly path?: string;
  readonly authority?: string | null;
  readonly fields?: readonly Field[];
  readonly body?: string;
}

function made(name: string, verdict: DowngradeCase['verdict'], parts: Parts): DowngradeCase {
  const { method = 'GET', scheme = 'http', path = '/p', authority = 'a.example', fields = [], body } = parts;
  const pseudo: Field[] = [
    [':method', method],
    [':scheme', scheme],
    [':path', path],
  ];
  if (authority !== null) pseudo.push([':authority', authority]);
  return { name, fields: [...pseudo, ...fields], body: body ?? null, verdict };
}

const shown = (c: string): string => `0x${c.charCodeAt(0).toString(16).padStart(2, '0')}`;

function withBytes(): DowngradeCase[] {
  return [
    ...NOT_NAME.map((c) => made(`${shown(c)} in a name`, 'refused', { fields: [[`x${c}y`, '1']] })),
    ...CONTROLS.map((c) => made(`${shown(c)} in a value`, 'refused', { fields: [['x', `a${c}b`]] })),
    ...NOT_TARGET.map((c) => made(`${shown(c)} in :path`, 'refused', { path: `/a${c}b` })),
    ...NOT_TARGET.filter((c) => c !== '#').map((c) =>
      made(`${shown(c)} in :method`, 'refused', { method: `G${c}T` }),
    ),
    ...NOT_TARGET.map((c) => made(`${shown(c)} in :authority`, 'refused', { authority: `a${c}b` })),
    ...[...'/?\\@"<>^`{|}'].map((c) => made(`${c} in :authority`, 'refused', { authority: `a${c}b` })),
    ...[...'/?\\@'].map((c) =>
      made(`${c} in host`, 'refused', { authority: null, fields: [['host', `a${c}b`]] }),
    ),
    ...[...'\r\n\0 '].map((c) => made(`${shown(c)} in :scheme`, 'refused', { scheme: `http${c}` })),
  ];
}

function withLines(): DowngradeCase[] {
  const lines = ['\r\n\r\n', '\n\n', '\r\r', '\r\n'];
  return lines.flatMap((end) => {
    const place = JSON.stringify(end);
    const more = `${end}${SMUGGLED}`;
    return [
      made(`a request behind ${place} in a value`, 'refused', { fields: [['x', `1${more}`]] }),
      made(`a request behind ${place} in a name`, 'refused', { fields: [[`x: 1${more}`, '1']] }),
      made(`a request behind ${place} in :path`, 'refused', { path: `/ HTTP/1.1${more}` }),
      made(`a request behind ${place} in :method`, 'refused', { method: `GET / HTTP/1.1${more}` }),
      made(`a request behind ${place} in :authority`, 'refused', { authority: `a.example${more}` }),
      made(`a request behind ${place} in :scheme`, 'refused', { scheme: `http${more}` }),
      made(`a length behind ${place} in a value`, 'refused', { fields: [['x', `1${end}content-length: 9`]] }),
      made(`a coding behind ${place} in a cookie`, 'refused', {
        fields: [
          ['cookie', 'a=1'],
          ['cookie', `b=2${end}transfer-encoding: chunked`],
        ],
      }),
    ];
  });
}

function withFraming(): DowngradeCase[] {
  const body = SMUGGLED;
  const length = (value: string): Field => ['content-length', value];
  const refused = (name: string, fields: readonly Field[], text = body): DowngradeCase =>
    made(name, 'refused', { method: 'POST', fields, body: text });
  return [
    ...['chunked', 'gzip, chunked', 'identity', ' chunked', 'xchunked'].map((value) =>
      refused(`transfer-encoding: ${value}`, [['transfer-encoding', value]]),
    ),
    refused('chunked beside a length', [['transfer-encoding', 'chunked'], length(String(body.length))]),
    ...['+43', '-1', '0x2b', '43, 43', '43,43', '4 3', '', '43;', '1e3', '99999999999999999999'].map(
      (value) => refused(`content-length: ${value}`, [length(value)]),
    ),
    ...['3', '9999'].map((value) =>
      made(`content-length: ${value}, of another body`, 'broken', {
        method: 'POST',
        fields: [length(value)],
        body,
      }),
    ),
    refused('two lengths', [length(String(body.length)), length('0')]),
    made('a length that is shorter than the body, twice', 'broken', {
      method: 'POST',
      fields: [length('1'), length('1')],
      body,
    }),
    // Nobody knows yet what follows: it is the request without a body that it says it is.
    made('content-length: 0, and a body', 'clean', { method: 'PUT', fields: [length('0')], body }),
    made('the same length twice', 'clean', {
      method: 'POST',
      fields: [length('2'), length('2')],
      body: 'ab',
    }),
    made('a length with zeros in front', 'clean', { method: 'POST', fields: [length('002')], body: 'ab' }),
    made('a body without a length', 'clean', { method: 'POST', body }),
    made('a body of a GET', 'clean', { body }),
    made('a body that looks like chunks', 'clean', { method: 'POST', body: `0\r\n\r\n${SMUGGLED}` }),
    made('a length of a GET without a body', 'refused', { fields: [length('5')] }),
    made('a length of 0 of a GET', 'clean', { fields: [length('0')] }),
    made('expect, which the origin is not to see', 'clean', {
      method: 'POST',
      fields: [['expect', '100-continue']],
      body: 'ab',
    }),
  ];
}

function withTargets(): DowngradeCase[] {
  const refused = [
    '',
    '*',
    'p',
    'http://b.example/',
    'https://a.example/',
    '//b.example/ HTTP/1.1',
    '\\p',
    'a.example:80',
    '?q',
  ];
  const clean = [
    '//b.example/x',
    '/http://b.example/',
    '/a?b?c',
    '/%0d%0aHost:%20b',
    '/a:b@c',
    '/..//../x',
    '/\\b',
    '/ä',
    '/;x',
    '/a%23b',
  ];
  return [
    ...refused.map((path) => made(`:path ${path}`, 'refused', { path })),
    ...clean.map((path) => made(`:path ${path}`, 'clean', { path })),
    made('OPTIONS *', 'clean', { method: 'OPTIONS', path: '*' }),
    ...['CONNECT', 'PRI', 'get', 'G', 'TRACE'].map((method) =>
      made(`:method ${method}`, method === 'CONNECT' ? 'refused' : 'clean', { method }),
    ),
    ...['ftp', 'HTTP', 'http:', 'javascript', 'httpx', ''].map((scheme) =>
      made(`:scheme ${scheme}`, 'refused', { scheme }),
    ),
    made('a field named scheme', 'clean', { fields: [['scheme', 'https']] }),
  ];
}

function withHosts(): DowngradeCase[] {
  const host = (value: string): Field => ['host', value];
  const two = (name: string, authority: string | null, ...hosts: string[]): DowngradeCase =>
    made(name, 'refused', { authority, fields: hosts.map(host) });
  return [
    two('host that differs from :authority', 'a.example', 'b.example'),
    two('host that differs by its port', 'a.example', 'a.example:8080'),
    two('two hosts', null, 'a.example', 'b.example'),
    two('a list of hosts', 'a.example', 'a.example, b.example'),
    two('a host with user information', null, 'u@a.example'),
    two('an authority with user information', 'u:p@a.example'),
    two('an empty authority', ''),
    two('a port that is none', 'a.example:99999'),
    two('a port of letters', 'a.example:x'),
    two('half an address', '[::1'),
    made('the same host three times', 'clean', {
      fields: [host('a.example'), host('A.example'), host('a.example:80')],
    }),
    made('a host alone', 'clean', { authority: null, fields: [host('a.example')] }),
    made('neither', 'clean', { authority: null }),
    made('a host in capitals', 'refused', { fields: [['Host', 'b.example']] }),
    made('x-forwarded-host, which is no host', 'clean', { fields: [['x-forwarded-host', 'b.example']] }),
  ];
}

function withHops(): DowngradeCase[] {
  const fields: Field[] = [
    ['connection', 'close'],
    ['connection', 'keep-alive, x-a'],
    ['connection', 'transfer-encoding'],
    ['keep-alive', 'timeout=5'],
    ['proxy-connection', 'close'],
    ['upgrade', 'websocket'],
    ['upgrade', 'h2c'],
    ['te', 'gzip'],
    ['te', 'trailers, chunked'],
    ['te', 'chunked'],
    ['x-a', ' leading'],
    ['x-a', 'trailing '],
    ['x-a', '\tleading'],
    ['x-a', 'trailing\t'],
    ['', 'no name'],
    [':authority', 'b.example'],
    [':path', '/other'],
    [':method', 'POST'],
    [':scheme', 'https'],
    [':status', '200'],
    [':protocol', 'websocket'],
    [':', 'x'],
    ['Content-Length', '5'],
    ['Transfer-Encoding', 'chunked'],
    ['transfer-encodinG', 'chunked'],
    ['transfer_encoding\r', 'chunked'],
    ['transfer-encoding ', 'chunked'],
    [' transfer-encoding', 'chunked'],
    ['content-length ', '5'],
    ['content-length\0', '5'],
  ];
  return [
    ...fields.map((each) =>
      made(`${JSON.stringify(each[0])}: ${JSON.stringify(each[1])}`, 'refused', { fields: [each] }),
    ),
    made('te: trailers', 'clean', { fields: [['te', 'trailers']] }),
    made('http2-settings', 'clean', { fields: [['http2-settings', 'AAMAAABkAAQAAP__']] }),
    made('names that look alike', 'clean', {
      fields: [
        ['transfer_encoding', 'chunked'],
        ['content_length', '99'],
        ['x-transfer-encoding', 'chunked'],
      ],
    }),
    made('crumbs', 'clean', {
      fields: [
        ['cookie', 'a=1'],
        ['x', '1'],
        ['cookie', 'b="c; d"'],
        ['cookie', ''],
      ],
    }),
  ];
}

export function downgradeCases(): DowngradeCase[] {
  return [...withBytes(), ...withLines(), ...withFraming(), ...withTargets(), ...withHosts(), ...withHops()];
}
