// The lint as a whole: what it prints, as text and as JSON, what comments silence, includes, and exit codes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lintCommand } from '../../../../daemon/manager/developer-commands.ts';
import { OptionError } from '../../../../daemon/manager/options/option-error.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'proxyd-lint-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function lint(files: Record<string, string>, ...args: string[]) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  let out = '';
  let err = '';
  const first = join(dir, Object.keys(files)[0] ?? '');
  const code = await lintCommand(
    ['--lint', first, '-p', `vcl_path=${dir}`, ...args],
    (t) => {
      out += t;
    },
    (t) => {
      err += t;
    },
  );
  return { code, out: out.replaceAll(dir, 'DIR'), err: err.replaceAll(dir, 'DIR') };
}

const GOOD = `vcl 4.1;
import std;
backend web { .host = "www.example.com"; .port = "8080"; }
acl editors { "192.0.2.0"/24; }
sub vcl_recv {
  set req.http.Host = std.tolower(regsub(req.http.Host, ":[0-9]+$", ""));
  if (req.method == "PURGE") {
    if (client.ip !~ editors) { return (synth(405)); }
    return (purge);
  }
  if (req.http.Cookie !~ "(^|; )session=") { unset req.http.Cookie; }
}
sub vcl_backend_response {
  set beresp.http.x-url = bereq.url;
  set beresp.grace = 1h;
  if (bereq.url ~ "^/static/") { unset beresp.http.Set-Cookie; set beresp.ttl = 1d; }
}
sub vcl_deliver { unset resp.http.x-url; }
`;

const WARN = `vcl 4.1;
backend b none;
sub vcl_deliver {
\tunset resp.http.A;\tunset resp.http.a;
}
`;

describe('--release', () => {
  const text = `vcl 4.1;
import std;
backend b none;
sub vcl_recv {
\tunset req.http.Content-Length;
\tstd.log(std.real2integer(1.5, 1));
}
`;

  it('lists the changes for a program: errors first, then changed meanings', async () => {
    const { code, out } = await lint({ 'r.vcl': text }, '--release', '9.0');
    expect(code).toBe(2);
    expect(out).toMatch(/DIR\/r\.vcl:5:\d+: error: .*Content-Length.* cannot be unset/i);
    expect(out).toMatch(/DIR\/r\.vcl:6:\d+: error: Symbol not found: 'std\.real2integer'/);
    expect(out).toMatch(/DIR\/r\.vcl:4:5: warning: Unknown methods: .* \[release-unknown-methods\]/);
    expect(out).toContain('Since Varnish 8.0: It answers 501');
  });

  it('is not needed to learn what newer releases refuse', async () => {
    const { out } = await lint({ 'r.vcl': text });
    for (const slug of ['protected-header', 'removed-function'])
      expect(out).toMatch(new RegExp(`: info: .*\\[${slug}\\]`));
    expect(out).not.toContain('[release-');
  });

  it('knows the releases, and says which', async () => {
    expect(await lint({ 'r.vcl': text }, '--release', '7.1')).toEqual(await lint({ 'r.vcl': text }));
    await expect(lint({ 'r.vcl': text }, '--release', '8.5')).rejects.toThrow('--release: one of 7.1, 9.0');
  });
});

describe('the name of the header of ids', () => {
  const text = `vcl 4.1;\nbackend b none;\nsub vcl_deliver { unset resp.http.X-Varnish; }\n`;

  it('is reported where a program has another one', async () => {
    const { code, out } = await lint({ 'id.vcl': text });
    expect(code).toBe(1);
    expect(out).toContain('Transaction ids are sent in X-Proxy-Id here, not in X-Varnish.');
    expect(out).toContain('Write X-Proxy-Id, or set the parameter id_header to X-Varnish.');
  });

  it('is that of the parameter', async () => {
    expect(await lint({ 'id.vcl': text }, '-p', 'id_header=X-Varnish')).toMatchObject({ code: 0, out: '' });
    const ours = text.replace('X-Varnish', 'X-Proxy-Id');
    expect((await lint({ 'id.vcl': ours }, '-p', 'id_header=x-varnish')).out).toContain(
      'sent in x-varnish here, not in X-Proxy-Id.',
    );
  });
});

describe('its messages', () => {
  it('nothing of a sound program, and exits 0', async () => {
    expect(await lint({ 'good.vcl': GOOD })).toEqual({ code: 0, out: '', err: '' });
  });

  it('place, line, mark, name and why of a warning, and exits 1', async () => {
    const { code, out, err } = await lint({ 'warn.vcl': WARN });
    expect([code, err]).toEqual([1, '']);
    expect(out).toBe(
      'DIR/warn.vcl:4:21: warning: resp.http.a was unset already. [double-unset]\n' +
        '\tunset resp.http.A;\tunset resp.http.a;\n' +
        '\t------------------\t##################\n' +
        '  One unset removes all headers of that name. A second one, or a set before it, does nothing: often\n' +
        '  one of the two was meant for another header.\n' +
        '\n0 errors, 1 warning, 0 notes\n',
    );
  });

  it('the compiler’s errors before its own warnings, and exits 2', async () => {
    const { code, out } = await lint({
      'bad.vcl': WARN.replace('none;', 'none;\nsub vcl_hit { set req.foo = 1; }'),
    });
    expect(code).toBe(2);
    expect(out).toMatch(/^DIR\/bad\.vcl:3:19: error: .*req\.foo/);
    expect(out).toContain('[double-unset]');
    expect(out).toMatch(/\n1 error, 1 warning, 0 notes\n$/);
  });

  it('notes without a warning, and exits 0', async () => {
    const { code, out } = await lint({ 'note.vcl': 'vcl 4.1;\nimport std;\nbackend b none;\n' });
    expect(code).toBe(0);
    expect(out).toContain('DIR/note.vcl:2:1: info: Nothing uses std. [unused-import]');
  });

  it('a milder case as a note', async () => {
    const text = 'vcl 4.1;\nbackend b none;\nsub vcl_hash { hash_data(req.http.X-Device); }\n';
    const { code, out } = await lint({ 'mild.vcl': text });
    expect(code).toBe(0);
    expect(out).toContain('DIR/mild.vcl:3:5: info: vcl_hash has no return');
  });

  it('JSON with -j and --json', async () => {
    for (const flag of ['-j', '--json']) {
      const { code, out } = await lint({ 'warn.vcl': WARN }, flag);
      expect(code).toBe(1);
      expect(JSON.parse(out)).toMatchObject({
        version: 1,
        files: ['DIR/warn.vcl'],
        errors: 0,
        warnings: 1,
        infos: 0,
        findings: [
          {
            severity: 'warning',
            rule: 'double-unset',
            file: 'DIR/warn.vcl',
            line: 4,
            column: 21,
            endColumn: 38,
            source: '\tunset resp.http.A;\tunset resp.http.a;',
            explanation: expect.stringContaining('One unset removes all'),
          },
        ],
      });
    }
    expect(JSON.parse((await lint({ 'good.vcl': GOOD }, '-j')).out).findings).toEqual([]);
  });

  it('which include a finding came in by', async () => {
    const { out } = await lint({
      'main.vcl': 'vcl 4.1;\nbackend b none;\ninclude "part.vcl";\n',
      'part.vcl': 'sub vcl_deliver { unset resp.http.A; unset resp.http.a; }\n',
    });
    expect(out).toContain('DIR/part.vcl:1:38: warning');
    expect(out).toContain('Included from DIR/main.vcl:3:9\n');
  });
});

describe('what silences it', () => {
  const body = 'sub vcl_deliver {\n  unset resp.http.A;\n  unset resp.http.A;\n}\n';
  const head = 'vcl 4.1;\nbackend b none;\n';
  it.each([
    ['a comment on the line', head + body.replace('A;\n}', 'A; # lint: ignore double-unset\n}'), 0],
    ['one above it', head + body.replace('A;\n  unset', 'A;\n  // lint: ignore\n  unset'), 0],
    ['one for the file', `${head}/* lint: ignore-file double-unset, open-purge */\n${body}`, 0],
    ['but not one for another rule', head + body.replace('A;\n}', 'A; # lint: ignore open-purge\n}'), 1],
    ['nor one that is further away', `${head}# lint: ignore double-unset\n${body}`, 1],
  ])('%s', async (_what, text, code) => {
    expect((await lint({ 's.vcl': text })).code).toBe(code);
  });
});

describe('what it takes as good', () => {
  it('labels, and host names that nobody knows here', async () => {
    const text = `vcl 4.1;
backend b { .host = "no-such-host.invalid"; }
sub vcl_recv { if (req.http.host == "shop.example") { return (vcl(shop)); } unset req.http.Cookie; }
`;
    expect(await lint({ 'l.vcl': text })).toEqual({ code: 0, out: '', err: '' });
  });
});

it('a file that cannot be read, or none, is reported with exit 2', async () => {
  const { code, err } = await lint({ 'good.vcl': GOOD }, join(dir, 'nowhere.vcl'));
  expect([code, err]).toEqual([2, "Cannot read file 'DIR/nowhere.vcl' (No such file or directory)\n"]);
  await expect(
    lintCommand(
      ['--lint'],
      () => {},
      () => {},
    ),
  ).rejects.toThrow(OptionError);
  await expect(
    lintCommand(
      ['--lint', '-F', 'x'],
      () => {},
      () => {},
    ),
  ).rejects.toThrow("--lint: invalid option -- 'F'");
});
