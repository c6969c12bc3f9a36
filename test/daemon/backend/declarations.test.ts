// The compiler's output for backend and probe declarations: resolved names, and rejected ones.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compile } from '../../../daemon/extensions/compile-with-builtins.ts';

const NAMES: { readonly [name: string]: string[] } = {
  'one.test': ['192.0.2.1'],
  'both.test': ['2001:db8::1', '192.0.2.1', '192.0.2.1'],
  'many.test': ['192.0.2.1', '192.0.2.2'],
};

function declare(fields: string) {
  const text = `vcl 4.1;\nbackend default { ${fields} }\n`;
  const { program, errors, warnings } = compile(
    { name: 'm', text },
    { resolveHost: (name) => NAMES[name] ?? [] },
  );
  return {
    decl: program?.backends[0],
    errors: errors?.map((e) => e.message),
    warnings: warnings.map((w) => w.message),
  };
}

describe('a backend declaration', () => {
  it('keeps what its name meant', () => {
    expect(declare('.host = "one.test";').decl?.addresses).toEqual(['192.0.2.1']);
    expect(declare('.host = "both.test";').decl?.addresses).toEqual(['2001:db8::1', '192.0.2.1']);
    expect(declare('.host = "192.0.2.9";').decl).not.toHaveProperty('addresses');
  });

  it('refuses a name with several addresses of a kind, unless it is resolved again', () => {
    expect(declare('.host = "many.test";').errors?.[0]).toContain('192.0.2.1, 192.0.2.2');
    expect(declare('.host = "many.test"; .resolve = 30s;').decl).toMatchObject({
      addresses: ['192.0.2.1', '192.0.2.2'],
      resolve: 30,
    });
    expect(declare('.host = "no.test";').errors?.[0]).toContain('could not be resolved');
  });

  it('sends origins its host as written, with the port, unless configured otherwise', () => {
    const hostHeader = (fields: string) => declare(fields).decl?.hostHeader;
    expect(hostHeader('.host = "192.0.2.9:81";')).toBe('192.0.2.9:81');
    expect(hostHeader('.host = "[2001:db8::1]:81";')).toBe('[2001:db8::1]:81');
    expect(hostHeader('.host = "192.0.2.9:81"; .host_header = "own.test";')).toBe('own.test');
    expect(hostHeader('.host = "192.0.2.9"; .port = "81";')).toBeUndefined();
  });

  it('warns of a path where nothing is and refuses one that is no socket', () => {
    const dir = mkdtempSync(join(tmpdir(), 'declarations-'));
    try {
      const absent = declare(`.path = "${dir}/absent";`);
      expect([absent.errors, absent.warnings]).toEqual([
        ...[undefined, ['Backend path: Cannot stat: No such file or directory']],
      ]);
      writeFileSync(join(dir, 'file'), '');
      expect(declare(`.path = "${dir}/file";`).errors?.[0]).toContain('Not a socket');
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

describe('a probe declaration', () => {
  const probe = (fields: string) => declare(`.host = "192.0.2.1"; .probe = { ${fields} }`);

  it('takes every field', () => {
    const fields = `.url = "/x"; .expected_response = 204; .timeout = 1s; .interval = 2s; .initial = 1;
      .window = 5; .threshold = 3; .expect_close = false;`;
    expect(probe(fields).decl?.probe).toEqual({
      ...{ url: '/x', expectedResponse: 204, timeout: 1, interval: 2, initial: 1 },
      ...{ window: 5, threshold: 3, expectClose: false },
    });
  });

  it.each([
    ['.window = 4;', 'Must specify .threshold with .window'],
    ['.window = 4; .threshold = 5;', 'Threshold can not be greater than window.'],
    ['.window = 65; .threshold = 5;', 'Window must be 64 or less.'],
    ['.threshold = 65;', 'Threshold must be 64 or less.'],
    ['.expect_close = 3;', "Field 'expect_close' takes true or false"],
  ])('with %s is refused', (fields, message) => {
    expect(probe(fields).errors).toContain(message);
  });

  it('may have a threshold alone', () => {
    expect(probe('.threshold = 64;').errors).toBeUndefined();
  });
});
