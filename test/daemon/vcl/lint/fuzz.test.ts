// The lint reads programs that are being written: whatever the text, it ends, and every finding lies in the text.
import { expect, it } from 'vitest';
import { parseForLint, runRules } from '../../../../daemon/vcl/lint/lint.ts';
import { builtinText } from '../../../../daemon/vcl/own-programs.ts';
import { runs } from '../../../harness/runs.ts';

/** Numbers that look random and are the same in every run. */
function* numbers(seed: number): Generator<number, never> {
  let x = seed;
  for (;;) {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    yield x;
  }
}

const WORDS = [
  ...[
    'sub',
    'vcl_recv',
    'vcl_hash',
    'if',
    'else',
    'elseif',
    '(',
    ')',
    '{',
    '}',
    ';',
    '"a$b"',
    '"^(x|xy)"',
    '""',
  ],
  ...[
    'set',
    'unset',
    'req.url',
    'req.http.host',
    'bereq.http.x',
    'beresp.ttl',
    '=',
    '~',
    '==',
    '&&',
    '!',
    'return',
  ],
  ...[
    '(hash)',
    '(vcl(',
    'call',
    'ban(',
    'acl',
    '"10.0.0.0"/8',
    '"::1"',
    'import',
    'std',
    '+',
    '0s',
    '\n',
    'true',
    '.',
  ],
];

it('ends on any text', () => {
  const tokens = builtinText().split(/(?<=[\s;{}()])/);
  const random = numbers(7);
  const all = runs(1500);
  const below = (n: number): number => random.next().value % n;
  let found = 0;
  for (let run = 0; run < all; run++) {
    const text = [...tokens.slice(below(tokens.length)).slice(0, 200)];
    for (let edits = below(12); edits > 0; edits--) {
      text.splice(below(text.length + 1), below(3), ` ${WORDS[below(WORDS.length)] as string} `);
    }
    const source = { name: 'f.vcl', text: `vcl 4.1;\n${text.join('')}` };
    const lines = source.text.split('\n');
    for (const f of runRules(parseForLint(source, { readFile: () => '' }).view)) {
      found++;
      expect(f.line).toBeLessThanOrEqual(lines.length);
      expect(f.column).toBeLessThanOrEqual((lines[f.line - 1] as string).length + 1);
    }
  }
  expect(found).toBeGreaterThan(all / 30);
});

it('takes a long and deeply nested program in a moment', () => {
  const cond = Array.from({ length: 300 }, (_, i) => `req.url ~ "^/p${i}/(a|ab)$"`).join(' || ');
  const body = `${'if (req.url) { '.repeat(60)}set req.http.a = "1";${' }'.repeat(60)}`;
  const subs = Array.from(
    { length: 150 },
    (_, i) => `sub s${i} { ${i > 0 ? `call s${i - 1}; call s${i - 1};` : ''} ${body} }`,
  );
  const text = `vcl 4.1;\nbackend b none;\n${subs.join('\n')}\nsub vcl_recv { if (${cond}) { call s149; } }\n`;
  const started = process.cpuUsage();
  runRules(parseForLint({ name: 'big.vcl', text }, {}).view);
  expect(process.cpuUsage(started).user / 1e6).toBeLessThan(20);
});
