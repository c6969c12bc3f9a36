import { expect, it } from 'vitest';
import { encodeRecord } from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { isSubtask } from '../../protocol/subtask.ts';
import { Tag } from '../../protocol/tables/tags.ts';

it.each([
  ['req 1 rxreq', 'request', false],
  ['req 1 esi', 'request', true],
  ['req 1 esi 1', 'request', true],
  ['req 1 parallel 2', 'request', true],
  ['req 1 restart 0', 'request', false],
  ['req 1 restart x', 'request', false],
  ['bereq 1 fetch 1', 'bereq', false],
] as const)('a transaction that begins with "%s" is a part of another: %s, %s', (begin, type, expected) => {
  const reason = begin.split(' ')[2] as string;
  const records = encodeRecord(Tag.Begin, 2, 'c', begin);
  const tx: LogTransaction = { level: 1, type, reason, vxid: 2, parent: 1, records };
  expect(isSubtask(tx)).toBe(expected);
  // A filter may have left out the record.
  expect(isSubtask({ ...tx, records: Buffer.alloc(0) })).toBe(expected && reason === 'esi');
});
