import { describe, expect, it } from 'vitest';
import {
  authorization,
  edgeGridTimestamp,
  maskSignature,
  type SignedParts,
  verifyAuthorization,
} from '../../../../daemon/edge/providers/edgegrid.ts';

const CREDENTIALS = {
  clientToken: 'lab-client-token',
  clientSecret: 'lab-client-secret',
  accessToken: 'lab-access-token',
};
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const NONCE = '00000000-0000-4000-8000-000000000001';
const GET: SignedParts = {
  method: 'GET',
  scheme: 'https',
  host: 'lab.invalid',
  path: '/eccu-api/v1/requests',
  body: Buffer.alloc(0),
};
const POST: SignedParts = {
  ...GET,
  method: 'POST',
  path: '/ccu/v3/delete/url/staging',
  body: Buffer.from('{"objects":["https://www.example.com/a"]}'),
};
const sign = (parts: SignedParts): string => authorization(CREDENTIALS, parts, NOW, NONCE);
const verify = (header: string | undefined, parts = POST, now = NOW, fresh = true): string =>
  verifyAuthorization(header, CREDENTIALS, parts, now, () => fresh);

describe('EdgeGrid signatures', () => {
  it.each([
    ['GET', GET, 'l5eAaPlQsRzcCA+QmN6E7Sn1RS8Y54l3I3gbWt37pT0='],
    ['POST', POST, 'uGzsYX3hRkobodDCbQ1XOwP6hId/w05/jPCP2jUcFbE='],
  ] as const)('equal the vector of a %s', (_name, parts, wanted) => {
    expect(sign(parts)).toBe(
      `EG1-HMAC-SHA256 client_token=lab-client-token;access_token=lab-access-token;timestamp=20260102T03:04:05+0000;nonce=${NONCE};signature=${wanted}`,
    );
  });

  it('hash 131,072 bytes of a body and no more', () => {
    const long = { ...POST, body: Buffer.alloc(131_073, 'a') };
    expect(sign(long)).toBe(sign({ ...POST, body: Buffer.alloc(131_072, 'a') }));
    expect(sign(long)).not.toBe(sign({ ...POST, body: Buffer.alloc(131_071, 'a') }));
  });

  it('hash no body but that of a POST', () => {
    expect(sign({ ...GET, body: POST.body })).toBe(sign(GET));
  });

  it('write the time in UTC', () => {
    expect(edgeGridTimestamp(NOW)).toBe('20260102T03:04:05+0000');
  });

  it('are masked, tokens included', () => {
    expect(maskSignature(sign(GET))).not.toMatch(/lab-|l5eA/);
  });
});

describe('verification', () => {
  it.each([
    ['its own signature', sign(POST), POST, NOW, true, 'good'],
    ['no header', undefined, POST, NOW, true, 'malformed'],
    ['another scheme', 'Bearer x', POST, NOW, true, 'malformed'],
    ['a date that is none', sign(POST).replace('20260102', '20261332'), POST, NOW, true, 'malformed'],
    ['another client', sign(POST).replace('lab-client', 'bad-client'), POST, NOW, true, 'unknown-client'],
    ['another body', sign(POST), { ...POST, body: Buffer.from('{}') }, NOW, true, 'signature'],
    ['another path', sign(POST), { ...POST, path: '/ccu/v3/delete/url/production' }, NOW, true, 'signature'],
    ['another nonce', sign(POST).replace(NONCE, 'x'), POST, NOW, true, 'signature'],
    ['30 s of skew', sign(POST), POST, NOW + 30_000, true, 'good'],
    ['more skew, later', sign(POST), POST, NOW + 30_001, true, 'skew'],
    ['more skew, earlier', sign(POST), POST, NOW - 30_001, true, 'skew'],
    ['a nonce seen before', sign(POST), POST, NOW, false, 'nonce'],
  ] as const)('of %s', (_name, header, parts, now, fresh, wanted) => {
    expect(verify(header, parts, now, fresh)).toBe(wanted);
  });

  it('does not use up a nonce for a forged request', () => {
    let asked = 0;
    const ask = (): boolean => {
      asked++;
      return true;
    };
    verifyAuthorization(sign(GET), CREDENTIALS, POST, NOW, ask);
    expect(asked).toBe(0);
  });
});
