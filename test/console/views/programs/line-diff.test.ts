import fc from 'fast-check';
import { expect, it } from 'vitest';
import { lineDiff } from '../../../../console/views/programs/program-changes.ts';

it('undone gives the older text, and done the newer one', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', '}', ''), { maxLength: 30 }).map((l) => l.join('\n'));
  fc.assert(
    fc.property(text, text, (a, b) => {
      const lines = (t: string): string[] => t.replace(/\n$/, '').split('\n');
      const diff = lineDiff(a, b, 1000);
      if (diff.length === 0) {
        expect(lines(a)).toEqual(lines(b));
        return;
      }
      const newer = diff.filter((d) => d.kind !== 'gone');
      expect(newer.map((d) => d.text)).toEqual(lines(b));
      expect(newer.map((d) => d.line)).toEqual(lines(b).map((_l, i) => i + 1));
      const gone = diff.filter((d) => d.kind === 'gone');
      for (const d of gone) expect(lines(a)[d.line - 1]).toBe(d.text);
      expect(diff.filter((d) => d.kind !== 'new').map((d) => d.text)).toEqual(lines(a));
    }),
  );
});

it('finds one changed line among many', () => {
  const many = Array.from({ length: 20_000 }, (_, i) => `line ${i}`);
  const changed = many.with(10_000, 'other');
  expect(lineDiff(many.join('\n'), changed.join('\n'), 0)).toEqual([
    { kind: 'skip', text: '10000 lines unchanged', line: 0 },
    { kind: 'gone', text: 'line 10000', line: 10_001 },
    { kind: 'new', text: 'other', line: 10_001 },
    { kind: 'skip', text: '9999 lines unchanged', line: 0 },
  ]);
});

it('gives up in time on texts that share nothing', () => {
  const some = (word: string): string => Array.from({ length: 30_000 }, (_, i) => `${word} ${i}`).join('\n');
  const began = process.cpuUsage();
  expect(lineDiff(some('a'), some('b'))).toHaveLength(60_000);
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(5000);
});
