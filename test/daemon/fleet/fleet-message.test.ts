// Messages of the bus are input like any other: round trips, and rejection of anything else with a reason.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Invalidation } from '../../../daemon/contract/invalidation.ts';
import { readMessage, writeMessage } from '../../../daemon/fleet/fleet-message.ts';
import { LONGEST_MESSAGE } from '../../../daemon/fleet/fleet-names.ts';
import { readApplied, readState, writeApplied, writeState } from '../../../daemon/fleet/node-messages.ts';

const read = (text: string): Invalidation | string => readMessage(Buffer.from(text));
const EVENT = { soft: false, origin: 'admin', count: null };

describe('an invalidation', () => {
  it.each<Invalidation>([
    { ...EVENT, kind: 'purge', subject: 'shop.example/a?b=c' },
    { ...EVENT, kind: 'purge', soft: true, subject: 'shop.example/', lives: { ttl: 0, grace: 10, keep: -1 } },
    {
      ...EVENT,
      kind: 'purge',
      soft: true,
      subject: 'shop.example/',
      lives: { ttl: 0, grace: -1, keep: -1, shortens: true },
    },
    { ...EVENT, kind: 'tags', subject: 'a b, c' },
    { ...EVENT, kind: 'ban', subject: 'obj.http.etag == "x"', soft: true },
    { ...EVENT, kind: 'ban', subject: 'obj.http.x ~ a b', words: ['obj.http.x', '~', 'a b'] },
  ])('is read as it was written: $kind $subject', (event) => {
    expect(readMessage(writeMessage(event))).toEqual(event);
  });

  it('as others write it needs no more than its version and what it is about', () => {
    expect(read('{"v":1,"kind":"keys","keys":"a"}')).toEqual({
      ...EVENT,
      kind: 'tags',
      subject: 'a',
      origin: '',
    });
  });

  it.each([
    ['', 'not JSON'],
    ['\u0000\u00ff', 'not JSON'],
    ['null', 'not an object'],
    ['[1]', 'not an object'],
    ['{}', 'no version'],
    ['{"v":2,"kind":"purge","url":"a/"}', 'unknown version 2'],
    ['{"v":1}', 'unknown kind'],
    ['{"v":1,"kind":"exec","run":"x"}', 'unknown kind'],
    ['{"v":1,"kind":"purge"}', 'url is not a URL'],
    ['{"v":1,"kind":"purge","url":"a b"}', 'url is not a URL'],
    ['{"v":1,"kind":"purge","url":"a/\\r\\nX: y"}', 'url is not a URL'],
    ['{"v":1,"kind":"purge","url":"a/","soft":1}', 'soft is not true or false'],
    [
      '{"v":1,"kind":"purge","url":"a/","soft":true,"ttl":"9"}',
      'ttl, grace or keep is not a number of seconds',
    ],
    [
      '{"v":1,"kind":"purge","url":"a/","soft":true,"keep":1e300}',
      'ttl, grace or keep is not a number of seconds',
    ],
    ['{"v":1,"kind":"keys","keys":" "}', 'keys has no keys'],
    ['{"v":1,"kind":"keys","keys":["a"]}', 'keys has no keys'],
    ['{"v":1,"kind":"ban"}', 'expression is not a string'],
    ['{"v":1,"kind":"ban","expression":["a",1]}', 'expression is not a list of words'],
    ['{"v":1,"kind":"keys","keys":"a","by":7}', 'by is not a string'],
  ])('%s is refused: %s', (text, reason) => {
    expect(read(text)).toBe(reason);
  });

  it('is refused beyond its limits, and when it is no UTF-8', () => {
    expect(readMessage(Buffer.alloc(LONGEST_MESSAGE + 1, 32))).toMatch(/^longer than/);
    expect(readMessage(Buffer.from([0x22, 0xff, 0x22]))).toBe('not JSON');
    expect(read(JSON.stringify({ v: 1, kind: 'keys', keys: 'k'.repeat(60_001) }))).toBe('keys has no keys');
  });

  it('has nothing in its origin that a line of the log cannot have', () => {
    const event = read(
      JSON.stringify({ v: 1, kind: 'keys', keys: 'a', by: `a\n\u001b[2J${'x'.repeat(200)}` }),
    );
    expect((event as Invalidation).origin).toMatch(/^a\?\?\[2Jx{94}$/);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (data) => {
          readMessage(data);
          readState(data);
          readApplied(data);
        },
      ),
    );
  });
});

describe('what nodes say of themselves', () => {
  const state = { life: 'ab', version: '0.1.0', current: true, applied: 7, lag: 0 };

  const figures = {
    worker: 'running',
    program: null,
    requests: 12.5,
    hit_rate: 0.93,
    threads: 2,
    address: 'web-1',
    console: '10.0.0.1:6085',
    listen: ['10.0.0.1:80'],
    lag_seconds: 3,
    stream: '2026-01-01T00:00:00Z',
    accept: 'all',
    programs: [
      { name: 'a', id: '9f' },
      { name: 'b', id: '8e', problem: 'no\n\tat all' },
    ],
    using: '9f',
    wanted: null,
    own_program: false,
  } as const;

  it('is read as it was written', () => {
    expect(readState(writeState({ ...state, ...figures }))).toEqual({ ...state, ...figures });
    for (const place of [{ seq: 12 }, { seq: 12, stream: '2026-01-01T00:00:00Z' }])
      expect(readApplied(writeApplied(place))).toEqual(place);
  });

  it.each([
    '',
    '{"v":1}',
    '{"v":1,"life":"a","version":"b","current":1,"applied":1,"lag":0}',
    '{"v":9,"seq":1}',
  ])('%s is passed over', (text) => {
    expect([readState(Buffer.from(text)), readApplied(Buffer.from(text))]).toEqual([null, null]);
  });

  it('keeps a sign of life whose figures are missing, wrong or not known', () => {
    expect(readState(writeState(state))).toEqual(state);
    const wrong = {
      ...{ ...figures, hit_rate: 2, program: 'a\n', listen: [1], threads: -1, later: 1 },
      programs: [{ name: 'a', id: '9f', problem: '\x1b[2J' }],
    };
    const { hit_rate: _, program: _p, listen: _l, threads: _t, programs: _q, ...right } = figures;
    expect(readState(Buffer.from(JSON.stringify({ v: 1, ...state, ...wrong })))).toEqual({
      ...state,
      ...right,
    });
  });
});
