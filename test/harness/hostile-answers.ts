// Answers of an origin that must reach nobody as whole, made by rule: every way to spell a status line, a length, a
// coding, a field, and every way for a body or for its gzip to break off.
import { gzipSync } from 'node:zlib';
import type { Action } from './origin.ts';

export type HostileAnswer = readonly [name: string, actions: readonly Action[]];

const FRESH = 'Cache-Control: max-age=100\r\n';
const CLOSE: Action = { close: true };
const RESET: Action = { reset: true };
const show = (text: string): string => JSON.stringify(text);
const send = (text: string | Buffer): Action => ({ send: text });

const BAD_STATUS_LINES =
  'HTTP/1.1 20 OK|HTTP/1.1 2 OK|HTTP/1.1 2000 OK|HTTP/1.1 abc OK|HTTP/1.1 +20 OK|HTTP/1.1 -20 OK|HTTP/1.1 0x1 OK|HTTP/1.1 2 0 OK|HTTP/1.1 20a OK|HTTP/1.1 a00 OK|HTTP/1.1 099 OK|HTTP/1.1 000 OK|HTTP/1.1|HTTP/1.1 |HTTP/1.1  200 OK|HTTP/1.1\t200 OK|HTTP/1.1 200\tOK|HTTP/1.1 200OK|HTTP/1.1200 OK|HTTP/1.1 OK|200 OK|ICY 200 OK|HTTP 200 OK|HTTP/1 200 OK|HTTP/2 200 OK|HTTP/2.0 200 OK|HTTP/1.2 200 OK|HTTP/0.9 200 OK|HTTP/11 200 OK|HTTP/1.10 200 OK|HTTP/01.1 200 OK|http/1.1 200 OK|Http/1.1 200 OK|HTTP/1,1 200 OK| HTTP/1.1 200 OK|\0HTTP/1.1 200 OK|xHTTP/1.1 200 OK|HTTPS/1.1 200 OK|HTTP/1.x 200 OK|HTTP/1.1 200 O\0K|HTTP/1.1 200 O\rK|HTTP/1.1 200 O\x7fK|HTTP/1.1 200 O\x1bK|HTTP/1.1 200 OK\r|HTTP/1.1\r\n 200 OK|HTTP/1.1 \xb2\xb3\xb9 OK|HTTP/1.1 2e1 OK|HTTP/1.1 200.0 OK|RTSP/1.0 200 OK|<html>|\x16\x03\x01|\r\n\r\n|A: b|\r\nHTTP/1.1 200 OK|\nHTTP/1.1 200 OK'.split(
    '|',
  );
const BAD_LENGTHS = '+4|-4|-0|0x4|4 4|4,04|4,4,|4, 5|,4|4,|4;|"4"|4.0|4e0|a||4\t4|\xa04|4_0'
  .split('|')
  .concat('18446744073709551616', '18446744073709551620', '9'.repeat(30));
const BAD_CODINGS =
  'gzip|identity|chunked, gzip|gzip, chunked|chunked, chunked|chunked, identity|identity, chunked|xchunked|chunked;a=b|"chunked"||chunked,|, chunked|cow|chunked chunked|\xa0chunked'.split(
    '|',
  );

function broken(): HostileAnswer[] {
  const all: HostileAnswer[] = [];
  const add = (name: string, text: string, ...rest: Action[]): void => {
    all.push([name, [send(text), ...(rest.length > 0 ? rest : [CLOSE])]]);
  };
  const ok = (fields: string, body = 'body'): string => `HTTP/1.1 200 OK\r\n${FRESH}${fields}\r\n${body}`;
  const CHUNKED = 'Transfer-Encoding: chunked\r\n';
  for (const line of BAD_STATUS_LINES) {
    add(`line ${show(line)}`, `${line}\r\n${FRESH}Content-Length: 4\r\n\r\nbody`);
  }
  for (const v of BAD_LENGTHS) add(`length ${show(v)}`, ok(`Content-Length: ${v}\r\n`));
  for (const pair of ['4|5', '5|4', '4|4,5', '4|x', '|4', '0|4', '4|0']) {
    const [a, b] = pair.split('|');
    add(`lengths ${pair}`, ok(`Content-Length: ${a}\r\nX: y\r\ncontent-length: ${b}\r\n`));
  }
  for (const v of BAD_CODINGS) {
    add(`coding ${show(v)}`, ok(`Transfer-Encoding: ${v}\r\n`, '4\r\nbody\r\n0\r\n\r\n'));
    add(`coding ${show(v)} and length`, ok(`Transfer-Encoding: ${v}\r\nContent-Length: 4\r\n`));
    add(`second coding ${show(v)}`, ok(`${CHUNKED}Transfer-Encoding: ${v}\r\n`, '4\r\nbody\r\n0\r\n\r\n'));
  }
  add('coding and length', ok(`${CHUNKED}Content-Length: 4\r\n`, '4\r\nbody\r\n0\r\n\r\n'));
  add('length and coding', ok(`Content-Length: 4\r\n${CHUNKED}`, '4\r\nbody\r\n0\r\n\r\n'));
  add(
    'chunks and a length in 1.0',
    `HTTP/1.0 200 OK\r\n${CHUNKED}Content-Length: 4\r\n\r\n4\r\nbody\r\n0\r\n\r\n`,
  );
  add('broken chunks in 1.0', `HTTP/1.0 200 OK\r\n${FRESH}${CHUNKED}\r\n4\r\nbody\r\n`);
  for (let c = 0; c < 256; c++) {
    const ch = String.fromCharCode(c);
    if ((c < 32 && c !== 9) || c === 127) {
      add(`byte ${c} in a value`, ok(`Set-Cookie: a=${ch}b\r\nContent-Length: 4\r\n`));
      // LF ends the line.
      if (c !== 10) add(`byte ${c} behind a value`, ok(`Content-Length: 4\r\nX: a${ch}\r\n`));
    }
    if (/[!#$%&'*+\-.^_`|~0-9A-Za-z:]/.test(ch)) continue;
    add(`byte ${c} in a name`, ok(`X${ch}Y: ab\r\nContent-Length: 4\r\n`));
    // LF ends the head, and blanks continue the line before.
    if (![9, 10, 32].includes(c)) add(`byte ${c} before a name`, ok(`${ch}Y: ab\r\nContent-Length: 4\r\n`));
    add(`byte ${c} behind a name`, ok(`Content-Length${ch}: 4\r\n`));
  }
  add('a fold of nothing', ok(' X: a\r\nContent-Length: 4\r\n').replace(FRESH, ''));
  add('a length in a fold', ok('Content-Length: 4\r\n 5\r\n'));
  add('no colon', ok('nonsense\r\nContent-Length: 4\r\n'));
  add('no colon, with LF line ends', ok('nonsense\r\nContent-Length: 4\r\n').replaceAll('\r', ''));
  add('two lengths with LF line ends', ok('Content-Length: 4\r\nContent-Length: 5\r\n').replaceAll('\r', ''));
  add('CR line ends', ok('Content-Length: 4\r\n').replaceAll('\n', ''));
  add('thousands of fields', ok(`${'A: b\r\n'.repeat(2000)}Content-Length: 4\r\n`));
  add('a name of 64 KB', ok(`${'N'.repeat(65536)}: a\r\nContent-Length: 4\r\n`));
  add('a value of 64 KB', ok(`X: ${'v'.repeat(65536)}\r\nContent-Length: 4\r\n`));
  add('a reason of 64 KB', `HTTP/1.1 200 ${'r'.repeat(65536)}\r\nContent-Length: 4\r\n\r\nbody`);
  add('an interim answer and no other', 'HTTP/1.1 100 Continue\r\n\r\n');
  add('an interim answer and garbage', 'HTTP/1.1 103 Early\r\n\r\ngarbage\r\n\r\n');
  add(
    'an interim answer with a body',
    `HTTP/1.1 100 Go\r\nContent-Length: 4\r\n\r\nbody${ok('Content-Length: 4\r\n')}`,
  );
  add(
    '101',
    `HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n${ok('Content-Length: 4\r\n')}`,
  );
  all.push(['nothing', [CLOSE]], ['a reset', [RESET]]);
  add('one byte', 'H');
  add('one byte and a reset', 'H', RESET);
  add('half a head', 'HTTP/1.1 200 OK\r\nContent-Le');
  add('a short body', ok('Content-Length: 40\r\n'));
  add('a short body and a reset', ok('Content-Length: 40\r\n'), RESET);
  add('a short body and a late reset', ok('Content-Length: 40\r\n'), { wait: 30 }, RESET);
  add('no body', ok('Content-Length: 40\r\n', ''));
  add('the longest length', ok('Content-Length: 9007199254740991\r\n'));
  add('a reset for the end', ok(''), RESET);
  add('a late reset for the end', ok(''), { wait: 30 }, RESET);
  add('no chunk', ok(CHUNKED, ''));
  add('no last chunk', ok(CHUNKED, '4\r\nbody\r\n'));
  add('no end of the last chunk', ok(CHUNKED, '4\r\nbody\r\n0\r\n'));
  add('a reset before that end', ok(CHUNKED, '4\r\nbody\r\n0\r\n'), { wait: 20 }, RESET);
  add('extensions without end', ok(CHUNKED, `4;${'x'.repeat(8192)}\r\nbody\r\n0\r\n\r\n`));
  add('extensions on every byte', ok(CHUNKED, `${'1;aaaaaaaa\r\nx\r\n'.repeat(3000)}0\r\n\r\n`));
  add('trailers of 64 KB', ok(CHUNKED, `4\r\nbody\r\n0\r\n${'T: x\r\n'.repeat(11000)}\r\n`));
  return all;
}

/** Gzip that is none, cut short, changed or followed by something; each by length, in chunks and to the end. */
function brokenGzip(): HostileAnswer[] {
  const all: HostileAnswer[] = [];
  const packed = gzipSync(Buffer.from('packed body '.repeat(800)));
  const n = packed.length;
  const bodies: [string, Buffer][] = [
    ['text', Buffer.from('this is not gzip at all')],
    ['a byte behind it', Buffer.concat([packed, Buffer.from('x')])],
    ['zeros behind it', Buffer.concat([packed, Buffer.alloc(20)])],
    ['half of another behind it', Buffer.concat([packed, packed.subarray(0, 20)])],
  ];
  for (const k of [1, 2, 3, 9, 10, 11, 20, n - 9, n - 8, n - 5, n - 1]) {
    bodies.push([`the first ${k} bytes`, packed.subarray(0, k)]);
  }
  for (const k of [0, 1, 2, 3, 10, 12, 20, n - 8, n - 5, n - 4, n - 1]) {
    const changed = Buffer.from(packed);
    changed[k] = (changed[k] as number) ^ 0xff;
    bodies.push([`byte ${k} changed`, changed]);
  }
  const head = `HTTP/1.1 200 OK\r\n${FRESH}Content-Encoding: gzip\r\n`;
  for (const [name, body] of bodies) {
    all.push(
      [
        `gzip by length: ${name}`,
        [send(Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body]))],
      ],
      [`gzip to the end: ${name}`, [send(Buffer.concat([Buffer.from(`${head}\r\n`), body])), CLOSE]],
      [
        `gzip in chunks: ${name}`,
        [
          send(`${head}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n`),
          send(body),
          send('\r\n0\r\n\r\n'),
        ],
      ],
    );
  }
  return all;
}

export function hostileAnswers(): HostileAnswer[] {
  return [...broken(), ...brokenGzip()];
}
