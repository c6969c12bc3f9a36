// The results of head readers are lent: one that is given back serves one reader at a time.
import { expect, it } from 'vitest';
import { HEAD_COMPLETE, HEAD_ERROR } from '../../../daemon/http1/head-result.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { RequestHeadReader } from '../../../daemon/net/request-head.ts';

it('lends a result to one reader, however often the last one gave it back', () => {
  const gone = new RequestHeadReader();
  gone.release();
  gone.release();
  const next = new RequestHeadReader();
  const other = new RequestHeadReader();
  expect(next.head).toBe(gone.head);
  expect(other.head).not.toBe(next.head);
});

it('measures a head whose lines end in LF as it came', () => {
  const limits = { maxLine: 200, maxFields: 8, maxSize: 300 };
  const read = (length: number): number => {
    const start = 'GET / HTTP/1.1\nHost: a\nX: ';
    const bytes = Buffer.from(`${start.padEnd(180, 'x')}\nY: `.padEnd(length - 2, 'y').concat('\n\n'));
    expect(bytes.length).toBe(length);
    return new RequestHeadReader().read(bytes, 0, length, limits, true, new HttpMessage(0));
  };
  expect([read(300), read(301)]).toEqual([HEAD_COMPLETE, HEAD_ERROR]);
});
