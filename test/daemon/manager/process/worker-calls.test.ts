// Replies of the worker: whole ones, in parts, and those whose request was abandoned.
import { expect, it } from 'vitest';
import { WorkerCalls } from '../../../../daemon/manager/process/worker-process.ts';

function opened(calls: WorkerCalls): { id: number; reply: Promise<{ status: number; body: string }> } {
  let id = 0;
  const reply = calls.open(
    60_000,
    (given) => {
      id = given;
    },
    () => undefined,
  );
  return { id, reply };
}

it('puts parts together, those of several replies apart', async () => {
  const calls = new WorkerCalls();
  const a = opened(calls);
  const b = opened(calls);
  calls.part(a.id, 'one ');
  calls.part(b.id, '1 ');
  calls.part(a.id, 'two ');
  calls.replied(b.id, { status: 300, body: '2' });
  calls.replied(a.id, { status: 200, body: 'three' });
  expect(await a.reply).toEqual({ status: 200, body: 'one two three' });
  expect(await b.reply).toEqual({ status: 300, body: '1 2' });
});

it('forgets the parts of a worker that is gone', async () => {
  const calls = new WorkerCalls();
  const { id, reply } = opened(calls);
  calls.part(id, 'half of ');
  calls.endAll({ status: 400, body: 'gone' });
  calls.part(id, 'it');
  calls.replied(id, { status: 200, body: 'all' });
  expect(await reply).toEqual({ status: 400, body: 'gone' });
});
