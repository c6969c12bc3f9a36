// Lent bytes by their type: `tsc -p test` fails where one of these lines is no error. What runs is the copy.
import { expect, it } from 'vitest';
import type { OriginBodySink } from '../../../daemon/backend/exchange-roles.ts';
import { keep, type LentBytes } from '../../../daemon/http1/lent-bytes.ts';
import type { MessageLog } from '../../../daemon/http1/message.ts';
import type { BodySink } from '../../../daemon/transaction/request-body.ts';

const owned = Buffer.from('owned');
const lent: LentBytes = owned;

it('copies what is to stay', () => {
  const kept: Buffer = keep(lent, 1, 4);
  owned.fill('x');
  expect(kept.toString()).toBe('wne');
});

it('is not stored unseen', () => {
  // @ts-expect-error Lent bytes are no Buffer.
  const asBuffer: Buffer = lent;
  // @ts-expect-error Nor any other bytes.
  const asBytes: Uint8Array = lent;
  // @ts-expect-error A part of a loan is a loan.
  const part: Uint8Array = lent.subarray(1);
  // @ts-expect-error Its memory is not to be had.
  const memory: ArrayBufferLike = lent.buffer;
  // @ts-expect-error Nobody writes to what is lent.
  lent[0] = 0;
  const parts: Buffer[] = [];
  // @ts-expect-error Nor is it gathered.
  parts.push(lent);
  expect([asBuffer, asBytes, part.length, memory]).toEqual([owned, owned, 4, owned.buffer]);
});

it('is what sinks and logs are given', () => {
  const taker = (_buf: Buffer, _start: number, _end: number): void => undefined;
  const rest = { end: () => undefined, error: () => undefined };
  // @ts-expect-error A sink of response bodies that asks for a Buffer could keep it.
  const origin: OriginBodySink = { data: taker, ...rest };
  // @ts-expect-error So could one of request bodies.
  const client: BodySink = { data: taker, ...rest };
  // @ts-expect-error So could a log.
  const log: MessageLog['putBytes'] = (_tag: number, src: Uint8Array) => void src;
  expect([origin.data, client.data, typeof log]).toEqual([taker, taker, 'function']);
});
