// Hostile pages and fragments of edge-side includes: markup broken anywhere, gzip that is damaged, truncated, doubled
// or a bomb, wrong framing, origins that disconnect. A seed determines the response of a URL, so that a failing case
// can be repeated. A fragment includes at most one other, so that pages stay bounded.
import { gzipSync } from 'node:zlib';
import { Random } from '../fuzz/random.ts';
import type { Action, Reply } from './origin.ts';

const PIECES = [
  ...[
    '<esi:include ',
    'src=',
    '/>',
    '>',
    '"',
    "'",
    '<esi:remove>',
    '</esi:remove>',
    '<!--esi',
    '-->',
    '<!--',
    '--->',
  ],
  ...[
    '<![CDATA[',
    ']]>',
    '<esi:',
    '</esi:',
    '<esi:comment text="x"/>',
    '<esi:vars>',
    '</esi:vars>',
    '<',
    '</',
    '<!',
    '&amp;',
  ],
  ...[
    'onerror="continue"',
    'onerror=',
    ' ',
    '\n',
    '\t',
    '=',
    'text',
    '<html>',
    '<a href="',
    '\0',
    '\xff',
    '\xef\xbb\xbf',
  ],
  ...[
    'https://',
    'http://',
    'http:///',
    '//',
    '..',
    '?',
    '#',
    '-',
    '--',
    '<esi:include/>',
    '<esi:include src=""/>',
  ],
];

function include(random: Random): string {
  const to = `/f${random.below(1_000_000)}`;
  const src = random.pick([
    to,
    to,
    to,
    `http://other.test${to}`,
    `.${to}`,
    to.slice(1),
    `${to}?a&amp;b`,
    `${to}\x01`,
    `${to} x`,
  ]);
  return random.pick([
    `<esi:include src="${src}"/>`,
    `<esi:include src='${src}'/>`,
    `<esi:include src=${src} />`,
    `<esi:include src="${src}" onerror="continue"/>`,
    `<esi:include src="${src}">`,
    `<esi:include\n src="${src}"></esi:include>`,
  ]);
}

/** Markup that may be broken anywhere. */
export function brokenMarkup(random: Random, includes: number): Buffer {
  let out = random.chance(0.9) ? random.pick(['<', '<html>', ' \n<', '<!--esi ', '\xef\xbb\xbf<']) : '';
  for (let left = includes, n = random.below(25); n >= 0; n--) {
    if (left > 0 && random.chance(0.25)) {
      out += include(random);
      left--;
    } else out += random.pick(PIECES);
  }
  if (random.chance(0.03)) out += random.pick(['x', '<', 'a="', '-', ' ']).repeat(random.below(300_000));
  const bytes = Buffer.from(out, 'latin1');
  if (random.chance(0.2))
    for (let n = random.below(6); n > 0; n--) bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
}

function packed(random: Random, plain: Buffer): Buffer {
  let bytes = gzipSync(plain, { level: random.below(10) });
  if (random.chance(0.02))
    bytes = gzipSync(Buffer.alloc(random.below(8_000_000), random.pick(['\0', '<', '<a>'])));
  if (random.chance(0.15)) bytes[random.below(bytes.length)] = random.below(256);
  if (random.chance(0.1)) bytes = bytes.subarray(0, random.below(bytes.length + 1));
  if (random.chance(0.1))
    bytes = Buffer.concat([bytes, random.pick([bytes, Buffer.from('junk'), Buffer.alloc(9)])]);
  return bytes;
}

/** The reply to a page or, with `fragment`, to a fragment of this seed. */
export function hostilePage(seed: number, fragment: boolean): Reply {
  const random = new Random(seed);
  if (random.chance(0.02)) return [{ reset: true }];
  const plain = brokenMarkup(random, fragment ? 1 : 4);
  const gzip = random.chance(0.5);
  const body = gzip ? packed(random, plain) : plain;
  const fields = [
    `Cache-Control: ${random.pick(['max-age=100', 'max-age=0', 'private'])}`,
    `X-Esi: ${random.chance(0.9) ? 1 : 0}`,
    `X-Do: ${random.pick(['', '', 'gzip', 'gunzip', 'both', 'wait', 'pass', 'filters'])}`,
    `ETag: ${random.pick(['"e"', 'W/"e"', 'e'])}`,
  ];
  if (gzip ? random.chance(0.97) : random.chance(0.03)) fields.push('Content-Encoding: gzip');
  const status = random.chance(0.93)
    ? '200 OK'
    : random.pick([
        '404 Not Found',
        '500 Broken',
        '204 No Content',
        '206 Partial Content',
        '304 Not Modified',
      ]);
  const framing = random.pick(['length', 'length', 'chunked', 'chunked', 'eof', 'longer']);
  const end: Action[] = random.chance(0.8) ? [{ close: true }] : [{ reset: true }];
  if (framing === 'chunked') fields.push('Transfer-Encoding: chunked');
  else if (framing !== 'eof') fields.push(`Content-Length: ${body.length + (framing === 'longer' ? 5 : 0)}`);
  const head = Buffer.from(`HTTP/1.1 ${status}\r\n${fields.map((f) => `${f}\r\n`).join('')}\r\n`, 'latin1');
  if (framing !== 'chunked') {
    const at = random.below(body.length + 1);
    const parts: Action[] = [
      { send: Buffer.concat([head, body.subarray(0, at)]) },
      { wait: random.below(3) },
    ];
    return [
      ...parts,
      { send: body.subarray(at) },
      ...(framing === 'length' && status === '200 OK' ? [] : end),
    ];
  }
  const actions: Action[] = [{ send: head }];
  const most = Math.max(random.pick([2, 30, 5000]), body.length / 50);
  for (let from = 0; from < body.length; ) {
    const piece = body.subarray(from, from + 1 + random.below(most));
    from += piece.length;
    actions.push({
      send: Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
    });
    if (random.chance(0.02)) actions.push({ wait: 1 });
  }
  if (random.chance(0.05)) return [...actions, ...end];
  actions.push({ send: random.chance(0.97) ? '0\r\n\r\n' : 'zz\r\n' });
  return status === '200 OK' ? actions : [...actions, ...end];
}
