// Programs so long that their subs are cut into several functions: what they do does not change with their length.
import { describe, expect, it } from 'vitest';
import type { VclProgram } from '../../../daemon/contract/context.ts';
import { isFull } from '../../harness/runs.ts';
import { load, taskOf } from './fake-task.ts';

const HEAD = 'vcl 4.1; backend d { .host = "127.0.0.1"; }';
const times = (n: number, text: (i: number) => string): string =>
  Array.from({ length: n }, (_, i) => text(i)).join('\n');

/** Compiles a program; then, of a URL: what vcl_recv returns, and the header `out`. */
function runner(text: string): (url: string) => [string, string | null] {
  return runnerOf(load(`${HEAD} ${text}`));
}

function runnerOf(program: VclProgram): (url: string) => [string, string | null] {
  return (url) => {
    const t = taskOf(program);
    t.req.http.setUrl(url);
    return [t.run('recv'), t.req.http.get('out')];
  };
}

describe.each([1, 40, 80, 150, 1000, ...(isFull ? [3000] : [])])('%i statements', (n) => {
  it('in a row: each is done, once, in order', () => {
    const run = runner(
      `sub vcl_recv { set req.http.out = ""; ${times(n, (i) => `if (req.url ~ "/${i}/") { set req.http.out = req.http.out + "${i},"; }`)} return (pass); }`,
    );
    expect(run(`/0/${n - 1}/`)).toEqual(['pass', n === 1 ? '0,' : `0,${n - 1},`]);
    expect(run('/none/')).toEqual(['pass', '']);
  });

  it('return from the state where they do', () => {
    const run = runner(
      `sub vcl_recv { ${times(n, (i) => `if (req.url == "/${i}") { set req.http.out = "${i}"; return (synth(200)); }`)} set req.http.out = "end"; return (pass); }`,
    );
    expect(run('/0')).toEqual(['synth', '0']);
    expect(run(`/${n - 1}`)).toEqual(['synth', String(n - 1)]);
    expect(run('/none')).toEqual(['pass', 'end']);
  });

  it('leave a called sub by a bare return, and no more than that', () => {
    const run =
      runner(`sub called { ${times(n, (i) => `if (req.url == "/${i}") { set req.http.out = "${i}"; return; }`)} set req.http.out = "end"; }
      sub vcl_recv { call called; set req.http.out = req.http.out + " after"; return (pass); }`);
    expect(run('/0')).toEqual(['pass', '0 after']);
    expect(run(`/${n - 1}`)).toEqual(['pass', `${n - 1} after`]);
    expect(run('/none')).toEqual(['pass', 'end after']);
  });

  it('as else-ifs, one of which is taken', () => {
    const run = runner(
      `sub vcl_recv { if (req.url == "/x") { set req.http.out = "x"; } ${times(n, (i) => `elseif (req.url ~ "^/${i}(/|$)") { set req.http.out = "${i}"; }`)} else { set req.http.out = "else"; } return (pass); }`,
    );
    for (const [url, out] of [
      ['/x', 'x'],
      ['/0', '0'],
      [`/${n - 1}/`, String(n - 1)],
      ['/none', 'else'],
    ] as const)
      expect(run(url)).toEqual(['pass', out]);
  });

  it('inside of a block, which is entered or not', () => {
    const run = runner(
      `sub vcl_recv { set req.http.out = ""; if (req.url ~ "^/in") { if (req.method == "GET") { ${times(n, (i) => `if (req.url ~ "/${i}/") { set req.http.out = req.http.out + "${i},"; }`)} return (synth(200)); } } return (pass); }`,
    );
    expect(run(`/in/${n - 1}/`)).toEqual(['synth', `${n - 1},`]);
    expect(run(`/out/${n - 1}/`)).toEqual(['pass', '']);
  });
});

it('has more lines than a call takes arguments', () => {
  const text = `sub vcl_recv { ${times(35_000, (i) => `if (req.restarts == ${i}) { }`)} set req.http.out = "end"; return (pass); }`;
  // Of a call on a stack of Node's usual size there may be some 120,000.
  const program = load(`${HEAD} ${text}`);
  expect(program.compiled.pieces.flatMap(({ text: code }) => code.split('\n')).length).toBeGreaterThan(
    130_000,
  );
  expect(runnerOf(program)('/')).toEqual(['pass', 'end']);
}, 60_000);

it.runIf(isFull)(
  'of 5 MB is taken',
  () => {
    const text = `sub vcl_recv { ${times(50_000, (i) => `if (req.url == "/page-${i}" && req.http.Cookie !~ "a${i}=") { set req.http.out = "the value of ${i}"; }`)} return (pass); }`;
    expect(text.length).toBeGreaterThan(4_500_000);
    expect(runner(text)('/page-49999')).toEqual(['pass', 'the value of 49999']);
  },
  60_000,
);
