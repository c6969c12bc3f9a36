// Expressions through both daemons: whether they match, what regsub makes of them and what regsuball does.
// Patterns that the field refuses are refused here, in its words as far as they go.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkRegex, RegexError } from '../../daemon/vcl/regex.ts';
import { ClientConnection } from '../harness/http-client.ts';
import { installed, Sandbox } from '../harness/processes.ts';
import { type Product, startProxy } from '../harness/proxy.ts';
import { REGEX_CASES, type RegexCase } from './regex-cases.ts';

const there = installed('varnishd');
if (!there) console.warn('differential tests skipped: varnishd is not installed');

interface Asked {
  pattern: string;
  replacement: string;
  subject: string;
}

const ASKED: readonly Asked[] = REGEX_CASES.flatMap(([pattern, replacement, ...subjects]: RegexCase) =>
  subjects.map((subject) => ({ pattern, replacement, subject })),
);

/** Blanks at the ends of a header are not part of it. */
function travels(subject: string): boolean {
  return !/[\r\n\t]/.test(subject) && subject === subject.trim();
}

/** One branch for each question; line breaks in answers are written as words. */
function program(): string {
  const branches = ASKED.map(({ pattern, replacement, subject }, i) => {
    const s = travels(subject) ? 'req.http.s' : `{"${subject}"}`;
    const shown = (text: string) => `regsuball(regsuball("[" + ${text} + "]", "\\r", "<CR>"), "\\n", "<LF>")`;
    return `if (req.url == "/${i}") {
      if (${s} ~ {"${pattern}"}) { set req.http.m = "yes"; } else { set req.http.m = "no"; }
      set req.http.one = ${shown(`regsub(${s}, {"${pattern}"}, {"${replacement}"})`)};
      set req.http.all = ${shown(`regsuball(${s}, {"${pattern}"}, {"${replacement}"})`)};
      return (synth(200));
    }`;
  });
  return `vcl 4.1;
    backend none none;
    sub vcl_recv { ${branches.join('\n')} }
    sub vcl_synth {
      set resp.http.m = req.http.m; set resp.http.one = req.http.one; set resp.http.all = req.http.all;
      set resp.body = ""; return (deliver);
    }`;
}

async function answers(box: Sandbox, product: Product): Promise<string[]> {
  const proxy = await startProxy(box, {
    product,
    program: program(),
    dir: mkdtempSync(`${box.dir}/${product}-`),
  });
  const connection = await ClientConnection.open(proxy.port, 20_000);
  try {
    const out: string[] = [];
    for (const [i, { subject }] of ASKED.entries()) {
      const header = travels(subject) ? `S: ${subject}\r\n` : '';
      connection.send(`GET /${i} HTTP/1.1\r\nHost: a\r\n${header}\r\n`);
      const response = await connection.response('GET');
      const fields = new Map(response.fields.map(([name, value]) => [name.toLowerCase(), value]));
      out.push(`${response.status} ${fields.get('m')} ${fields.get('one')} ${fields.get('all')}`);
    }
    return out;
  } finally {
    connection.close();
    await proxy.stop().catch(() => {});
  }
}

describe.skipIf(!there)('expressions beside the field’s daemon', () => {
  const box = new Sandbox('proxyd-diff-regex');
  let reference: string[] = [];
  let ours: string[] = [];

  beforeAll(async () => {
    reference = await answers(box, 'varnish');
    ours = await answers(box, 'proxyd');
  }, 120_000);
  afterAll(() => box.dispose());

  it('are many, and the reference answers them all', () => {
    expect(ASKED.length).toBeGreaterThan(400);
    expect(reference.filter((answer) => !answer.startsWith('200 '))).toEqual([]);
  });

  it.each(
    ASKED.map((asked, i) => [asked.pattern, JSON.stringify(asked.subject), asked.replacement, i] as const),
  )('%s on %s, replaced by %s', (_pattern, _subject, _replacement, i) => {
    expect(ours[i]).toBe(reference[i]);
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

describe.skipIf(!there)('expressions that neither takes', () => {
  const dir = mkdtempSync(join(tmpdir(), 'proxyd-regex-'));
  const words = (text: string) => text.toLowerCase();
  afterAll(() => rmSync(dir, { recursive: true }));

  it.each(REFUSED)('%s', (pattern) => {
    const file = join(dir, 'a.vcl');
    writeFileSync(
      file,
      `vcl 4.1; backend d none; sub vcl_recv { if (req.url ~ {"${pattern}"}) { return (pass); } }`,
    );
    const real = spawnSync('varnishd', ['-C', '-f', file, '-n', join(dir, 'n')], { encoding: 'utf8' });
    expect(real.status).toBe(2);
    const said = /Regexp compilation error:\s+(.*)/.exec(real.stderr)?.[1] ?? '';
    let message = '';
    try {
      checkRegex(pattern);
    } catch (error) {
      if (!(error instanceof RegexError)) throw error;
      message = error.message;
    }
    expect(message).not.toBe('');
    // Ours may name the construct in addition.
    expect(words(message).replace(/'[^']*' ?/g, '')).toContain(words(said).split(/[(:]/)[0]?.slice(0, 20));
  });
});
