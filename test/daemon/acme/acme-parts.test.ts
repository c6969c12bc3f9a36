// The small parts: names, messages, failures, signatures, sealing, states.
import { createPublicKey, verify } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { failureOf, problemText } from '../../../daemon/acme/acme-failure.ts';
import {
  isUrl,
  linkTo,
  readAuthorization,
  readDirectory,
  readOrder,
  readRenewalWindow,
  retryAfter,
} from '../../../daemon/acme/acme-messages.ts';
import { newKey } from '../../../daemon/acme/certificate-request.ts';
import { acmeNames, entryKey } from '../../../daemon/acme/entry-names.ts';
import { newEntryState, readEntryState, writeEntryState } from '../../../daemon/acme/entry-state.ts';
import { checkedChain } from '../../../daemon/acme/issued-certificate.ts';
import { AccountKey } from '../../../daemon/acme/jws.ts';
import { Sealing } from '../../../daemon/acme/sealing.ts';
import { elementsOf, extensionOf } from '../../../daemon/tls/der-encoding.ts';
import { AcmeIssuer } from '../../harness/acme-issuer.ts';

const NOW = Date.UTC(2030, 0, 1);

test.each([
  [
    ['A.Example.', 'a.example', 'b.example'],
    ['a.example', 'b.example'],
  ],
  [['bücher.example'], ['xn--bcher-kva.example']],
  [
    ['192.0.2.7', '2001:DB8:0::7'],
    ['192.0.2.7', '2001:db8::7'],
  ],
  [[], 'An automatic certificate needs names'],
  [['*.a.example'], /"\*.a.example" cannot be had automatically: .* dns-01 only; list the names, or load/],
  [['localhost'], /"localhost" is not a public name/],
  [['a_b.example', 'a..example'], '"a..example" is not a host name'],
  [['-a.example'], '"-a.example" is not a host name'],
  [['a.example/x'], '"a.example/x" is not a host name'],
  [Array.from({ length: 101 }, (_, i) => `n${i}.example`), /at most 100 names/],
])('names %j', (given, expected) => {
  const names = acmeNames(given);
  if (expected instanceof RegExp) expect(names).toMatch(expected);
  else expect(names).toEqual(expected);
});

test('a set of names has one key, in any order, at each authority', () => {
  expect(entryKey('x', ['a', 'b'])).toBe(entryKey('x', ['b', 'a']));
  expect(entryKey('x', ['a', 'b'])).not.toBe(entryKey('y', ['a', 'b']));
  expect(entryKey('x', ['a', 'b'])).toMatch(/^[0-9a-f]{24}$/);
});

describe('messages of an authority', () => {
  test('that are none are failures with words, never anything else', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        for (const read of [readDirectory, readOrder, readAuthorization]) {
          try {
            read(value);
          } catch (cause) {
            expect((cause as Error).constructor.name).toBe('AcmeFailure');
          }
        }
        readRenewalWindow(value);
        expect(problemText(value).length).toBeLessThanOrEqual(1000);
        failureOf(value, 400, null);
      }),
    );
  });

  test.each([
    ['https://ca.example/x', true],
    ['http://ca.example/x', false],
    ['http://127.0.0.1:14000/dir', true],
    ['http://[::1]/dir', true],
    ['http://127.0.0.1.example/dir', false],
    ['ftp://127.0.0.1/', false],
    ['/relative', false],
    [7, false],
  ])('%j as an URL: %j', (text, expected) => {
    expect(isUrl(text)).toBe(expected);
  });

  test.each([
    ['120', NOW + 120_000],
    ['Tue, 01 Jan 2030 01:00:00 GMT', NOW + 3_600_000],
    ['soon', null],
    [undefined, null],
  ])('Retry-After: %s', (header, at) => {
    expect(retryAfter(header, NOW)).toBe(at);
  });

  test('links', () => {
    const header = '<https://ca.example/dir>;rel="index", <https://ca.example/o?c=2,3>; rel="next"';
    expect(linkTo(header, 'next')).toBe('https://ca.example/o?c=2,3');
    expect(linkTo(header, 'up')).toBeNull();
    expect(linkTo(undefined, 'up')).toBeNull();
  });

  test('a window that ends before it starts is none', () => {
    const suggestedWindow = { start: '2030-01-02T00:00:00Z', end: '2030-01-01T00:00:00Z' };
    expect(readRenewalWindow({ suggestedWindow })).toBeNull();
  });

  test.each([
    [
      { type: 'urn:ietf:params:acme:error:rateLimited', detail: 'slow down' },
      400,
      'limited',
      'rateLimited: slow down',
    ],
    [{}, 429, 'limited', 'HTTP status 429'],
    [null, 502, 'unavailable', 'HTTP status 502'],
    [{ type: 'about:blank', title: 'Forbidden' }, 403, 'refused', 'Forbidden'],
    [
      {
        type: 'urn:ietf:params:acme:error:compound',
        detail: 'several',
        subproblems: [
          { type: 'urn:ietf:params:acme:error:caa', detail: 'no', identifier: { value: 'a.example' } },
        ],
      },
      403,
      'refused',
      'compound: several (a.example: caa: no)',
    ],
  ])('the problem %j with status %i', (document, status, kind, words) => {
    expect(failureOf(document, status, null)).toMatchObject({ kind, message: words });
  });
});

test('a request is signed by the key of the account, and names the key or the account', () => {
  const key = new AccountKey(newKey());
  for (const kid of [null, 'https://ca.example/acct/1']) {
    const jws = JSON.parse(key.signed('https://ca.example/new', 'nonce', kid, null));
    const header = JSON.parse(Buffer.from(jws.protected, 'base64url').toString());
    expect(header).toEqual({
      alg: 'ES256',
      ...(kid === null ? { jwk: key.jwk } : { kid }),
      nonce: 'nonce',
      url: 'https://ca.example/new',
    });
    expect(jws.payload).toBe('');
    const signature = Buffer.from(jws.signature, 'base64url');
    expect(signature).toHaveLength(64);
    const publicKey = createPublicKey({ key: key.jwk as never, format: 'jwk' });
    const signed = Buffer.from(`${jws.protected}.`);
    expect(verify('sha256', signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
  }
});

test('the id for renewal information has the key of the issuer and the serial number', () => {
  const issuer = new AcmeIssuer();
  const key = newKey();
  const chain = issuer.issue(
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    ['a.example'],
    NOW,
    NOW + 1000,
  );
  const issued = checkedChain(chain, key, ['a.example'], NOW);
  // The serial number of the harness begins with a set bit, and has a zero in front (RFC 9773 section 4.1).
  expect(issued.renewalId).toMatch(/^[\w-]{27}\.A[\w-]{22}$/);
  expect(() => checkedChain(chain, key, ['a.example', 'b.example'], NOW)).toThrow('is not for b.example');
  expect(() => checkedChain(chain, key, ['a.example'], NOW + 2000)).toThrow('expired at 2030-01-01');
});

describe('a sealed value', () => {
  const sealing = new Sealing(Buffer.from('secret'), 'shop');

  test('opens with the same secret, fleet and name alone', () => {
    const data = sealing.seal('entry.1', 'text');
    expect(sealing.open('entry.1', data)).toBe('text');
    expect(sealing.open('entry.2', data)).toBeNull();
    expect(new Sealing(Buffer.from('other'), 'shop').open('entry.1', data)).toBeNull();
    expect(new Sealing(Buffer.from('secret'), 'news').open('entry.1', data)).toBeNull();
    expect(sealing.seal('entry.1', 'text')).not.toEqual(data);
  });

  test('does not open when any byte of it has changed', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), fc.integer({ min: 1, max: 255 }), (text, at, change) => {
        const data = sealing.seal('x', text);
        expect(sealing.open('x', data)).toBe(Buffer.from(text).toString());
        data[at % data.length]! ^= change;
        expect(sealing.open('x', data)).toBeNull();
        expect(sealing.open('x', data.subarray(0, at % data.length))).toBeNull();
      }),
    );
  });
});

test('a state is read as it was written, and anything else is none', () => {
  const state = {
    ...newEntryState('https://ca.example/', ['a.example']),
    certificate: { chain: 'c', key: 'k', notBefore: 1, notAfter: 2, renewalId: null },
    order: { key: 'k', url: null },
    orders: [1, 2],
    failures: 3,
    notBefore: 4,
    lastError: { at: 5, kind: 'limited' as const, text: 'words' },
    renewal: { start: 1, end: 3, at: 2 },
  };
  expect(readEntryState(writeEntryState(state))).toEqual(state);
  for (const text of ['', '{', '[]', 'null', '{"v":2}', writeEntryState(state).replace('"v":1', '"v":9')])
    expect(readEntryState(text)).toBeNull();
});

test('bytes that are no DER are a RangeError', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      for (const read of [elementsOf, (all: Buffer) => extensionOf(all, '2.5.29.35')]) {
        try {
          read(Buffer.from(bytes));
        } catch (cause) {
          expect(cause).toBeInstanceOf(RangeError);
        }
      }
    }),
  );
});
