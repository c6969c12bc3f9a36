// The extension digest: published values of hashes and codes, base64 with and without padding, and hashes that are not there.
import { describe, expect, it } from 'vitest';
import { task } from '../../vcl/fake-task.ts';

const HEAD = 'vcl 4.1; import digest; backend d none;';

function value(expression: string, headers: Record<string, string> = {}): string | null {
  const code = `if (${expression}) { set req.http.r = ${expression}; }`;
  const t = task(`${HEAD} sub vcl_recv { ${code} return (pass); }`, headers);
  expect(t.run('recv')).toBe('pass');
  return t.req.http.get('r');
}

describe('hashes', () => {
  it.each([
    ['md5("abc")', '900150983cd24fb0d6963f7d28e17f72'],
    ['sha1("abc")', 'a9993e364706816aba3e25717850c26c9cd0d89d'],
    ['sha224("abc")', '23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7'],
    ['sha256("abc")', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'sha384("abc")',
      'cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7',
    ],
    [
      'sha512("abc")',
      'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
    ],
    ['ripemd160("")', '9c1185a5c5e9fc54612808977ee8f548b2258d31'],
    ['crc32("checksum")', '7fbeb02e'],
    ['crc32b("checksum")', '9adf6fde'],
    ['adler32("resume")', '09150292'],
  ])('hash_%s is %s', (call, expected) => {
    expect(value(`digest.hash_${call}`)).toBe(expected);
  });

  it('hash an unset text as the empty one', () => {
    expect(value('digest.hash_md5(req.http.none)')).toBe('d41d8cd98f00b204e9800998ecf8427e');
  });

  it('hash bytes, not characters', () => {
    expect(value('digest.hash_md5(req.http.a)', { A: '\xe9' })).toBe('3406877694691ddd1dfb0aca54681407');
  });

  it.each(['md2', 'md4', 'gost', 'haval256', 'ripemd128', 'tiger', 'snefru128', 'whirlpool'])(
    'a program that calls hash_%s is refused by the compiler, with the reason',
    (name) => {
      expect(() => value(`digest.hash_${name}("a")`)).toThrow(`does not have ${name}`);
    },
  );
});

describe('codes with a key', () => {
  // RFC 2202 section 2 and RFC 4231 section 4.3.
  it.each([
    ['md5', '0x750c783e6ab0b503eaa86e310a5db738'],
    ['sha1', '0xeffcdf6ae5eb2fa2d27416d5f184df9c259a7c79'],
    ['sha256', '0x5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
  ])('hmac_%s', (name, expected) => {
    expect(value(`digest.hmac_${name}("Jefe", "what do ya want for nothing?")`)).toBe(expected);
  });

  it('are nothing without a key, and are there without a message', () => {
    expect(value('digest.hmac_sha256(req.http.none, "a")')).toBe(null);
    expect(value('digest.hmac_md5("", req.http.none)')).toBe('0x74e6f7298a9c2d168935f58c001bad88');
  });
});

describe('base64', () => {
  const bytes = { A: '\xfb\xff\xfe?' };

  it.each([
    ['base64', '+//+Pw=='],
    ['base64url', '-__-Pw=='],
    ['base64url_nopad', '-__-Pw'],
  ])('%s goes there and back', (name, text) => {
    expect(value(`digest.${name}(req.http.a)`, bytes)).toBe(text);
    expect(value(`digest.${name}_decode("${text}")`)).toBe(bytes.A);
    expect(value(`digest.${name}_decode("${text.replaceAll('=', '')}")`)).toBe(bytes.A);
    expect(value(`digest.${name}_hex("0xfbFFfe3f")`)).toBe(text);
    expect(value(`digest.${name}_hex("fbfffe3f")`)).toBe(text);
  });

  it.each([
    'base64_decode("-__-")',
    'base64url_decode("+//+")',
    'base64_decode("Zm9v!")',
    'base64_decode("Zm=9")',
    'base64_decode("Z")',
    'base64_hex("0x123")',
    'base64url_hex("12gh")',
  ])('%s is unset', (call) => {
    expect(value(`digest.${call}`)).toBe(null);
  });

  it('ends a decoded text before a zero byte', () => {
    expect(value('digest.base64_decode("YQBi")')).toBe('a');
  });
});

it('reports its version', () => {
  expect(value('digest.version()')).toMatch(/^\d+\.\d+\.\d+$/);
});
