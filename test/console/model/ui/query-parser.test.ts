import { describe, expect, it } from 'vitest';
import { checkQuery, completeQuery } from '../../../../console/model/ui/query-parser.ts';

describe('checkQuery', () => {
  it('accepts what the language accepts', () => {
    for (const query of ['RespStatus >= 500', 'ReqURL ~ "^/a" and not RespStatus == 200', 'vxid == 5']) {
      expect(checkQuery(query), query).toEqual({ ok: true });
    }
  });

  it('remarks on what is right and yet can match nothing', () => {
    expect(checkQuery('Witness ~ x')).toMatchObject({
      ok: true,
      note: expect.stringMatching(/^Witness: /),
    });
  });

  it('names the place, and what could stand there, the likeliest first', () => {
    const verdict = checkQuery('RespStatus >= 500 and ReqURL "/x"');
    expect(verdict).toMatchObject({ ok: false, from: 29, to: 33 });
    expect(verdict.ok ? [] : verdict.expected.slice(0, 2)).toEqual(['== != < <= > >=', '~ !~']);
  });

  it('marks at least one column, also at the end', () => {
    const text = 'RespStatus >=';
    const verdict = checkQuery(text);
    expect(verdict).toMatchObject({ ok: false, from: text.length, to: text.length + 1 });
  });

  it('survives every prefix and every cut of a query', () => {
    const query = 'RespHeader:Via[1] ~ "a\\"b" and (vxid != 3 or {2+}Bereq* eq x)';
    for (let i = 0; i <= query.length; i++) {
      checkQuery(query.slice(0, i));
      checkQuery(query.slice(i));
      completeQuery(query, i);
    }
  });
});

describe('completeQuery', () => {
  it('offers tags where a tag may stand, in any case', () => {
    expect(completeQuery('resps', 5)).toMatchObject({ from: 0, candidates: [{ text: 'RespStatus' }] });
    expect(completeQuery('RespStatus >= 500 and requ', 26).candidates.map((c) => c.text)).toEqual([
      'ReqURL',
      'ReqUnset',
    ]);
  });

  it('offers nothing where a value stands, and nothing unasked', () => {
    expect(completeQuery('ReqURL ~ re', 11).candidates).toEqual([]);
    expect(completeQuery('', 0).candidates).toEqual([]);
  });
});
