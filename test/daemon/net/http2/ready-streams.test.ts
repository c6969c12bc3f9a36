import { describe, expect, it } from 'vitest';
import { type Ready, ReadyStreams } from '../../../../daemon/net/http2/ready-streams.ts';

interface Named extends Ready {
  readonly name: string;
}

function stream(name: string, urgency = 3, isIncremental = true): Named {
  return { name, urgency, isIncremental, isReady: false };
}

/** The order in which they are served when each always has more. */
function order(ready: ReadyStreams<Named>, turns: number): string {
  let names = '';
  for (let i = 0; i < turns; i++) {
    const first = ready.first();
    if (first === null) break;
    names += first.name;
    ready.served(first);
  }
  return names;
}

describe('streams with something to send', () => {
  it('take turns within one urgency', () => {
    const ready = new ReadyStreams<Named>();
    for (const name of 'abc') ready.add(stream(name));
    expect(order(ready, 7)).toBe('abcabca');
  });

  it('are served by urgency', () => {
    const ready = new ReadyStreams<Named>();
    const urgent = stream('u', 0);
    ready.add(stream('a'));
    ready.add(urgent);
    ready.add(stream('z', 7));
    expect(order(ready, 3)).toBe('uuu');
    ready.remove(urgent);
    expect(order(ready, 3)).toBe('aaa');
  });

  it('keep their turn where they are of use only whole', () => {
    const ready = new ReadyStreams<Named>();
    const whole = stream('w', 3, false);
    ready.add(whole);
    ready.add(stream('a'));
    ready.add(stream('b'));
    expect(order(ready, 3)).toBe('www');
    ready.remove(whole);
    expect(order(ready, 4)).toBe('abab');
  });

  it('are there once, and leave once', () => {
    const ready = new ReadyStreams<Named>();
    const a = stream('a');
    ready.add(a);
    ready.add(a);
    expect([ready.count, a.isReady]).toEqual([1, true]);
    ready.remove(a);
    ready.remove(a);
    expect([ready.count, a.isReady, ready.first()]).toEqual([0, false, null]);
  });
});
