import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HpackDecoder } from '../../../daemon/http2/hpack-decoder.ts';
import {
  BLOCK_BEGIN_MOST,
  HpackEncoder,
  nameOf,
  VALUE_LENGTH_MOST,
} from '../../../daemon/http2/hpack-encoder.ts';
import { fieldBound, ResponseField, ResponseFields } from '../../../daemon/http2/response-field.ts';

/** An encoder and a decoder of another table size each, which read each other. */
function pair() {
  const encoder = new HpackEncoder();
  const decoder = new HpackDecoder(4096);
  const out = Buffer.alloc(65_536);
  const send = (status: number, fields: readonly ResponseField[]): { hex: string; fields: string[] } => {
    let at = encoder.begin(out, 1);
    at = encoder.status(out, at, status);
    expect(at - 1).toBeLessThanOrEqual(BLOCK_BEGIN_MOST);
    for (const field of fields) {
      const before = at;
      at = encoder.field(out, at, field);
      expect(at - before).toBeLessThanOrEqual(fieldBound(field.name, `${field.name}:${field.value}`));
    }
    const read: string[] = [];
    const wrong = decoder.decode(out, 1, at, 1 << 24, (field) => read.push(`${field.name}: ${field.value}`));
    expect(wrong).toBeNull();
    return { hex: out.toString('hex', 1, at), fields: read };
  };
  return { encoder, decoder, out, send };
}

const server = () => new ResponseField('server', 'ab');

describe('a field', () => {
  it('is in the table from its second time on', () => {
    const { send, decoder } = pair();
    const field = server();
    expect(send(200, [field]).hex).toBe('880f27026162');
    expect(decoder.bytesHeld).toBe(0);
    expect(send(200, [field]).hex).toBe('8876026162');
    expect(decoder.bytesHeld).toBe(40);
    expect(send(200, [field, field]).hex).toBe('88bebe');
  });

  it('is repeated when another connection has sent it', () => {
    const field = server();
    pair().send(200, [field]);
    const { send, decoder } = pair();
    send(200, [field]);
    expect(decoder.bytesHeld).toBe(40);
  });

  it.each([
    'age',
    'date',
    'content-length',
    'content-range',
    'etag',
    'last-modified',
    'expires',
    'location',
    'x-varnish',
    'set-cookie',
    'www-authenticate',
  ])('%s is never in the table', (name) => {
    const { send, decoder } = pair();
    const field = new ResponseField(name, '1');
    for (let i = 0; i < 3; i++) expect(send(200, [field]).fields.at(-1)).toBe(`${name}: 1`);
    expect([field.isKept, decoder.bytesHeld]).toEqual([false, 0]);
  });

  it('with a secret is marked so that nobody else keeps it', () => {
    for (const name of ['set-cookie', 'authorization', 'proxy-authenticate', 'www-authenticate']) {
      expect((new ResponseField(name, 'x').plain[0] ?? 0) & 0xf0).toBe(0x10);
    }
    expect((server().plain[0] ?? 0) & 0xf0).toBe(0);
  });

  it('is never in the table when it is longer than 256 octets', () => {
    expect(new ResponseField('csp', 'x'.repeat(256)).isKept).toBe(true);
    expect(new ResponseField('csp', 'x'.repeat(257)).isKept).toBe(false);
  });

  it('of the static table is one octet', () => {
    const { send } = pair();
    expect(send(404, [new ResponseField('accept-encoding', 'gzip, deflate')]).hex).toBe('8d90');
    expect(new ResponseField('vary', '').staticIndex).toBe(59);
  });

  it('is Huffman coded only where that is shorter', () => {
    const hex = (value: string) => Buffer.from(new ResponseField('x-a', value).plain).toString('hex');
    expect(hex('\\\\')).toBe('0003782d61025c5c');
    expect(hex('\\000')).toBe('0003782d61045c303030');
    expect(hex('0000')).toBe('0003782d618300000f');
  });

  it('is evicted as the table of the peer is, and comes in again', () => {
    const { send, decoder } = pair();
    const fields = Array.from({ length: 100 }, (_, i) => new ResponseField(`x-${i}`, 'v'.repeat(i)));
    for (let round = 0; round < 4; round++) {
      for (const field of fields) {
        expect(send(200, [field, fields[0] as ResponseField]).fields).toEqual([
          ':status: 200',
          `${field.name}: ${field.value}`,
          'x-0: ',
        ]);
      }
    }
    expect(decoder.bytesHeld).toBeGreaterThan(3800);
  });
});

describe('a status', () => {
  it.each([200, 204, 206, 304, 400, 404, 500, 100, 103, 301, 302, 403, 503, 599, 999])(
    '%i is sent',
    (status) => {
      const { send } = pair();
      for (let i = 0; i < 3; i++) expect(send(status, []).fields).toEqual([`:status: ${status}`]);
    },
  );
});

describe('a value of one response', () => {
  it.each([
    ['age', '12'],
    ['x-varnish', '32769 3'],
    ['x-own', ''],
    ['via', '\xe4'.repeat(200)],
  ])('%s: %s is written after its name', (name, value) => {
    const { encoder, decoder, out } = pair();
    const prefix = nameOf(name);
    const end = encoder.value(out, 5, prefix, value);
    expect(end - 5).toBeLessThanOrEqual(prefix.length + VALUE_LENGTH_MOST + value.length);
    const read: string[] = [];
    expect(decoder.decode(out, 5, end, 1000, (field) => read.push(field.line))).toBeNull();
    expect(read).toEqual([`${name}: ${value}`]);
    expect(decoder.bytesHeld).toBe(0);
  });
});

describe('the size of the table', () => {
  it('is announced once after a change, the smallest one in between too', () => {
    const { encoder, send } = pair();
    expect(send(200, []).hex).toBe('88');
    encoder.limit(65_536);
    expect(send(200, []).hex).toBe('88');
    encoder.limit(100);
    expect(send(200, []).hex).toBe('3f4588');
    expect(send(200, []).hex).toBe('88');
    encoder.limit(0);
    encoder.limit(4096);
    expect(send(200, []).hex).toBe('203fe11f88');
    encoder.limit(200);
    expect(send(200, []).hex).toBe('3fa90188');
    encoder.limit(300);
    expect(send(200, []).hex).toBe('3f8d0288');
    encoder.limit(100);
    encoder.limit(300);
    expect(send(200, []).hex).toBe('3f453f8d0288');
    encoder.limit(0);
    expect(send(200, []).hex).toBe('2088');
  });

  it('of 0 leaves every field a literal', () => {
    const { encoder, decoder, send } = pair();
    const field = server();
    encoder.limit(0);
    for (let i = 0; i < 3; i++) expect(send(200, [field]).fields).toEqual([':status: 200', 'server: ab']);
    expect(decoder.bytesHeld).toBe(0);
  });

  it('may change at any time: what is written is what is read', () => {
    const names = ['server', 'vary', 'x-a', 'cache-control', 'age', 'set-cookie', 'x-cache', 'content-type'];
    const octet = fc.integer({ min: 0, max: 255 }).map((c) => String.fromCharCode(c));
    const field = fc
      .tuple(
        fc.constantFrom(...names),
        fc.oneof(fc.constantFrom('', 'a', 'b', 'x'.repeat(150)), fc.string({ unit: octet, maxLength: 300 })),
      )
      .map(([name, value]) => new ResponseField(name, value));
    const step = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          status: fc.integer({ min: 100, max: 599 }),
          picks: fc.array(fc.nat(29), { maxLength: 12 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.array(fc.oneof(fc.constantFrom(0, 33, 4096, 65_536), fc.nat(5000)), {
          minLength: 1,
          maxLength: 3,
        }),
      },
    );
    fc.assert(
      fc.property(
        fc.array(field, { minLength: 30, maxLength: 30 }),
        fc.array(step, { maxLength: 60 }),
        (fields, steps) => {
          const { encoder, decoder, send } = pair();
          for (const step of steps) {
            if (Array.isArray(step)) {
              for (const size of step) {
                decoder.limit(size);
                encoder.limit(size);
              }
              continue;
            }
            const sent = step.picks.map((i) => fields[i] as ResponseField);
            expect(send(step.status, sent).fields).toEqual([
              `:status: ${step.status}`,
              ...sent.map(({ name, value }) => `${name}: ${value}`),
            ]);
          }
        },
      ),
    );
  });
});

describe('the fields of a thread', () => {
  it('are shared by their lines', () => {
    const fields = new ResponseFields();
    const field = fields.of('server', 'Server: origin');
    expect(fields.of('server', ['Server:', 'origin'].join(' '))).toBe(field);
    expect([field.name, field.value]).toEqual(['server', 'origin']);
    expect(fields.of('server', 'server: origin')).not.toBe(field);
  });

  it.each([
    ['X-A:b', 'b'],
    ['X-A:  \t b c \t', 'b c'],
    ['X-A:', ''],
    ['X-A: ', ''],
    ['X-A: a:b', 'a:b'],
  ])('have of the line "%s" the value without the blanks around it', (line, value) => {
    expect(new ResponseFields().of('x-a', line)).toMatchObject({ name: 'x-a', value });
  });

  it('are forgotten when there are too many, those of one response apart from others', () => {
    const fields = new ResponseFields();
    const kept = fields.of('server', 'Server: origin');
    const once = fields.of('etag', 'ETag: "x"');
    for (let i = 0; i < 10_000; i++) fields.of('etag', `ETag: "${i}"`);
    expect(fields.of('server', 'Server: origin')).toBe(kept);
    expect(fields.of('etag', 'ETag: "x"')).not.toBe(once);
    for (let i = 0; i < 10_000; i++) fields.of('x-id', `X-Id: ${i}`);
    expect(fields.of('server', 'Server: origin')).not.toBe(kept);
  });

  it('that are very long are made each time', () => {
    const fields = new ResponseFields();
    const line = `X-A: ${'v'.repeat(5000)}`;
    expect(fields.of('x-a', line)).not.toBe(fields.of('x-a', line));
    expect(fields.of('x-a', line).value).toBe('v'.repeat(5000));
  });
});
