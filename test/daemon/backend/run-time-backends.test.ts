// Backends created at run time: one per description, up to a limit, and removed when unused.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Backend } from '../../../daemon/backend/backend.ts';
import type { BackendEnvironment } from '../../../daemon/backend/backend-surroundings.ts';
import { ConnectionPool } from '../../../daemon/backend/pool.ts';
import { RunTimeBackends } from '../../../daemon/backend/run-time-backends.ts';
import type { Director } from '../../../daemon/contract/context.ts';

let now = 1000;
let backends: Map<string, Backend>;
let directors: Map<string, Director>;
let events: string[];
let kept: string[];
let made: RunTimeBackends;

beforeEach(() => {
  vi.useFakeTimers();
  now = 1000;
  backends = new Map();
  directors = new Map();
  events = [];
  kept = [];
  const owner = {
    ...{ name: 'boot', directors, backends },
    made: (b: Backend) => void events.push(`+${b.displayName}`),
    gone: (b: Backend) => void events.push(`-${b.displayName}`),
    rowOf: () => null,
    kept: (key: string) => void kept.push(key),
  };
  const env = { now: () => now, healthLog: () => undefined, pool: new ConnectionPool(60) };
  made = new RunTimeBackends(owner, env as unknown as BackendEnvironment);
});
afterEach(() => {
  made.close();
  vi.useRealTimers();
});

const pass = (seconds: number): void => {
  for (let t = 0; t < seconds; t += 10) {
    now += 10;
    vi.advanceTimersByTime(10_000);
  }
};

describe('backends made at run time', () => {
  it('are one for a description', () => {
    const one = made.at({ host: '127.0.0.1', port: '81' }, false);
    expect(made.at({ host: '127.0.0.1', port: '81' }, false)).toBe(one);
    made.at({ host: '127.0.0.1', port: '81', connectTimeout: 1 }, false);
    made.at({ host: '127.0.0.1', port: '81', probe: { url: '/a' } }, false);
    made.at({ host: '::1' }, false);
    made.at({ path: '/run/a' }, false);
    const names = ['127.0.0.1:81', '127.0.0.1:81(2)', '127.0.0.1:81(3)', '[::1]:80', '/run/a'];
    expect([...directors.keys()]).toEqual(names);
    expect([...backends.keys()]).toEqual(names);
    expect(events).toEqual(names.map((name) => `+boot.${name}`));
  });

  it('have the name that they are given, with a number where it is taken', () => {
    made.at({ host: '127.0.0.1', shownAs: 'd(127.0.0.1:80)' }, false);
    made.at({ host: '127.0.0.1', shownAs: 'd(127.0.0.1:80)', maxConnections: 1 }, false);
    expect([...backends.keys()]).toEqual(['d(127.0.0.1:80)', 'd(127.0.0.1:80)(2)']);
    expect([...backends.values()].map(({ decl }) => 'shownAs' in decl)).toEqual([false, false]);
  });

  it('connect via a backend of the program until they are removed', () => {
    const through = made.at({ host: '192.0.2.1' }, true) as Backend;
    const behind = made.at({ host: '192.0.2.9', via: '192.0.2.1:80', authority: 'a.test' }, false) as Backend;
    const aimed = vi.fn();
    Object.assign(behind, { aim: aimed });
    through.addresses = [];
    expect(aimed).toHaveBeenCalledTimes(1);
    pass(400);
    through.addresses = [];
    expect(aimed).toHaveBeenCalledTimes(1);
  });

  it('go when nobody has used them for five minutes', () => {
    made.at({ host: '127.0.0.1' }, false);
    const asked = made.at({ host: '127.0.0.2' }, false);
    const served = made.at({ host: '127.0.0.3' }, false) as Backend;
    const busy = made.at({ host: '127.0.0.4' }, false) as Backend;
    made.at({ host: '127.0.0.5' }, true);
    busy.inUseHere = 1;
    pass(200);
    made.at({ host: '127.0.0.2' }, false);
    served.counters.req++;
    pass(200);
    expect([...directors.keys()]).toEqual(['127.0.0.2:80', '127.0.0.3:80', '127.0.0.4:80', '127.0.0.5:80']);
    busy.inUseHere = 0;
    pass(400);
    expect([...backends.keys()]).toEqual(['127.0.0.5:80']);
    expect(made.at({ host: '127.0.0.2' }, false)).not.toBe(asked);
    made.close();
    expect([...directors.keys()]).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are reported when they are made and at each look, as long as this thread has them', () => {
    const host = '127.0.0.1';
    made.at({ host, port: '1' }, true);
    made.at({ host, port: '2' }, false);
    made.at({ host, port: '2' }, false);
    const key = JSON.stringify({ host, port: '2' });
    expect(kept).toEqual([key]);
    pass(60);
    expect(kept).toEqual([key, key, key]);
    pass(600);
    expect([backends.size, kept.length]).toEqual([1, 10]);
  });

  it('are a thousand at the most: one more takes the place of the one that was idle for longest', () => {
    const port = (i: number): string => String(i);
    for (let i = 1; i <= 1000; i++, now += 0.001) made.at({ host: '127.0.0.1', port: port(i) }, i === 1);
    (backends.get('127.0.0.1:2') as Backend).inUseHere = 1;
    made.at({ host: '127.0.0.1', port: port(3) }, false);
    made.at({ host: '127.0.0.1', port: port(1001) }, false);
    expect(backends.size).toBe(1000);
    expect([1, 2, 3, 4, 5, 1001].filter((i) => backends.has(`127.0.0.1:${i}`))).toEqual([1, 2, 3, 5, 1001]);
    expect(events.at(-2)).toBe('-boot.127.0.0.1:4');
  });

  it('are no more than a thousand when all are in use', () => {
    for (let i = 1; i <= 1000; i++)
      (made.at({ host: '127.0.0.1', port: String(i) }, false) as Backend).inUseHere = 1;
    expect(() => made.at({ host: '127.0.0.1', port: '1001' }, false)).toThrow('all are in use');
    made.at({ host: '127.0.0.1', port: '7' }, false);
    expect(backends.size).toBe(1000);
  });

  it('have an address', () => {
    expect(() => made.at({ host: 'example.com' }, false)).toThrow('"example.com" is not a backend address');
    expect(() => made.at({ host: '127.0.0.1', port: 'none' }, false)).toThrow('port "none" is not valid');
    expect(events).toEqual([]);
  });
});
