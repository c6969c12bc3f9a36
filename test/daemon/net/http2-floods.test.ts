// Clients of HTTP/2 that cost more than they bring: each is closed with the right code, counted, and logged in words.
import { describe, expect, it } from 'vitest';
import { FakeHttp2 } from './fake-http2.ts';

describe('a connection', () => {
  it('answers', () => {
    const one = new FakeHttp2().frames('GET(1 /a) ; GET(3 /5*b) ; POST(5 /c) ; DATA(5 END_STREAM) 616263');
    expect(one.told()).toBe('200(1) ; 200(3) ; 200(5)');
    expect(one.body(1)).toBe('/a');
    expect(one.body(3)).toBe('/5*b'.repeat(5));
    expect([...one.answered()]).toEqual([[1, '/a'], [3, '/5*b'], [5, '/c']]);
  });
});
