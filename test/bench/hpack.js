// Microseconds of CPU that a head of HTTP/2 costs, against the compiled build: requests as clients send them, decoded
// into a message, first on a new connection and then again, and the head of a hit, encoded.
//   node test/bench/hpack.js
// Prints one line each, the best of many short runs.

import { HttpMessage } from '../../dist/modules/daemon/http1/message.js';
import { HpackDecoder } from '../../dist/modules/daemon/http2/hpack-decoder.js';
import { HpackEncoder, nameOf } from '../../dist/modules/daemon/http2/hpack-encoder.js';
import {
  putName,
  putString,
  WITH_INDEXING,
  WITHOUT_INDEXING,
} from '../../dist/modules/daemon/http2/hpack-literals.js';
import { STATIC_ENTRIES } from '../../dist/modules/daemon/http2/hpack-static.js';
import { Http2RequestHead } from '../../dist/modules/daemon/http2/http2-request-head.js';
import { ResponseFields } from '../../dist/modules/daemon/http2/response-field.js';

const LIMITS = { maxLine: 8192, maxFields: 59, maxSize: 32_768 };

const HEADS = {
  curl: [
    [':method', 'GET'],
    [':path', '/images/2026/11/header-large.webp?v=3'],
    [':scheme', 'https'],
    [':authority', 'www.example.com'],
    ['user-agent', 'curl/7.88.1'],
    ['accept', '*/*'],
  ],
  chromium: [
    [':method', 'GET'],
    [':authority', 'www.example.com'],
    [':scheme', 'https'],
    [':path', '/images/2026/11/header-large.webp?v=3'],
    ['sec-ch-ua', '"Chromium";v="128", "Not;A=Brand";v="24", "Google Chrome";v="128"'],
    ['sec-ch-ua-mobile', '?0'],
    [
      'user-agent',
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0 Safari/537.36',
    ],
    ['sec-ch-ua-platform', '"Linux"'],
    ['accept', 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8'],
    ['sec-fetch-site', 'same-origin'],
    ['sec-fetch-mode', 'no-cors'],
    ['sec-fetch-dest', 'image'],
    ['referer', 'https://www.example.com/news/'],
    ['accept-encoding', 'gzip, deflate, br, zstd'],
    ['accept-language', 'en-GB,en;q=0.9,de;q=0.8'],
    ['cookie', 'session=4f1c2a9be1d7'],
    ['cookie', 'theme=dark'],
    ['priority', 'i'],
  ],
};

/** A block of these fields: on a new connection, or where the table has all but the path. */
function block(fields, isNew) {
  const out = Buffer.alloc(4096);
  const kept = fields.filter(([name, value]) => name !== ':path' && staticIndex(name, value) === 0);
  let at = 0;
  for (const field of fields) {
    const [name, value] = field;
    const index = staticIndex(name, value);
    if (index > 0) out[at++] = 0x80 | index;
    else if (isNew || name === ':path') {
      const kind = name === ':path' ? WITHOUT_INDEXING : WITH_INDEXING;
      at = putString(out, putName(out, at, kind, name), value);
    } else out[at++] = 0x80 | (61 + kept.length - kept.indexOf(field));
  }
  return out.subarray(0, at);
}

function staticIndex(name, value) {
  return 1 + STATIC_ENTRIES.findIndex((entry) => entry[0] === name && entry[1] === value);
}

/** Microseconds of one call of `work`, which is given how often to do it. */
function best(work) {
  const rounds = 2_000;
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 300; run++) {
    const t0 = process.hrtime.bigint();
    work(rounds);
    least = Math.min(least, Number(process.hrtime.bigint() - t0) / rounds / 1000);
  }
  return least;
}

function print(name, octets, micros) {
  console.log(`${name.padEnd(34)} ${String(octets).padStart(4)} octets  ${micros.toFixed(2)} µs`);
}

const head = new Http2RequestHead();
const msg = new HttpMessage(1);

function read(decoder, bytes) {
  msg.reset();
  head.begin(msg, LIMITS);
  if (decoder.decode(bytes, 0, bytes.length, 65_536, head.take) !== null || head.end() !== null) {
    throw new Error('the head was refused');
  }
}

for (const [name, fields] of Object.entries(HEADS)) {
  const first = block(fields, true);
  const again = block(fields, false);
  print(
    `request of ${name}, first`,
    first.length,
    best((rounds) => {
      for (let i = 0; i < rounds; i++) read(new HpackDecoder(4096), first);
    }),
  );
  const decoder = new HpackDecoder(4096);
  read(decoder, first);
  print(
    `request of ${name}, again`,
    again.length,
    best((rounds) => {
      for (let i = 0; i < rounds; i++) read(decoder, again);
    }),
  );
}

const LINES = [
  'Content-Type: text/html; charset=utf-8',
  'Cache-Control: public, max-age=3600',
  'Content-Length: 1024',
  'ETag: "5f3c-1a2b3c"',
  'Last-Modified: Tue, 03 Nov 2026 10:20:30 GMT',
  'Date: Tue, 03 Nov 2026 10:20:30 GMT',
  'Via: 1.1 varnish (Varnish/7.1)',
  'Accept-Ranges: bytes',
].map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line]);
const AGE = nameOf('age');
const XID = nameOf('x-varnish');
const out = Buffer.alloc(4096);
const shared = new ResponseFields();
const ready = LINES.map(([key, line]) => shared.of(key, line));

function write(encoder, fieldAt) {
  let at = encoder.status(out, encoder.begin(out, 0), 200);
  for (let i = 0; i < ready.length; i++) at = encoder.field(out, at, fieldAt(i));
  at = encoder.value(out, at, AGE, '12');
  return encoder.value(out, at, XID, '32770 3');
}

const encoder = new HpackEncoder();
const byField = (i) => ready[i];
const byLine = (i) => shared.of(LINES[i][0], LINES[i][1]);
write(encoder, byField);
write(encoder, byField);
const length = write(encoder, byField);
const encode = (fieldAt) =>
  best((rounds) => {
    for (let i = 0; i < rounds; i++) write(encoder, fieldAt);
  });
print('response, fields at hand', length, encode(byField));
print('response, fields by their lines', length, encode(byLine));
