import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeClientMessage, decodeServerMessage, LIMITS } from '../../protocol/codec.ts';
import { ProtocolError } from '../../protocol/errors.ts';

const log = { grouping: 'request', from: 'tail' };

describe('messages of a client', () => {
  it.each([
    { t: 'hello', v: 1, client: 'x' },
    { t: 'auth', mac: 'ff', to: '127.0.0.1:6083' },
    { t: 'cmd', id: 1, line: 'vcl.inline a << E\nx\nE' },
    { t: 'log', id: 2, log },
    {
      t: 'log',
      id: 2,
      log: {
        ...log,
        query: 'ReqURL ~ "x"',
        once: true,
        client: true,
        backend: false,
        caseless: true,
        timeout: 120,
        limit: 1000,
        rate: { count: 10, period: 1 },
        max: 5,
        filters: [
          { kind: 'include-tags', tags: 'Req*' },
          { kind: 'exclude-regex', tags: '', regex: 'x' },
        ],
      },
    },
    { t: 'stat', id: 0xffffffff, stat: { interval: 0.5, filters: [{ kind: 'include', glob: 'MAIN.*' }] } },
    { t: 'end', id: 3 },
  ])('accepts %j', (message) => {
    expect(decodeClientMessage(JSON.stringify(message))).toEqual(message);
  });

  it.each([
    ['garbage', '{'],
    ['an array', '[]'],
    ['null', 'null'],
    ['no type', '{}'],
    ['a type of another kind', '{"t":1}'],
    ['a type of the prototype', '{"t":"constructor"}'],
    ['an unknown field', '{"t":"end","id":1,"x":1}'],
    ['a field of the prototype', '{"t":"end","id":1,"__proto__":1}'],
    ['a missing field', '{"t":"cmd","id":1}'],
    ['a fractional id', '{"t":"end","id":1.5}'],
    ['a negative id', '{"t":"end","id":-1}'],
    ['too long a line', JSON.stringify({ t: 'cmd', id: 1, line: 'x'.repeat(LIMITS.line + 1) })],
    ['an unknown grouping', JSON.stringify({ t: 'log', id: 1, log: { ...log, grouping: 'x' } })],
    [
      'a filter without a regex',
      JSON.stringify({ t: 'log', id: 1, log: { ...log, filters: [{ kind: 'include-regex', tags: '' }] } }),
    ],
    [
      'too many filters',
      JSON.stringify({
        t: 'log',
        id: 1,
        log: { ...log, filters: Array(300).fill({ kind: 'include-tags', tags: 'x' }) },
      }),
    ],
    [
      'a rate of nothing',
      JSON.stringify({ t: 'log', id: 1, log: { ...log, rate: { count: 0, period: 1 } } }),
    ],
    ['an endless number', '{"t":"stat","id":1,"stat":{"interval":1e999}}'],
  ])('refuses %s', (_what, frame) => {
    expect(decodeClientMessage(frame)).toMatchObject({ code: 'bad-message' });
  });

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.object().map((o) => JSON.stringify({ t: 'log', ...o })),
        ),
        (s) => {
          decodeClientMessage(s);
          decodeServerMessage(s);
        },
      ),
    );
  });
});

describe('messages of a server', () => {
  it('lets new fields pass, but no unknown type and no missing id', () => {
    expect(decodeServerMessage('{"t":"reply","id":1,"status":200,"body":"","new":1}')).toMatchObject({
      id: 1,
    });
    expect(decodeServerMessage('{"t":"nonsense"}')).toBeInstanceOf(ProtocolError);
    expect(decodeServerMessage('{"t":"reply","status":200}')).toBeInstanceOf(ProtocolError);
  });
});
