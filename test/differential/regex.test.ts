// Expressions through both daemons: whether they match, what regsub makes of them and what regsuball does.
// Patterns that Varnish refuses are refused here, in its words as far as they go.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkRegex, RegexError } from '../../queries/regex/bounded-regex.ts';
import { ClientConnection } from '../harness/http-client.ts';
import { run, Sandbox } from '../harness/processes.ts';
import { type Product, startProxy } from '../harness/proxy.ts';
import { type Answers, inputsOf, type Reference, recording } from './recording.ts';
import { REGEX_CASES, type RegexCase } from './regex-cases.ts';

const matched = recording('regex');
const refusals = recording('regex-refused');

interface Asked {
  /** Name among the answers. */
  key: string;
  /** Of its pattern. */
  number: number;
  pattern: string;
  replacement: string;
  subject: string;
}

const ASKED: readonly Asked[] = REGEX_CASES.flatMap(
  ([pattern, replacement, ...subjects]: RegexCase, number) =>
    subjects.map((subject) => ({
      key: `${number}: ${pattern} on ${subject}, replaced by ${replacement}`,
      number,
      pattern,
      replacement,
      subject,
    })),
);

/** How a subject travels: a header has no line breaks and no blanks at its ends. */
function spelled(subject: string): string {
  return `[${subject.replaceAll('\r', '<CR>').replaceAll('\n', '<LF>')}`;
}

function breaks(c: RegexCase): boolean {
  return /[\r\n]/.test(c.slice(2).join(''));
}

/** One subroutine for each pattern; the subject comes after a bracket in the header s. */
function program(): string {
  const subs = REGEX_CASES.map((c, i) => {
    const [pattern, replacement] = c;
    let s = 'regsub(req.http.s, "^.(.*).$", "\\1")';
    if (breaks(c)) s = `regsuball(regsuball(${s}, "<CR>", {"\r"}), "<LF>", {"\n"})`;
    const shown = (text: string) =>
      breaks(c)
        ? `regsuball(regsuball("[" + ${text} + "]", "\\r", "<CR>"), "\\n", "<LF>")`
        : `"[" + ${text} + "]"`;
    return `sub p${i} {
      if (${s} ~ {"${pattern}"}) { set req.http.m = "yes"; } else { set req.http.m = "no"; }
      set req.http.one = ${shown(`regsub(${s}, {"${pattern}"}, {"${replacement}"})`)};
      set req.http.all = ${shown(`regsuball(${s}, {"${pattern}"}, {"${replacement}"})`)};
    }`;
  });
  const calls = REGEX_CASES.map((_, i) => `if (req.url == "/${i}") { call p${i}; }`);
  return `vcl 4.1;
    backend nil none;
    ${subs.join('\n')}
    sub vcl_recv { ${calls.join('\n')} return (synth(200)); }
    sub vcl_synth {
      set resp.http.m = req.http.m; set resp.http.one = req.http.one; set resp.http.all = req.http.all;
      return (deliver);
    }`;
}

async function answers(box: Sandbox, product: Product): Promise<Answers<string>> {
  const proxy = await startProxy(box, {
    product,
    program: program(),
    dir: mkdtempSync(`${box.dir}/${product}-`),
  });
  const connection = await ClientConnection.open(proxy.port);
  try {
    const out = new Map<string, string>();
    for (const { key, number, subject } of ASKED) {
      connection.send(`GET /${number} HTTP/1.1\r\nHost: a\r\nS: ${spelled(subject)}]\r\n\r\n`);
      const response = await connection.response('GET');
      const fields = new Map(response.fields.map(([name, value]) => [name.toLowerCase(), value]));
      out.set(key, `${response.status} ${fields.get('m')} ${fields.get('one')} ${fields.get('all')}`);
    }
    return out;
  } finally {
    connection.close();
    await proxy.stop().catch(() => {});
  }
}

describe('expressions beside Varnish’s daemon', () => {
  const box = new Sandbox('proxyd-diff-regex');
  let reference: Reference<string>;
  let ours: Answers<string>;

  beforeAll(async () => {
    const keys = ASKED.map(({ key }) => key);
    [reference, ours] = await matched.both(inputsOf('', keys), (product) => answers(box, product));
  });
  afterAll(() => box.dispose());

  it('are many, and the reference answers them all', () => {
    expect(ASKED.length).toBeGreaterThan(400);
    const all = reference.values();
    expect(all.filter((answer) => !answer.startsWith('200 '))).toEqual([]);
    expect(all.filter((answer) => answer.startsWith('200 yes')).length).toBeGreaterThan(250);
  });

  it.each(
    ASKED.map(({ key, pattern, subject, replacement }) => [
      pattern,
      JSON.stringify(subject),
      replacement,
      key,
    ]),
  )('%s on %s, replaced by %s', (_pattern, _subject, _replacement, key = '') => {
    expect(ours.get(key)).toBe(reference.get(key));
  });
});

const REFUSED: readonly string[] = [
  '(',
  'a)',
  '[a',
  '*a',
  'a**',
  '^*',
  'a{3,2}',
  'a{65536}',
  '[z-a]',
  '[a-\\d]',
  '[\\d-z]',
  '(?<=a+)b',
  '(?<=ab(c|de))f',
  '[[:nope:]]',
  '[:alpha:]',
  '[[.a.]]',
  '\\2(a)',
  '(?1)',
  '\\k<n>',
  '(?<n>a)(?<n>b)',
  '(?<1>a)',
  '(?<n',
  '(?z)a',
  '(?',
  '(?P>n',
  '(*NOPE)a',
  '\\x{100}',
  '\\777',
  '\\c\u007f',
  '\\j',
  '\\U',
  '\\p{Nope}',
  '(?=a\\K)',
  '(?(1)a|b|c)(x)',
  '(?(9)a)',
];

describe('expressions that neither takes', () => {
  const dir = mkdtempSync(join(tmpdir(), 'proxyd-regex-'));
  const words = (text: string) => text.toLowerCase();
  afterAll(() => rmSync(dir, { recursive: true }));

  let reference: Reference<string>;
  beforeAll(async () => {
    reference = await refusals.reference(inputsOf('', REFUSED), async () => {
      const output = new Map<string, string>();
      for (const pattern of REFUSED) output.set(pattern, await refusal(pattern));
      return output;
    });
  });

  /** Varnish's words about a pattern. */
  async function refusal(pattern: string): Promise<string> {
    const file = join(dir, 'a.vcl');
    writeFileSync(
      file,
      `vcl 4.1; backend d none; sub vcl_recv { if (req.url ~ {"${pattern}"}) { return (pass); } }`,
    );
    const real = await run('varnishd', ['-C', '-f', file, '-n', join(dir, 'n')]);
    expect(real.code).toBe(2);
    return /Regexp compilation error:\s+(.*)/.exec(real.stderr)?.[1] ?? '';
  }

  it.each(REFUSED)('%s', (pattern) => {
    const output = reference.get(pattern);
    let message = '';
    try {
      checkRegex(pattern);
    } catch (error) {
      if (!(error instanceof RegexError)) throw error;
      message = error.message;
    }
    expect(message).not.toBe('');
    // Ours may name the construct in addition.
    expect(words(message).replace(/'[^']*' ?/g, '')).toContain(words(output).split(/[(:]/)[0]?.slice(0, 20));
  });
});
