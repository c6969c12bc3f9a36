// Programs so long that their subs are cut into several functions: what they do does not change with their length.
import { describe, expect, it } from 'vitest';
import { task } from './fake-task.ts';

const HEAD = 'vcl 4.1; backend d { .host = "127.0.0.1"; }';
const times = (n: number, text: (i: number) => string): string =>
  Array.from({ length: n }, (_, i) => text(i)).join('\n');

/** What vcl_recv returns, and the header `out` then. */
function run(program: string, url: string): [string, string | null] {
  const t = task(`${HEAD} ${program}`);
  t.req.http.setUrl(url);
  return [t.run('recv'), t.req.http.get('out')];
}

describe.each([1, 40, 80, 150, 1000, 3000])('%i statements', (n) => {
  it('in a row: each is done, once, in order', () => {
    const program = `sub vcl_recv { set req.http.out = ""; ${times(n, (i) => `if (req.url ~ "/${i}/") { set req.http.out = req.http.out + "${i},"; }`)} return (pass); }`;
    expect(run(program, `/0/${n - 1}/`)).toEqual(['pass', n === 1 ? '0,' : `0,${n - 1},`]);
    expect(run(program, '/none/')).toEqual(['pass', '']);
  });

  it('return from the state where they do', () => {
    const program = `sub vcl_recv { ${times(n, (i) => `if (req.url == "/${i}") { set req.http.out = "${i}"; return (synth(200)); }`)} set req.http.out = "end"; return (pass); }`;
    expect(run(program, '/0')).toEqual(['synth', '0']);
    expect(run(program, `/${n - 1}`)).toEqual(['synth', String(n - 1)]);
    expect(run(program, '/none')).toEqual(['pass', 'end']);
  });

  it('leave a called sub by a bare return, and no more than that', () => {
    const program = `sub called { ${times(n, (i) => `if (req.url == "/${i}") { set req.http.out = "${i}"; return; }`)} set req.http.out = "end"; }
      sub vcl_recv { call called; set req.http.out = req.http.out + " after"; return (pass); }`;
    expect(run(program, '/0')).toEqual(['pass', '0 after']);
    expect(run(program, `/${n - 1}`)).toEqual(['pass', `${n - 1} after`]);
    expect(run(program, '/none')).toEqual(['pass', 'end after']);
  });

  it('as else-ifs, one of which is taken', () => {
    const program = `sub vcl_recv { if (req.url == "/x") { set req.http.out = "x"; } ${times(n, (i) => `elseif (req.url ~ "^/${i}(/|$)") { set req.http.out = "${i}"; }`)} else { set req.http.out = "else"; } return (pass); }`;
    for (const [url, out] of [
      ['/x', 'x'],
      ['/0', '0'],
      [`/${n - 1}/`, String(n - 1)],
      ['/none', 'else'],
    ] as const)
      expect(run(program, url)).toEqual(['pass', out]);
  });

  it('inside of a block, which is entered or not', () => {
    const program = `sub vcl_recv { set req.http.out = ""; if (req.url ~ "^/in") { if (req.method == "GET") { ${times(n, (i) => `if (req.url ~ "/${i}/") { set req.http.out = req.http.out + "${i},"; }`)} return (synth(200)); } } return (pass); }`;
    expect(run(program, `/in/${n - 1}/`)).toEqual(['synth', `${n - 1},`]);
    expect(run(program, `/out/${n - 1}/`)).toEqual(['pass', '']);
  });
});

it('of 5 MB has more lines than a call takes arguments', () => {
  const program = `sub vcl_recv { ${times(50_000, (i) => `if (req.url == "/page-${i}" && req.http.Cookie !~ "a${i}=") { set req.http.out = "the value of ${i}"; }`)} return (pass); }`;
  expect(program.length).toBeGreaterThan(4_500_000);
  expect(run(program, '/page-49999')).toEqual(['pass', 'the value of 49999']);
}, 60_000);
