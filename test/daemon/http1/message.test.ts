// Fields of several lines made one.
import { describe, expect, it } from 'vitest';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { Tag } from '../../../protocol/tables/tags.ts';

function message(...lines: string[]): HttpMessage {
  const made = new HttpMessage(Tag.RespMethod);
  for (const line of lines) made.push(line.slice(0, line.indexOf(':')).toLowerCase(), line);
  return made;
}

const fields = (m: HttpMessage): string[] => m.lines.slice(0, m.n);

describe('join', () => {
  it('joins the values of all lines at the first one, without log records', () => {
    const m = message('A: 1', 'VARY: x', 'B: 2', 'Vary:  y', 'C: 3', 'vary: ');
    m.lend(Buffer.from('lent'), 0);
    const records: string[] = [];
    const put = (_: number, text: string): number => records.push(text);
    m.log = { put, putBytes: () => {}, putConstant: () => {}, wants: () => true };
    m.join('vary');
    expect([fields(m), m.get('vary'), records]).toEqual([
      ...[['A: 1', 'VARY: x, y, ', 'B: 2', 'C: 3'], 'x, y, ', []],
    ]);
    // The lent bytes still are those of the first line only.
    expect(m.rawLines).toBe(1);
  });

  it('leaves one line and none as they are', () => {
    const m = message('A: 1', 'Vary:x');
    m.join('vary');
    m.join('cookie');
    expect(fields(m)).toEqual(['A: 1', 'Vary:x']);
  });
});
