// The results of head readers are lent: one that is given back serves one reader at a time.
import { expect, it } from 'vitest';
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
