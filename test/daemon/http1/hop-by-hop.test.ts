import { describe, expect, it } from 'vitest';
import {
  connectionHas,
  copyOnward,
  HOP_FETCH,
  HOP_PASS,
  HOP_PIPE,
  HOP_RESPONSE,
  markNamed,
} from '../../../daemon/http1/hop-by-hop.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';

const FIELDS = [
  'Host: a',
  'Connection: foo, close',
  'connection: ,, Bar',
  'Foo: 1',
  'BAR: 2',
  'Baz: 3',
  'Content-Length: 0',
  'Transfer-Encoding: chunked',
  'Content-Encoding: gzip',
  'Keep-Alive: 5',
  'Proxy-Connection: x',
  'Proxy-Authorization: x',
  'Proxy-Authenticate: x',
  'TE: trailers',
  'Trailer: x',
  'Upgrade: h2c',
  'HTTP2-Settings: x',
  'Range: bytes=0-1',
  'If-None-Match: "x"',
  'Cache-Control: no-cache',
  'Accept-Ranges: x',
  'Via: x',
  'Age: 1',
];

function onward(mask: number): string {
  const from = new HttpMessage(0);
  const to = new HttpMessage(0);
  for (const line of FIELDS) from.push(line.slice(0, line.indexOf(':')).toLowerCase(), line);
  markNamed(from);
  copyOnward(from, to, mask);
  return to.keys.slice(0, to.n).join(' ');
}

describe('copyOnward', () => {
  it('keeps a body that continues in a pass', () => {
    expect(onward(HOP_PASS)).toBe(
      'host baz content-length transfer-encoding content-encoding range if-none-match cache-control via age',
    );
  });

  it('drops conditions and ranges in a cacheable fetch', () => {
    expect(onward(HOP_FETCH)).toBe('host baz content-length transfer-encoding content-encoding via age');
  });

  it('leaves Upgrade and Connection to a pipe, but not the settings of HTTP/2', () => {
    expect(onward(HOP_PIPE).split(' ')).toEqual(
      expect.arrayContaining(['connection', 'upgrade', 'te', 'keep-alive', 'range']),
    );
    expect(onward(HOP_PIPE)).not.toMatch(/foo|bar|proxy-connection|http2-settings/);
  });

  it('drops the same fields of a response', () => {
    expect(onward(HOP_RESPONSE)).toBe(
      'host baz content-length transfer-encoding content-encoding proxy-authorization range if-none-match cache-control accept-ranges via age',
    );
  });
});

describe('markNamed', () => {
  const message = (...lines: string[]) => {
    const msg = new HttpMessage(0);
    for (const line of lines) msg.push(line.slice(0, line.indexOf(':')).toLowerCase(), line);
    return msg;
  };
  const goesOn = (msg: HttpMessage) => {
    const to = new HttpMessage(0);
    copyOnward(msg, to, HOP_PASS);
    return to.lines.slice(0, to.n);
  };

  it.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'Content-Encoding',
    'COOKIE',
    'X-Forwarded-For',
    'Cache-Control',
  ])('says that %s must not be named, and leaves it', (name) => {
    const msg = message(`Connection: close, x, ${name}`, 'X: 1', `${name}: 2`);
    expect(markNamed(msg)).toBe(name.toLowerCase());
    expect(goesOn(msg)).toContain(`${name}: 2`);
    expect(goesOn(msg)).not.toContain('X: 1');
  });

  it('takes the lines that came, not those that a program sets under the same name', () => {
    const msg = message('X: 1', 'Connection: x, y', 'Y: 2', 'Z: 3', 'X: 4');
    expect(markNamed(msg)).toBeNull();
    expect(goesOn(msg)).toEqual(['Z: 3']);
    msg.set('X', '1');
    expect(goesOn(msg)).toEqual(['Z: 3', 'X: 1']);
    msg.unset('z');
    msg.push('y', 'Y: 2');
    expect(goesOn(msg)).toEqual(['X: 1', 'Y: 2']);
  });

  it('keeps to its lines whatever is done to the others', () => {
    const msg = message('A: 1', 'A: 2', 'X: 1', 'B: 1', 'Connection: X', 'Y: 1');
    markNamed(msg);
    msg.join('a');
    expect(goesOn(msg)).toEqual(['A: 1, 2', 'B: 1', 'Y: 1']);
    msg.removeWhere(0, (i) => msg.keys[i] === 'a');
    expect(goesOn(msg)).toEqual(['B: 1', 'Y: 1']);
    const copy = new HttpMessage(0);
    copy.copyFrom(msg);
    expect(goesOn(copy)).toEqual(['B: 1', 'Y: 1']);
    msg.replaceAt(0, 'x', 'X: mine');
    expect(goesOn(msg)).toEqual(['X: mine', 'B: 1', 'Y: 1']);
    // A copy is one of its own.
    expect(goesOn(copy)).toEqual(['B: 1', 'Y: 1']);
  });

  it('forgets it with the message', () => {
    const msg = message('X: 1', 'Connection: X');
    markNamed(msg);
    msg.reset();
    msg.push('x', 'X: 1');
    expect(goesOn(msg)).toEqual(['X: 1']);
    const filled = message('X: 1', 'Connection: X');
    markNamed(filled);
    filled.filled(1, -1);
    expect(goesOn(filled)).toEqual(['X: 1']);
  });
});

describe('connectionHas', () => {
  it('finds an option on any line in any case', () => {
    const msg = new HttpMessage(0);
    expect(connectionHas(msg, 'close')).toBe(false);
    msg.push('connection', 'Connection: x, y');
    msg.push('connection', 'Connection:Close');
    expect([connectionHas(msg, 'close'), connectionHas(msg, 'y'), connectionHas(msg, 'z')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it.each(['keep-alive', 'Keep-Alive', 'close'])('reads the options after a usual %s', (usual) => {
    for (let twice = 0; twice < 2; twice++) {
      const msg = new HttpMessage(0);
      msg.push('connection', `Connection: ${usual}`);
      msg.push('connection', 'Connection: x');
      const has = [usual.toLowerCase(), 'x'].map((name) => connectionHas(msg, name));
      expect(has).toEqual([true, true]);
    }
    const alone = new HttpMessage(0);
    alone.push('connection', `Connection: ${usual}`);
    expect(connectionHas(alone, 'x')).toBe(false);
  });
});

it('a message whose Connection names thousands of headers is gone through once', () => {
  const counted = (n: number): number => {
    const message = new HttpMessage(0);
    const names = Array.from({ length: n }, (_, i) => `x-name-${i}`);
    message.push('connection', `Connection: ${names.join(', ')}`);
    for (const name of names) message.push(name, `${name}: 1`);
    let reads = 0;
    const keys = new Proxy(message.keys, {
      get: (target, name) => {
        reads++;
        return Reflect.get(target, name) as unknown;
      },
    });
    Object.defineProperty(message, 'keys', { value: keys });
    expect(markNamed(message)).toBe(null);
    expect(names.every((_, i) => message.endsAt(i + 1))).toBe(true);
    return reads;
  };
  expect(counted(2000)).toBeLessThan(10 * 2000);
});
