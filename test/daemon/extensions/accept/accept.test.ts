// The choice among what a client accepts. What each list gives was seen in Varnish; see also the scenarios "accept".
import { describe, expect, it } from 'vitest';
import { AcceptRule } from '../../../../daemon/extensions/accept/accept.ts';

function rule(...choices: string[]): AcceptRule {
  const made = new AcceptRule('none');
  for (const choice of choices) made.add(choice);
  return made;
}
const ab = rule('a', 'B', 'text/html');

describe('accept.rule()', () => {
  it.each([
    ['a', 'a'],
    ['b, a', 'B'],
    ['a;q=0.5, b', 'B'],
    ['a;q=0.5,b;q=0.5', 'a'],
    ['a ; q=0.1 , b;q=0.2', 'B'],
    ['TEXT/HTML', 'text/html'],
    ['x, y;q=1, b;q=0.001', 'B'],
    ['a;q=0', 'none'],
    ['a;q=1e-1, b;q=0.2', 'B'],
    ['a;level=1;q=0, b;q=0.5', 'a'],
    ['', 'none'],
    ['x', 'none'],
    ['*', 'none'],
    ['text/*', 'none'],
    ['*/*', 'none'],
  ])('chooses of %j: %s', (list, choice) => {
    expect(ab.filter(list)).toBe(choice);
  });

  it.each([
    'a,,b',
    'a;',
    'a b',
    'a;q',
    'a;q=',
    'b;q=2',
    'b;q=1.1',
    'b;q=x',
    'b;q=-1',
    'b, a=1',
    'a, b;q=1e-400',
  ])('falls back where a list is malformed to its end: %j', (list) => {
    expect(ab.filter(list)).toBe('none');
  });

  it('adds and removes by any case, and keeps the first spelling', () => {
    const r = rule('One', 'ONE', 'two');
    expect(r.filter('one')).toBe('One');
    r.remove('oNe');
    r.remove('absent');
    expect([r.filter('one'), r.filter('two')]).toEqual(['none', 'two']);
    r.add('one');
    expect(r.filter('ONE')).toBe('one');
  });

  it('takes long lists in one pass', () => {
    const started = process.cpuUsage();
    expect(ab.filter(`${'x;a=b , '.repeat(10_000)}a`)).toBe('a');
    expect(ab.filter(`x${' '.repeat(60_000)}x`)).toBe('none');
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(1000);
  });
});
