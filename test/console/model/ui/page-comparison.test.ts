// Two answers for one page side by side.
import { expect, it } from 'vitest';
import type { PageAnswer } from '../../../../console/client/page-client.ts';
import { pageComparison, type SeenPage } from '../../../../console/model/ui/page-comparison.ts';

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
const before: SeenPage = { answer: answer(), logged: { handling: 'hit', ttl: 80.25, error: '' } };

const text = (after: SeenPage, width = 100, from = before): string[] =>
  pageComparison(from, after, width).map((line) =>
    line
      .map((piece) => piece.text)
      .join('')
      .trimEnd(),
  );

it('reports that nothing changed where only what always differs does', () => {
  const same = answer({ headers: [...answer().headers.filter(([name]) => name !== 'Age'), ['Age', '0']] });
  const lines = text({ answer: same, logged: { handling: 'miss', ttl: 120, error: '' } });
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
  expect(cut[0]?.endsWith('…')).toBe(true);
  expect(cut.join('').replaceAll('…', '').startsWith(long)).toBe(true);
  expect(lines.join('')).not.toContain('\u001b');
});

it('takes the framing of the body for what it is, and no change', () => {
  const chunked = answer({ headers: [...answer().headers, ['Transfer-Encoding', 'chunked']] });
  const sized = answer({ headers: [...answer().headers, ['Content-Length', '10']] });
  const logged = { handling: 'hit', ttl: 1, error: '' } as const;
  const at = { answer: chunked, logged };
  expect(text({ answer: sized, logged }, 100, at)[0]).toBe('Nothing changed.');
  expect(text(at, 100, { answer: sized, logged })[0]).toBe('Nothing changed.');
});

it('shows for a failing origin why the fetch failed, and not the contents of the error page', () => {
  const page = (n: number, error = 'no backend connection'): SeenPage => ({
    answer: answer({ status: 503, sha256: String(n).repeat(64) }),
    logged: { handling: 'miss', ttl: null, error },
  });
  const lines = text(page(2), 100, page(1));
  expect(lines[0]).toBe('Both fetches failed: no backend connection.');
  expect(lines).toContainEqual(
    expect.stringMatching(/^fetch error +no backend connection +no backend connection$/),
  );
  expect(text(page(2))[0]).toBe('The fetch failed: no backend connection.');
  expect(text(before, 100, page(1))[0]).toBe('The fetch failed before and succeeds now.');
});

it('breaks no name within a word', () => {
  const headers = [['Strict-Transport-Security', 'max-age=1']] as const;
  const names = (width: number): string[] => {
    const lines = text({ answer: answer({ headers }), logged: null }, width);
    const from = lines.findIndex((line) => line.startsWith('Strict'));
    return lines.slice(from, -1).map((line) => line.split(' ')[0] ?? '');
  };
  expect(names(100)).toEqual(['Strict-Transport-Security']);
  expect(names(52)).toEqual(['Strict-', 'Transport-', 'Security']);
  const dated = answer({ headers: [['Last-Modified', 'Wed, 25 Nov 2026 20:51:07 GMT']] });
  expect(text({ answer: dated, logged: null }, 60).join('\n')).toMatch(/25 Nov 2026\n +20:51:07 GMT\n/);
});
