// Parts of the admin views: program diffs, compiler errors, parameter values, undo.
import { describe, expect, it } from 'vitest';
import { sameValue } from '../../../console/model/session/parameter-value.ts';
import { LatencyMeter } from '../../../console/model/traffic/latency-meter.ts';
import { tagCondition } from '../../../console/model/ui/row-subject.ts';
import { inlineCommand, UNDO } from '../../../console/model/ui/undo.ts';
import { columnWidths } from '../../../console/views/list/list-state.ts';
import { checkParameter } from '../../../console/views/parameters/parameter-check.ts';
import { compileErrors, lintRemark } from '../../../console/views/programs/compile-error.ts';
import { lineDiff } from '../../../console/views/programs/program-changes.ts';
import { remarkedFiles } from '../../../console/views/programs/source-remarks.ts';

describe('lineDiff', () => {
  const show = (a: string, b: string): string[] =>
    lineDiff(a, b, 1).map(
      (d) => `${{ same: ' ', gone: '-', new: '+', skip: '~' }[d.kind]}${d.line} ${d.text}`,
    );

  it.each([
    ['a\nb\nc\n', 'a\nb\nc\n', []],
    ['a\nb\nc', 'a\nX\nc', [' 1 a', '-2 b', '+2 X', ' 3 c']],
    ['', 'a\n', ['-1 ', '+1 a']],
    ['a\nb\nc\nd\ne\nf', 'a\nb\nc\nd\ne\nf\ng', ['~0 5 lines unchanged', ' 6 f', '+7 g']],
    ['x\na\nb', 'a\nb\ny', ['-1 x', ' 1 a', ' 2 b', '+3 y']],
  ])('%j to %j', (a, b, lines) => {
    expect(show(a, b)).toEqual(lines);
  });
});

describe('the compiler’s words', () => {
  const body = [
    'Message from VCC-compiler:',
    'Unused backend images, defined:',
    "('/etc/x.vcl' Line 2 Pos 9) -- (Pos 14)",
    'backend images { }',
    '--------######----',
    'Hint: The parameter vcc_err_unref turns this into a warning.',
    '',
    'Running VCC-compiler failed, exited with 2',
    'VCL compilation failed',
  ].join('\n');

  const included = [
    'Message from VCC-compiler:',
    "Symbol not found: 'nosuch'",
    "('/etc/inc.vcl' Line 2 Pos 13) -- (Pos 18)",
    '        set nosuch;',
    '------------######-',
    "Included from: ('/etc/x.vcl' Line 3 Pos 9)",
    "Included from: ('/etc/y.vcl' Line 4 Pos 9)",
    'Hint: Text is written in double quotes.',
    '',
  ].join('\n');
  const shown = (...files: Parameters<typeof remarkedFiles>[0]): string[] =>
    remarkedFiles(files, 1000).lines.map((line) => line.map((piece) => piece.text).join(''));

  it('have places', () => {
    const place = { line: 2, column: 9, length: 6, tone: 'bad', quote: 'backend images { }', quoteFrom: 1 };
    expect(compileErrors(`${body}\n${included}`)).toEqual([
      { message: 'Unused backend images, defined:', file: '/etc/x.vcl', includedFrom: '', ...place },
      {
        ...place,
        message: "Symbol not found: 'nosuch'",
        file: '/etc/inc.vcl',
        includedFrom: '/etc/x.vcl line 3',
        column: 13,
        quote: '        set nosuch;',
      },
    ]);
    expect(compileErrors('Cannot read file')).toEqual([]);
    // As Varnish 7 has them.
    expect(compileErrors(`${body}\n${included}`.replace(/^\('/gm, "At: ('"))).toEqual(
      compileErrors(`${body}\n${included}`),
    );
  });

  it('are put there, in the file that they are about', () => {
    const remarks = compileErrors(included);
    expect(shown({ name: '/etc/inc.vcl', text: 'sub a {\n\tset nosuch;\n}\n', remarks })).toEqual([
      '/etc/inc.vcl  included from /etc/x.vcl line 3',
      '    1 sub a {',
      '    2         set nosuch;',
      "                  ^^^^^^ Symbol not found: 'nosuch'",
      '    3 }',
    ]);
  });

  it('stand below their place in a line that is longer than the screen, too', () => {
    const line = `  if (req.url ~ "${'x'.repeat(90)}") { set req.htp.X = 1; }`;
    const remark = {
      ...compileErrors(included)[0],
      file: 'm',
      includedFrom: '',
      line: 1,
      length: 9,
      quoteFrom: 1,
    };
    const remarks = ['if', 'req.htp.X'].map((word) => ({
      ...(remark as NonNullable<ReturnType<typeof compileErrors>[number]>),
      column: line.indexOf(word) + 1,
      length: word.length,
      quote: line,
    }));
    const [, first = '', mark = '', second = '', other = ''] = remarkedFiles(
      [{ name: 'm', text: line, remarks }],
      60,
    ).lines.map((row) => row.map((piece) => piece.text).join(''));
    expect(first.slice(mark.indexOf('^')).startsWith('if (')).toBe(true);
    expect(second.slice(other.indexOf('^')).startsWith('req.htp.X')).toBe(true);
    expect(second).toMatch(/^ {4}1 …x+"/);
    expect(other.lastIndexOf('^')).toBeLessThan(60);
  });

  it.each([
    ['not known', null],
    ['another one by now', 'sub a {\n\tset other;\n}\n'],
    ['shorter by now', 'sub a {'],
  ])('are put on the line that came with them where the text is %s', (_what, text) => {
    expect(shown({ name: '/etc/inc.vcl', text, remarks: compileErrors(included) })).toEqual([
      '/etc/inc.vcl  included from /etc/x.vcl line 3',
      'The source is not available here; only the lines concerned:',
      '    2         set nosuch;',
      "                  ^^^^^^ Symbol not found: 'nosuch'",
    ]);
  });

  it('are found in a long line that is quoted in part', () => {
    const long = `${'x'.repeat(400)} here ${'y'.repeat(400)}`;
    const quote = `${long.slice(101, 405)}...`.slice(0, 304);
    const words = `No\n('/a' Line 1 Pos 402) -- (Pos 405)\n${quote}\n${'-'.repeat(300)}####\n`;
    const remarks = compileErrors(words);
    expect(remarks[0]).toMatchObject({ column: 402, quoteFrom: 102, quote });
    expect(shown({ name: '/a', text: long, remarks })[2]).toBe(`${' '.repeat(6 + 401)}^^^^ No`);
    expect(shown({ name: '/a', text: null, remarks })[3]).toBe(`${' '.repeat(6 + 300)}^^^^ No`);
  });

  it('of the check stand at their cells', () => {
    const remark = lintRemark({
      severity: 'warning',
      message: 'no',
      rule: 'rule',
      file: '/etc/x.vcl',
      line: 2,
      column: 2,
      endColumn: 8,
      source: '\tbackend x {}',
      includedFrom: [],
    });
    expect(shown({ name: '/etc/x.vcl', text: 'vcl 4.1;\n\tbackend x {}\n', remarks: [remark] })).toEqual([
      '/etc/x.vcl',
      '    1 vcl 4.1;',
      '    2         backend x {}',
      '              ^^^^^^^ warning: no [rule]',
    ]);
  });
});

describe('values of parameters', () => {
  it.each([
    ['default_ttl', '120', ''],
    ['default_ttl', '1.5h', ''],
    ['default_ttl', '-1', 'seconds, as 1.5 or 90'],
    ['default_ttl', 'soon', 'seconds, as 1.5 or 90'],
    ['http_max_hdr', '64', ''],
    ['http_max_hdr', '1', 'at least 32'],
    ['http_max_hdr', '6.4', 'a whole number'],
    ['http_req_size', '64k', ''],
    ['http_req_size', '64 apples', 'bytes, as 512, 64k or 1.5G'],
    ['auto_restart', 'on', ''],
    ['auto_restart', 'maybe', 'on or off'],
    ['feature', '+short_panic,-https_scheme', ''],
    ['feature', 'short_panic', '+name and -name, separated by commas'],
    ['id_header', 'X-Varnish', ''],
    ['id_header', 'X Varnish', 'the name of a header'],
    ['unheard_of', 'x', ''],
  ])('%s = %s: %s', (name, value, problem) => {
    const check = checkParameter(name, value);
    expect(check.ok ? '' : check.message).toBe(problem);
  });

  it('are the same in other words', () => {
    expect([sameValue('65536', '64k'), sameValue('120', '120.000'), sameValue('on', 'off')]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('undo', () => {
  const undo = (line: string, body: string): string | null => {
    const words = line.split(' ');
    return UNDO.find((r) => r.command === words[0])?.undo(words, body) ?? null;
  };
  const answer = (...items: unknown[]): string => JSON.stringify([2, [], 0, ...items]);
  const loaded = answer(
    { name: 'boot', status: 'active', state: 'auto' },
    { name: 'new', status: 'available', state: 'warm' },
    { name: 'lab', status: 'available', state: 'label', label: { name: 'boot' } },
  );

  it.each([
    ['param.set x 5', answer({ name: 'x', value: 7, default: '3' }), 'param.set x 7'],
    ['param.set x 5', answer({ name: 'x', value: 3, default: '3.000' }), 'param.reset x'],
    ['param.set x "a b"', answer({ name: 'x', value: 'c d', default: '' }), 'param.set x "c d"'],
    ['vcl.use new', loaded, 'vcl.use boot'],
    ['vcl.use boot', loaded, null],
    ['vcl.state new cold', loaded, 'vcl.state new warm'],
    ['vcl.label lab new', loaded, 'vcl.label lab boot'],
    ['vcl.label fresh new', loaded, 'vcl.discard fresh'],
    ['vcl.load p /x', '', 'vcl.discard p'],
    [
      'backend.set_health boot.a sick',
      answer({ 'boot.a': { admin_health: 'probe', probe_message: [8, 8, 'healthy'] } }),
      'backend.set_health boot.a auto',
    ],
    [
      'backend.set_health boot.a auto',
      answer({ 'boot.a': { admin_health: 'sick', probe_message: [0, 0, 'sick'] } }),
      'backend.set_health boot.a sick',
    ],
    ['backend.set_health * sick', answer({ a: {}, b: {} }), null],
  ])('%s', (line, body, expected) => {
    expect(undo(line, body)).toBe(expected);
  });

  it('brings a discarded program back with all its files, as the daemon had them', () => {
    const files = {
      '/etc/main.vcl': `vcl 4.1;
# include "comment.vcl";
include "parts/a.vcl";
sub vcl_recv { include "./body.vcl"; set req.http.x = {"include "text.vcl";"}; }
include +glob "./g*.vcl";
`,
      '/usr/share/vcl/parts/a.vcl': '# part\nvcl 4.0;\ninclude "./b.vcl"; # b\n',
      '/usr/share/vcl/parts/b.vcl': 'backend b none;\n',
      '/etc/body.vcl': 'unset req.http.$&;\n',
      '/etc/g1.vcl': 'acl one { }\n',
      '/etc/g2.vcl': 'acl two { }\n',
      '<builtin>': 'sub vcl_recv { }\n',
    };
    const shown = (all: Record<string, string>): string =>
      Object.entries(all)
        .map(([name, text], i) => `// VCL.SHOW ${i} ${Buffer.byteLength(text)} ${name}\n${text}\n`)
        .join('');
    expect(undo('vcl.discard p', shown(files))).toBe(`vcl.inline p << END_OF_PROGRAM
vcl 4.1;
# include "comment.vcl";
# /usr/share/vcl/parts/a.vcl
# part

# /usr/share/vcl/parts/b.vcl
backend b none;

 # b


sub vcl_recv { # /etc/body.vcl
unset req.http.$&;

 set req.http.x = {"include "text.vcl";"}; }
# /etc/g1.vcl
acl one { }

# /etc/g2.vcl
acl two { }


END_OF_PROGRAM`);
    const { '/etc/body.vcl': _gone, ...half } = files;
    expect(undo('vcl.discard p', shown(half))).toBeNull();
    expect(undo('vcl.discard p', 'no such answer')).toBeNull();
  });

  it('writes a program as a here-document, whatever is in it', () => {
    expect(inlineCommand('p', 'vcl 4.1;\n# END_OF_PROGRAM')).toBe(
      'vcl.inline p << END_OF_PROGRAM_\nvcl 4.1;\n# END_OF_PROGRAM\nEND_OF_PROGRAM_',
    );
  });
});

it('bans by tag among others, and by that tag alone', () => {
  const condition = tagCondition('xkey', 'a.b');
  const pattern = new RegExp(JSON.parse(condition.slice(condition.indexOf('"'))) as string);
  expect(['a.b', 'x a.b', 'a.b,c', 'axb', 'a.bc'].map((v) => pattern.test(v))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});

it('gives narrow terminals the columns that matter', () => {
  const columns = [
    { title: 'A', min: 10, grow: 1 },
    { title: 'B', min: 10, drop: 1 },
    { title: 'C', min: 10, drop: 2 },
  ];
  expect(columnWidths(columns, 40)).toEqual([18, 10, 10]);
  expect(columnWidths(columns, 31)).toEqual([20, 10, 0]);
  expect(columnWidths(columns, 20)).toEqual([20, 0, 0]);
  expect(columnWidths(columns, 5)).toEqual([10, 0, 0]);
});

describe('latencies', () => {
  it('have percentiles, of the last values alone', () => {
    const meter = new LatencyMeter();
    expect(meter.percentile(0.5)).toBeNull();
    for (let i = 1; i <= 1000; i++) meter.add(i / 1000, i % 2 === 0, 0);
    expect(meter.percentile(0.5)).toBeCloseTo(0.5, 1);
    expect(meter.percentile(0.99)).toBeGreaterThan(0.98);
    expect(meter.percentile(0.99)).toBeLessThan(1.2);
    for (let i = 0; i < 20_000; i++) meter.add(0.001, true, 0);
    expect([meter.size, meter.percentile(1, 'others')]).toEqual([8192, null]);
    meter.add(Number.NaN, true, 0);
    expect(meter.size).toBe(8192);
  });
});
