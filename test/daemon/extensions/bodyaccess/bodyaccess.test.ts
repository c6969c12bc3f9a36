// A cached request body as seen by a program; texts and values as in Varnish's module.
import { describe, expect, it } from 'vitest';
import { type Task, task } from '../../vcl/fake-task.ts';

const UNBUFFERED = 'Unbuffered req.body';

/** A program with these statements in a state, over a body (null: not cached). */
function run(statements: string, body: string | null, state: 'recv' | 'hash' = 'recv'): Task {
  const t = task(`import bodyaccess; sub vcl_${state} { ${statements} }`);
  const bytes = (): Buffer => Buffer.from(body ?? '', 'latin1');
  Object.assign(t.req, { cachedBody: body === null ? null : { length: body.length, bytes } });
  t.run(state);
  return t;
}

function out(expression: string, body: string | null): string | null {
  return run(`set req.http.out = ${expression};`, body).req.http.get('out');
}

describe('the extension bodyaccess', () => {
  it.each([
    ['bodyaccess.len_req_body()', 'foo bar', '7'],
    ['bodyaccess.len_req_body()', '\xe9\0', '2'],
    ['bodyaccess.rematch_req_body("fo+\\s")', 'a foo bar', '1'],
    ['bodyaccess.rematch_req_body("fo+\\s")', 'a fo', '0'],
    ['bodyaccess.rematch_req_body("\\xe9$")', '\0\xe9', '1'],
  ])('%s of %j is %s', (expression, body, expected) => {
    expect(out(expression, body)).toBe(expected);
  });

  it.each(['bodyaccess.len_req_body()', 'bodyaccess.rematch_req_body("a")'])(
    '%s is -1 where there is no body',
    (expression) => {
      for (const body of [null, '']) {
        const t = run(`set req.http.out = ${expression};`, body);
        expect(t.req.http.get('out')).toBe('-1');
        expect(t.log.of('VCL_Error')).toEqual([UNBUFFERED]);
        expect(t.ctx.failure).toBeNull();
      }
    },
  );

  it('is cut off by the match limit instead of hanging', () => {
    const t = run('set req.http.out = bodyaccess.rematch_req_body("(?=a)(a+)+$");', `${'a'.repeat(50_000)}b`);
    expect(['-1', '0']).toContain(t.req.http.get('out'));
  });

  it('adds the body to the key, in vcl_hash alone', () => {
    expect(
      run('bodyaccess.hash_req_body();', 'a\0b\xe9', 'hash').req.attempt.hashKey.startsWith('a\0b\xe9#'),
    ).toBe(true);
    const t = run('bodyaccess.hash_req_body();', 'abc');
    expect(t.req.attempt.hashKey).toBe('');
    expect(t.log.of('VCL_Error')).toEqual(['hash_req_body can only be used in vcl_hash{}']);
  });

  it('looks at the body in vcl_recv alone', () => {
    const t = run('if (bodyaccess.len_req_body() == 3) { return (fail); }', 'abc', 'hash');
    expect(t.log.of('VCL_Error')).toEqual(['len_req_body can only be used in vcl_recv{}']);
  });

  it.each([
    ['bodyaccess.log_req_body();', 'x'.repeat(450), ['x'.repeat(200), 'x'.repeat(200), 'x'.repeat(50)]],
    ['bodyaccess.log_req_body("PREFIX:", 3);', 'a\nb\0c\xe9d', ['PREFIX:a\nb', 'PREFIX:\0c\xe9', 'PREFIX:d']],
    ['bodyaccess.log_req_body("P", 0);', 'abc', ['Pabc']],
    ['bodyaccess.log_req_body(length=-1);', 'abc', ['abc']],
  ])('%s logs pieces', (statement, body, records) => {
    expect(run(statement, body).log.of('Debug')).toEqual(records);
  });

  it('logs no body that is not there', () => {
    const t = run('bodyaccess.log_req_body();', null);
    expect(t.log.of('Debug')).toEqual([]);
    expect(t.log.of('VCL_Error')).toEqual([UNBUFFERED]);
  });
});
