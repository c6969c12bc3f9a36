// proxyd --test: tests of programs in their own language, without sockets.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/processes.ts';
import { tool } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-program-tests');
afterAll(() => box.dispose());

const PROGRAM = `vcl 4.1;
import std;
backend default { .host = "www.example.com"; }
backend admin { .host = "127.0.0.1"; .port = "8082"; }
acl inside { "10.0.0.0"/8; }
include "rules.vcl";
sub vcl_recv {
	call rules;
	if (req.url ~ "^/admin") {
		if (client.ip !~ inside) {
			return (synth(403, "Inside only"));
		}
		set req.backend_hint = admin;
		return (pass);
	}
	if (!std.healthy(req.backend_hint)) {
		set req.grace = 1h;
	}
	unset req.http.Cookie;
}
sub vcl_backend_response {
	if (beresp.status >= 500 && bereq.is_bgfetch) {
		return (abandon);
	}
	set beresp.grace = 1h;
}
sub vcl_deliver {
	set resp.http.X-Hits = obj.hits;
}
sub vcl_synth {
	if (resp.status == 403) {
		set resp.body = resp.reason;
		return (deliver);
	}
}
`;
const RULES = `sub rules {
	if (req.restarts > 2) {
		return (fail("too many"));
	}
	std.log("rules of " + req.url);
}
`;
const TESTS = `import test;
# sub test_in_a_comment { }
sub test_refused_outside {
	set req.url = "/admin";
	test.equal(test.run(recv), "synth");
	test.equal(test.run(synth), "deliver");
	test.that(resp.status == 403);
	test.equal(test.body(), "Inside only");
}
sub test_passed_inside {
	set req.url = "/admin/x";
	set req.method = "POST";
	test.client("10.1.2.3");
	test.equal(test.run(recv), "pass");
	test.equal(test.run(pass), "fetch");
	test.that(bereq.backend == admin);
	test.equal(bereq.method, "POST");
	test.equal(test.run(backend_fetch), "fetch");
}
sub test_the_whole_way {
	set req.url = "/page";
	set req.http.Cookie = "a=b";
	test.equal(test.run(recv), "hash");
	test.that(!req.http.Cookie);
	test.that(test.logged("rules of /page"));
	test.equal(test.run(hash), "lookup");
	test.equal(test.key(), "/page|example.com|");
	test.equal(test.run(miss), "fetch");
	test.equal(bereq.url, "/page");
	set beresp.http.A = "b";
	test.equal(test.run(backend_response), "deliver");
	test.that(beresp.grace == 1h);
	test.object(hits = 3, age = 10s);
	test.equal(test.run(deliver), "deliver");
	test.equal(resp.http.X-Hits, "3");
	test.equal(resp.http.A, "b");
}
sub test_errors_in_the_background {
	set beresp.status = 500;
	test.background(true);
	test.equal(test.run(backend_response), "abandon");
}
sub test_sick {
	test.sick(default);
	test.equal(test.run(recv), "hash");
	test.that(req.grace == 1h);
}
sub test_healthy_again {
	test.equal(test.run(recv), "hash");
	test.that(req.grace < 0s || req.grace != 1h);
}
sub test_restarts {
	test.restarts(3);
	test.equal(test.run(recv), "fail");
	test.that(test.failure() ~ "too many");
}
sub test_a_sub_alone {
	test.equal(test.call(rules), "");
}
`;

let folder = '';
let file = '';
beforeAll(() => {
  folder = box.path('site');
  mkdirSync(folder);
  file = join(folder, 'site.vcl');
  writeFileSync(file, PROGRAM);
  writeFileSync(join(folder, 'rules.vcl'), RULES);
});

function play(tests: string, ...args: string[]): ReturnType<typeof tool> {
  writeFileSync(join(folder, 'site.test.vcl'), tests);
  return tool('proxyd', 'daemon', ['--test', file, '--vcl-path', folder, ...args]);
}

describe('tests', () => {
  it('pass, each with a request of its own', async () => {
    const { code, stdout, stderr } = await play(TESTS);
    expect(stderr).toBe('');
    expect(stdout.replaceAll(/ # [\d.]+ ms/g, '')).toBe(`1..8
ok 1 - refused_outside
ok 2 - passed_inside
ok 3 - the_whole_way
ok 4 - errors_in_the_background
ok 5 - sick
ok 6 - healthy_again
ok 7 - restarts
ok 8 - a_sub_alone
# 8 passed, 0 failed
`);
    expect(code).toBe(0);
  });

  it('that fail say what they got, what they wanted, and where', async () => {
    const { code, stdout } = await play(`import test;
sub test_equal { test.equal(test.run(recv), "pass", "recv"); }
sub test_that {
	test.that(req.url == "/none", "url");
}
sub test_fail { test.fail("never here"); }
sub test_good { test.that(true); }
`);
    expect(code).toBe(1);
    expect(stdout).toContain(`# recv: got "hash", wanted "pass" at '${folder}/site.test.vcl' Line 2 Pos `);
    expect(stdout).toContain(`# url: it does not hold at '${folder}/site.test.vcl' Line 4 Pos 9`);
    expect(stdout).toContain('# never here: failed at ');
    expect(stdout).toMatch(/^ok 4 - good/m);
    expect(stdout).toContain('# 1 passed, 3 failed');
  });

  it('say which lines they have run', async () => {
    const tests =
      'import test;\nsub test_one { set req.url = "/admin"; test.equal(test.run(recv), "synth"); }\n';
    const lcov = box.path('lcov.info');
    const { code, stdout } = await play(tests, '--coverage', '--lcov', lcov);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`^# ${file}: \\d+ of \\d+ lines \\(\\d+ %\\), not run: 13-14, 16-17, `, 'm'),
    );
    expect(stdout).toMatch(/^# .*rules\.vcl: 3 of 4 lines \(75 %\), not run: 3$/m);
    const text = readFileSync(lcov, 'utf8');
    expect(text).toContain(`SF:${file}\n`);
    expect(text).toMatch(/^DA:11,1$/m);
    expect(text).toMatch(/^DA:13,0$/m);
    expect(text).not.toContain('site.test.vcl');
  });
});

describe('errors', () => {
  it.each([
    [
      'a test that does not compile',
      'import test;\nsub test_x { set req.nothing = 1; }\n',
      /site\.test\.vcl.*Line 2/s,
    ],
    ['no tests', 'import test;\nsub other { }\n', /has no tests: they are subs whose names begin with test_/],
    [
      'a function outside of tests',
      'import test;\nsub vcl_init { test.restarts(1); }\nsub test_x { }\n',
      /test\.restarts\(\) is for subs of tests/,
    ],
  ])('%s', async (_, tests, message) => {
    const { code, stderr } = await play(tests);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  it('files that are not there, and wrong arguments', async () => {
    const missing = await tool('proxyd', 'daemon', ['--test', box.path('none.vcl')]);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("Cannot read file '")]);
    const path = box.path('alone.vcl');
    writeFileSync(path, PROGRAM);
    const alone = await tool('proxyd', 'daemon', ['--test', path]);
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('belong there')]);
    for (const args of [['--test'], ['--test', 'a', 'b'], ['--test', 'a', '--nonsense']])
      expect((await tool('proxyd', 'daemon', args)).code, args.join(' ')).toBe(2);
  });

  it('the extension is there for tests alone', async () => {
    const path = box.path('uses.vcl');
    writeFileSync(path, 'vcl 4.1; import test; backend default none;');
    const { code, stderr } = await tool('proxyd', 'daemon', ['-C', '-f', path]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('test')]);
  });
});

it('the page lists all functions', async () => {
  const { testExtension } = await import('../../daemon/program-tests/assertions.ts');
  const page = readFileSync(new URL('../../daemon/program-tests/README.md', import.meta.url), 'utf8');
  const { functions } = testExtension({ stage: null, tests: [], sick: new Set() });
  for (const name of Object.keys(functions).filter((each) => each !== 'register'))
    expect(page).toContain(`test.${name}(`);
});
