// Requests that come at once over HTTP/2 are begun over as many turns as they need, in their order, and none is lost. A
// request takes half a turn here.
import { expect, it } from 'vitest';
import { Turns } from '../../../../daemon/turns/turns.ts';
import { bytesOfFrames } from '../../../harness/http2-notation.ts';
import { answerPath, FakeHttp2 } from '../fake-http2.ts';

const BUDGET = 10;
const COUNT = 40;

/** A thread whose clock goes on by half a turn with each request. */
class Thread {
  private millis = 0;
  private next: (() => void)[] = [];
  readonly turns = new Turns(
    () => this.millis,
    (run) => void this.next.push(run),
  );
  /** Paths in the order in which they were begun, in all connections. */
  readonly begun: string[] = [];

  constructor() {
    this.turns.follow(() => BUDGET);
  }

  connection(): FakeHttp2 {
    const one = new FakeHttp2({}, true, undefined, this.turns);
    one.settle();
    one.answer = (req) => {
      this.begun.push(req.http.url);
      this.millis += BUDGET / 2;
      answerPath(req);
    };
    return one;
  }

  /** @returns whether there was anything to do */
  turn(): boolean {
    const due = this.next;
    this.next = [];
    for (const run of due) run();
    return due.length > 0;
  }
}

const paths = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `/${name}${i}`);
const requests = (of: readonly string[]): string =>
  of.map((path, i) => `GET(${2 * i + 1} ${path})`).join(' ; ');

it('of one read', () => {
  const thread = new Thread();
  const one = thread.connection();
  const wanted = paths('a', COUNT);
  one.receive(bytesOfFrames(requests(wanted)));
  let most = thread.begun.length;
  expect(one.wire.paused).toBe(true);
  for (let before = thread.begun.length; thread.turn() || one.turn(); before = thread.begun.length)
    most = Math.max(most, thread.begun.length - before);
  expect(most).toBeLessThanOrEqual(3);
  expect(thread.begun).toEqual(wanted);
  expect([...one.answered().values()]).toEqual(wanted);
  expect(one.wire.paused).toBe(false);
});

it('of many connections that send in one turn', () => {
  const thread = new Thread();
  const all = Array.from({ length: COUNT }, () => thread.connection());
  for (const [i, one] of all.entries()) one.receive(bytesOfFrames(requests(paths(`${i}/`, 2))));
  let most = thread.begun.length;
  for (let before = most; thread.turn() || all.some((one) => one.turn()); before = thread.begun.length)
    most = Math.max(most, thread.begun.length - before);
  // Each of them may have one more in a turn that is over, if it was asked before.
  expect(most).toBeLessThan(COUNT / 2);
  expect(thread.begun.toSorted()).toEqual(all.flatMap((_, i) => paths(`${i}/`, 2)).toSorted());
  for (const [i, one] of all.entries()) expect([...one.answered().values()]).toEqual(paths(`${i}/`, 2));
});
