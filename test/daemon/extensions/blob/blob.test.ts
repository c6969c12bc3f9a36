// The extension blob as vmod_blob(3) describes it; values and failures as varnishd 7.1.1 gives them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decode, ENCODINGS, encode } from '../../../../daemon/extensions/blob/encodings.ts';
import { task } from '../../vcl/fake-task.ts';

const OBJECTS = `import blob; sub vcl_init {
  new b1 = blob.blob(encoded="foo"); new b2 = blob.blob(BASE64, "Zm9v");
  new e1 = blob.blob(encoded=""); new e2 = blob.blob(HEX, ""); new hx = blob.blob(HEX, "00fF2fa"); }`;

/** Text of an expression, or the failure. */
function value(expression: string): string | null {
  const t = task(`${OBJECTS} sub vcl_recv { set req.http.out = ${expression}; return (pass); }`, {
    a: 'abc',
    hi: '\xe9\xff',
  });
  expect(t.run('init')).toBe('ok');
  if (t.run('recv') === 'pass') return t.req.http.get('out');
  return t.log.of('VCL_Error').join();
}

const illegal = (text: string): string =>
  `vmod blob error: cannot decode, illegal encoding beginning with "${text}"`;

describe('functions and methods', () => {
  it.each([
    ['blob.encode(HEX, blob=blob.decode(BASE64, encoded="Zm9vYmFyYmF6"))', '666f6f62617262617a'],
    ['blob.encode(BASE64, blob=blob.decode(encoded="foo"))', 'Zm9v'],
    ['blob.encode(BASE64, blob=blob.decode(HEX, encoded="fbfffe3e"))', '+//+Pg=='],
    ['blob.encode(BASE64URL, blob=blob.decode(HEX, encoded="fbfffe3e"))', '-__-Pg=='],
    ['blob.encode(BASE64URLNOPAD, blob=blob.decode(HEX, encoded="fbfffe3e"))', '-__-Pg'],
    ['blob.encode(BASE64CF, blob=blob.decode(HEX, encoded="fbfffe3e"))', '-~~-Pg__'],
    ['blob.encode(HEX, UPPER, blob.decode(HEX, encoded="abCdef0"))', '0ABCDEF0'],
    ['blob.encode(IDENTITY, blob=blob.decode(HEX, encoded="666f6f00626172"))', 'foo'],
    [
      'blob.encode(URL, blob=blob.decode(encoded="foo bar/?&=%~-._AZaz09:;"))',
      'foo%20bar%2f%3f%26%3d%25~-._AZaz09%3a%3b',
    ],
    ['blob.encode(URL, UPPER, blob.decode(HEX, encoded="00ff7f80"))', '%00%FF%7F%80'],
    ['blob.transcode(encoded="foo%20bar%6A", decoding=URL)', 'foo barj'],
    ['blob.transcode(encoded="foo+bar", decoding=URL)', 'foo+bar'],
    ['blob.transcode(HEX, BASE64, encoded="666f6f")', 'Zm9v'],
    ['blob.transcode(HEX, HEX, UPPER, 3, "abcdef")', '0ABC'],
    ['blob.transcode(HEX, HEX, UPPER, 30, "abcdef")', 'ABCDEF'],
    ['blob.transcode(HEX, HEX, UPPER, -3, "abcdef")', 'ABCDEF'],
    ['blob.transcode(BASE64, HEX, encoded="Zg=")', '66'],
    ['blob.transcode(BASE64, HEX, encoded="Zm8")', '666f'],
    ['blob.transcode(BASE64, HEX, encoded="Z")', ''],
    ['blob.transcode(BASE64CF, HEX, encoded="Zg__")', '66'],
    ['blob.transcode(BASE64, HEX, encoded=req.http.none)', ''],
    ['blob.encode(HEX, blob=blob.decode(HEX, encoded=req.http.a + "def0"))', '0abcdef0'],
    ['blob.encode(HEX, blob=blob.decode(encoded=req.http.hi))', 'e9ff'],
    ['blob.same(blob.decode(encoded="a"), blob.decode(encoded="a"))', 'false'],
    ['blob.same(b1.get(), b1.get())', 'true'],
    ['blob.same(b1.get(), b2.get())', 'false'],
    ['blob.same(e1.get(), e2.get())', 'true'],
    ['blob.same(e1.get(), b2.get())', 'false'],
    ['blob.same(blob.sub(b1.get(), 3B), b1.get())', 'true'],
    ['blob.same(blob.sub(b1.get(), 2B), blob.sub(b1.get(), 2B, 1B))', 'false'],
    ['blob.equal(b1.get(), b2.get())', 'true'],
    ['blob.equal(e1.get(), b2.get())', 'false'],
    ['blob.equal(blob.decode(encoded="a"), blob.decode(encoded="ab"))', 'false'],
    ['blob.length(b1.get())', '3'],
    ['blob.length(blob.decode(encoded=req.http.none))', '0'],
    ['blob.encode(blob=blob.sub(b1.get(), 2B, 1B))', 'oo'],
    ['blob.encode(blob=blob.sub(b1.get(), 0B, 3B))', ''],
    ['hx.encode(URL, UPPER)', '%00%0F%F2%FA'],
    ['hx.encode(HEX)', '000ff2fa'],
    ['b1.encode()', 'foo'],
    ['e1.encode(HEX)', ''],
    ['b1.get()', ':Zm9v:'],
  ])('%s is %s', (expression, expected) => {
    expect(value(expression)).toBe(expected);
  });

  it.each([
    ['blob.transcode(encoded="foo%2gbar", decoding=URL)', illegal('foo%2gbar')],
    ['blob.transcode(encoded="foo%2", decoding=URL)', illegal('foo%2')],
    ['blob.transcode(URL, IDENTITY, DEFAULT, 5, "foo%20bar")', illegal('foo%20bar')],
    ['blob.transcode(HEX, HEX, encoded="0x66")', illegal('0x66')],
    ['blob.transcode(BASE64, HEX, encoded="Zm 9v")', illegal('Zm 9v')],
    ['blob.transcode(BASE64, HEX, encoded="Zm9v====")', illegal('Zm9v====')],
    ['blob.transcode(BASE64, HEX, encoded="Z===")', illegal('Z===')],
    ['blob.transcode(BASE64, HEX, encoded="-_-_")', illegal('-_-_')],
    ['blob.transcode(BASE64URL, HEX, encoded="+/+/")', illegal('+/+/')],
    ['blob.transcode(BASE64URLNOPAD, HEX, encoded="Zg==")', illegal('Zg==')],
    ['blob.transcode(BASE64URLNOPAD, HEX, encoded="Zm9vZ")', illegal('Zm9vZ')],
    ['blob.transcode(BASE64CF, HEX, encoded="Zg==")', illegal('Zg==')],
    ['b1.encode(BASE64, UPPER)', 'vmod blob error: case UPPER is illegal with encoding BASE64'],
    [
      'blob.encode(IDENTITY, LOWER, b1.get())',
      'vmod blob error: case LOWER is illegal with encoding IDENTITY',
    ],
    [
      'blob.transcode(HEX, BASE64, LOWER, 0, "00")',
      'vmod blob error: case LOWER is illegal with encoding BASE64',
    ],
    [
      'blob.encode(blob=blob.sub(b1.get(), 1B, 3B))',
      'vmod blob error: size 1 from offset 3 requires more bytes than blob length 3 in blob.sub()',
    ],
    ['blob.encode(blob=blob.sub(e1.get(), 0B))', 'vmod blob error: blob is empty in blob.sub()'],
  ])('%s fails', (expression, expected) => {
    expect(value(expression)).toBe(expected);
  });

  it('does not make an object of an illegal encoding', () => {
    const t = task(
      'import blob; sub vcl_init { new b = blob.blob(HEX, "zz"); } sub vcl_recv { set req.http.x = b.get(); }',
    );
    expect(t.run('init')).toBe('fail');
    expect(t.ctx.failure).toContain('cannot create blob b, illegal encoding beginning with "zz"');
  });
});

describe.each(ENCODINGS)('%s', (encoding) => {
  const NO_NUL = fc.uint8Array({ min: 1 });

  it('gives back what it was given', () => {
    fc.assert(
      fc.property(encoding === 'IDENTITY' ? NO_NUL : fc.uint8Array(), fc.boolean(), (data, upper) => {
        const text = encode(encoding, upper, data);
        expect([...(decode(encoding, text) ?? ['refused'])]).toEqual([...data]);
      }),
    );
  });

  it('decodes or refuses any text, and what it decodes it can encode', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), (text) => {
        const data = decode(encoding, text);
        if (data === null) return;
        expect([...(decode(encoding, encode(encoding, false, data)) ?? ['refused'])]).toEqual([...data]);
      }),
    );
  });
});
