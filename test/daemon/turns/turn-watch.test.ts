// The longest turns of the last minute, over a clock of the test's.
import { beforeEach, expect, it } from 'vitest';
import { LONG, type LongTurn, TurnWatch } from '../../../daemon/turns/turn-watch.ts';

let time = 0;
let reported: [LongTurn, boolean][] = [];
let watch: TurnWatch;

beforeEach(() => {
  time = 1000;
  reported = [];
  const clock = { latest: 0, now: () => 0 };
  watch = new TurnWatch(
    clock,
    (turn, isLong) => reported.push([turn, isLong]),
    () => time,
  );
});

/** Work of this many milliseconds, a second after the last. */
function spend(millis: number, work: string, inner: () => void = () => undefined): void {
  time += 1000;
  watch.run(work, () => {
    inner();
    time += millis;
  });
}

const works = () => watch.lately().map(({ work }) => work);

it('notes what is long', () => {
  spend(9, 'short');
  expect(watch.longest()).toBeNull();
  spend(11, 'long');
  expect(watch.longest()).toEqual({ at: time, millis: 11, work: 'long', of: '' });
});

it('notes work that throws', () => {
  expect(() => spend(20, 'broken', () => JSON.parse('{'))).toThrow();
  spend(0, 'nothing');
  expect(() =>
    watch.run('broken', () => {
      time += 30;
      throw new Error('defect');
    }),
  ).toThrow('defect');
  expect(watch.longest()).toMatchObject({ millis: 30, work: 'broken' });
});

it('keeps the longest of the last minute, and of what came after it', () => {
  spend(50, 'a');
  spend(20, 'b');
  spend(30, 'c');
  expect(works()).toEqual(['a', 'c']);
  time += 58_500;
  expect(works()).toEqual(['c']);
  time += 60_000;
  expect(works()).toEqual([]);
});

it('reports the longest ones, and all that clients notice', () => {
  spend(50, 'a');
  spend(20, 'b');
  spend(60, 'c');
  spend(LONG + 100, 'd');
  spend(LONG, 'e');
  expect(reported.map(([{ work }, isLong]) => `${work} ${isLong}`)).toEqual([
    'a false',
    'c false',
    'd true',
    'e true',
  ]);
});

it('gives what was spent on work within other work the name of the inner one', () => {
  time += 1000;
  watch.run('outer', () => {
    watch.run('inner', () => {
      time += 100;
    });
    time += 3;
  });
  expect(works()).toEqual(['inner']);
  expect(reported.length).toBe(1);
});

it('names outer work that took long besides', () => {
  time += 1000;
  watch.run('outer', () => {
    watch.run('inner', () => {
      time += 20;
    });
    time += 100;
  });
  expect(works()).toEqual(['outer']);
});

it('gives a delay that nothing accounts for a name of its own', () => {
  spend(100, 'known');
  time += 50;
  watch.lagged(110, { ran: 110, waited: 0 });
  expect(works()).toEqual(['known']);
  time += 5000;
  watch.lagged(300, { ran: 150, waited: 149 });
  expect(works()).toEqual(['other work']);
  watch.lagged(3, { ran: 0, waited: 3 });
  expect(works()).toEqual(['other work']);
  time += 5000;
  watch.lagged(400, { ran: 200, waited: 200 });
  expect(works()).toEqual(['waiting for a processor']);
  time += 5000;
  watch.lagged(500, { ran: 249, waited: 249 });
  expect(works()).toEqual(['not running']);
  time += 5000;
  watch.lagged(600, { ran: Number.NaN, waited: Number.NaN });
  expect(works()).toEqual(['other work']);
});

it('cuts what a client has named', () => {
  watch.note(time, time + 100, 'recv', `request 1 GET /${'x'.repeat(10_000)}`);
  expect(watch.longest()?.of.length).toBe(200);
});
