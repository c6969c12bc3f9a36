// Single steps of a fetch: by what the program returns, which step is next and what becomes of the attempt.
import { describe, expect, it } from 'vitest';
import { startFetch } from '../../../daemon/fetch/fetch-machine.ts';
import { attempt, retry, unanswered } from '../../../daemon/fetch/try-origin.ts';
import type { Request } from '../../../daemon/transaction/request.ts';
import { Turns } from '../../../daemon/turns/turns.ts';
import { FakeCore } from '../../harness/fake-core.ts';

describe('attempt', () => {
  it.each([
    ['abandon', 'done', 0],
    ['fail', 'done', 1],
    // There is no backend.
    ['fetch', 'unanswered', 0],
  ] as const)('goes on after %s with %s', (ret, step, failures) => {
    const fake = new FakeCore().program('backend_fetch', ret);
    expect(attempt(fake.fetch()).name).toBe(step);
    expect(fake.stats.vcl_fail).toBe(failures);
  });

  it('asks vcl_backend_error for an answer after error', () => {
    const fake = new FakeCore().program('backend_fetch', 'error').program('backend_error', 'abandon');
    const bo = fake.fetch();
    Object.assign(bo.ctx, { synthStatus: 404, synthReason: '' });
    expect(attempt(bo).name).toBe('done');
    expect([bo.beresp.status, bo.beresp.reason]).toEqual([404, 'Not Found']);
  });
});

it('begins in a later turn once this one has no time left, also when its client is gone by then', () => {
  let now = 0;
  const next: (() => void)[] = [];
  const turns = new Turns(
    () => now,
    (run) => next.push(run),
  );
  const fake = new FakeCore().program('backend_fetch', 'abandon');
  Object.assign(fake.core, { turns });
  const ended = (): number => fake.records.filter((record) => record === 'End ').length;
  const start = (): Request => {
    const req = fake.request();
    req.attempt.fresh = true;
    startFetch(req, 9, 0, 'pass');
    return req;
  };
  start();
  expect(ended()).toBe(1);
  now += 3;
  turns.tookLong();
  const late = [start(), start()];
  expect(ended()).toBe(1);
  (late[0] as Request).aborted = true;
  while (next.length > 0) {
    next.shift()?.();
    now += 3;
  }
  expect(ended()).toBe(3);
});

describe('no answer', () => {
  it('is tried again when vcl_backend_error reports it, with nothing left of the attempt', () => {
    const fake = new FakeCore().program('backend_error', 'retry');
    const bo = fake.fetch();
    const former = bo.attempt;
    Object.assign(former, { was304: true, standsIn: true, doStream: false, rolledBack: true });
    expect(unanswered(bo).name).toBe('parked');
    expect(bo.attempt).toMatchObject({ was304: false, standsIn: false, doStream: true, rolledBack: false });
    expect([bo.retries, fake.stats.fetch_failed]).toEqual([1, 1]);
    for (let i = 0; i < 2; i++) for (const run of fake.later.splice(0)) run();
    expect(fake.resumed).toEqual(['attempt']);
  });

  it('is tried again max_retries times, and never after a body that cannot be sent twice', () => {
    const spent = new FakeCore({ max_retries: 0 }).fetch();
    expect(retry(spent, true).name).toBe('done');
    const sent = new FakeCore().fetch();
    sent.bodySent = true;
    expect(retry(sent).name).toBe('done');
    expect(sent.retries).toBe(0);
  });
});
