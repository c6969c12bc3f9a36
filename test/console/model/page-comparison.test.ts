// Two answers for one page side by side.
import { expect, it } from 'vitest';
import type { PageAnswer } from '../../../console/client/page-client.ts';
import { pageComparison, type SeenPage } from '../../../console/model/page-comparison.ts';

const answer = (more: Partial<PageAnswer> = {}): PageAnswer => ({
  status: 200,
  headers: [
    ['Content-Type', 'text/html'],
    ['Age', '40'],
    ['ETag', '"one"'],
  ],
  bytes: 10,
  sha256: 'a'.repeat(64),
  seconds: 0.001,
  ...more,
});
const before: SeenPage = { answer: answer(), logged: { handling: 'hit', ttl: 80.25 } };

const text = (after: SeenPage, width = 100): string[] =>
  pageComparison(before, after, width).map((line) =>
    line
      .map((piece) => piece.text)
      .join('')
      .trimEnd(),
  );

it('says that nothing changed where only what always differs does', () => {
  const same = answer({ headers: [...answer().headers.filter(([name]) => name !== 'Age'), ['Age', '0']] });
  const lines = text({ answer: same, logged: { handling: 'miss', ttl: 120 } });
  expect(lines[0]).toBe('Nothing changed.');
  expect(lines).toContainEqual(expect.stringMatching(/^cache +hit +miss$/));
  expect(lines).toContainEqual(expect.stringMatching(/^time to live +1m20s +2m00s$/));
  expect(lines).toContainEqual(expect.stringMatching(/^Age +40 +0$/));
  expect(lines.at(-1)).toBe('2 more headers are the same.');
});

it('puts what differs in columns, whole on the smallest terminal too', () => {
  const long = `W/"${'x'.repeat(50)}"`;
  const after = answer({
    status: 503,
    sha256: 'b'.repeat(64),
    headers: [
      ['etag', long],
      ['X-Escape', '\u001b[2J'],
    ],
  });
  const lines = text({ answer: after, logged: null }, 52);
  expect(lines[0]).toBe('Changed: the status, the body, 3 headers.');
  expect(lines).toContainEqual(expect.stringMatching(/^status +200 +503$/));
  expect(lines).toContainEqual(expect.stringMatching(/^Content-Type +text\/html +–$/));
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(52);
  const from = lines.findIndex((line) => line.startsWith('ETag'));
  const column = lines[from]?.indexOf('W/') ?? 0;
  const cut = lines.slice(from).map((line) => line.slice(column));
  expect(cut.join('').startsWith(long)).toBe(true);
  expect(lines.join('')).not.toContain('\u001b');
});
