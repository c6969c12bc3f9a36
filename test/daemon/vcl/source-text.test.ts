import { describe, expect, it } from 'vitest';
import { compile } from '../../../daemon/extensions/compile-with-builtins.ts';
import { formatDiagnostics } from '../../../daemon/vcl/diagnostics.ts';
import { byteString, sourceText } from '../../../daemon/vcl/source-text.ts';

const HEAD = 'vcl 4.1;\nbackend default none;\n';

function verdict(text: string): string {
  const made = compile({ name: 'main.vcl', text: HEAD + text }, { resolveHost: () => [] });
  return made.errors === undefined ? 'ok' : made.errors.map((e) => e.code).join(' ');
}

function message(text: string): string {
  const made = compile({ name: 'main.vcl', text: HEAD + text }, { resolveHost: () => [] });
  return formatDiagnostics(made.errors ?? []);
}

const lines = (n: number, line: (i: number) => string): string =>
  Array.from({ length: n }, (_, i) => line(i)).join('\n');

describe('the bytes of a program', () => {
  it.each([
    ['UTF-8', Buffer.from('caf\u00e9 \u2603 \ud83d\ude00 \ud83e\udc80')],
    ['Latin-1', Buffer.from('caf\u00e9', 'latin1')],
    ['a mixture', Buffer.concat([Buffer.from('\u00e9'), Buffer.from([0xe9, 0xff, 0x80])])],
  ])('come back from %s', (_name, bytes) => {
    expect(Buffer.from(byteString(sourceText(bytes)), 'latin1')).toEqual(bytes);
    // The manager hands programs on as JSON.
    expect(byteString(JSON.parse(JSON.stringify(sourceText(bytes))) as string)).toBe(
      bytes.toString('latin1'),
    );
  });

  it('reach the strings of the program as they are', () => {
    const text = sourceText(
      Buffer.from(`${HEAD}sub vcl_recv { set req.http.x = "caf\xe9"; } # \xe9`, 'latin1'),
    );
    expect(compile({ name: 'main.vcl', text }).program?.pieces[0]?.text).toMatch(
      /"caf(?:\xe9|\\xe9|\\u00e9)"/,
    );
  });
});

describe('vcc_unsafe_path', () => {
  const codes = (name: string, unsafePath: boolean): string[] => {
    const readFile = (): string => 'sub vcl_recv { }\n';
    const options = { unsafePath, readFile, vclPath: ['/etc/vcl'], readDir: () => ['a.vcl'] };
    const text = `${HEAD}include ${name};\n`;
    return (compile({ name: '/etc/vcl/main.vcl', text }, options).errors ?? []).map((e) => e.code);
  };

  it.each(['"./a.vcl"', '"/etc/vcl/a.vcl"', '"sub/a.vcl"', '+glob "./*.vcl"'])('off refuses %s', (name) => {
    expect(codes(name, false)).toEqual(['unsafe']);
    expect(codes(name, true)).toEqual([]);
  });

  it('off takes a name along vcl_path', () => {
    expect(codes('"a.vcl"', false)).toEqual([]);
  });
});

describe('programs of unusual shape', () => {
  it('may have long lists of conditions and branches', () => {
    const list = lines(5000, (i) => `|| req.url == "/${i}"`);
    expect(verdict(`sub vcl_recv { if (req.url == "x" ${list}) { } }`)).toBe('ok');
    const branches = lines(3000, (i) => `elsif (req.url == "/${i}") { set req.http.x = "${i}"; }`);
    expect(verdict(`sub vcl_recv { if (req.url) { } ${branches} else { return (pass); } }`)).toBe('ok');
  });

  it.each([
    ['minus signs', `sub vcl_recv { set req.ttl = ${'- '.repeat(100_000)}1s; }`],
    ['minus signs in a field', `probe p { .interval = ${'- '.repeat(100_000)}1s; }`],
    ['parentheses', `sub vcl_recv { if (${'('.repeat(50_000)}req.url${')'.repeat(50_000)}) { } }`],
    ['blocks', `sub vcl_recv ${'{'.repeat(50_000)}${'}'.repeat(50_000)}`],
    [
      'calls',
      `${lines(5000, (i) => `sub s${i} { call s${i + 1}; }`)} sub s5000 { } sub vcl_recv { call s0; }`,
    ],
  ])('end in a compile error, not on the stack: %s', (_name, text) => {
    expect(verdict(text)).toContain('nesting');
  });

  it('show a part of a very long line', () => {
    const text = message(`sub vcl_recv { ${'set req.http.x = "y"; '.repeat(5000)} set req.htp.x = "z"; }`);
    expect(text.length).toBeLessThan(2500);
    expect(text).toMatch(/ set req\.htp\.x = "z"; \}\n-+#########-+\n/);
  });

  it('say what is wrong with characters that are not seen', () => {
    expect(message('\ufeffsub vcl_recv { }')).toContain('byte order mark');
    expect(message("sub vcl_recv { if (req.method == 'GET') { } }").match(/Syntax error/g)).toHaveLength(1);
  });

  it('tell of a broken object once', () => {
    const use = 'sub vcl_recv { set req.backend_hint = d.backend(); d.add_backend(default); }';
    const made = (type: string): string =>
      `import directors; sub vcl_init { new d = directors.${type}(); } ${use}`;
    expect(verdict(made('round_robin'))).toBe('ok');
    expect(verdict(made('roundrobin'))).toBe('undefined');
    expect(verdict(`import nosuch; sub vcl_init { new d = nosuch.a(); } ${use}`)).toBe('import');
  });

  it('say what to write instead of older words', () => {
    expect(message('sub vcl_recv { error 404 "x"; }')).toContain('Hint: Write: return (synth(404');
    expect(message('sub vcl_recv { retrun (pass); }')).toContain("Did you mean 'return'?");
  });
});
