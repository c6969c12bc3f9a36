// Hints of the compiler for constructs from earlier versions and other languages: the normal error at its position,
// and a hint with the right spelling.
import { describe, expect, it } from 'vitest';
import { compile } from '../../../daemon/extensions/compile-with-builtins.ts';
import { type Diagnostic, formatDiagnostics } from '../../../daemon/vcl/diagnostics.ts';

const HEAD = 'vcl 4.1;\nimport std;\nbackend d none;\nsub used { }\nsub vcl_init { call used; }\n';

function errors(text: string): Diagnostic[] {
  return compile({ name: 'hints.vcl', text }, { resolveHost: () => [] }).errors ?? [];
}

/** `state| statements`, or `prog| program`; `§` before the place of the first error. */
function check(line: string): { error: Diagnostic | undefined; at: number } {
  const bar = line.indexOf('| ');
  const [state, body] = [line.slice(0, bar), line.slice(bar + 2)];
  const marked = state === 'prog' ? `vcl 4.1;\n${body}` : `${HEAD}sub vcl_${state} {\n${body}\n}\n`;
  const [error] = errors(marked.replace('§', ''));
  return { error, at: marked.indexOf('§') };
}

const JOIN = 'Strings are joined with "+".';
const CASES: Record<string, readonly (readonly [program: string, hint: string])[]> = {
  'operators of other languages': [
    ['recv| if (req.url §= "/a") { }', "Did you mean '=='? A single '=' only stands in set."],
    ['recv| if (!req.url §= "/a") { }', "Did you mean '=='? A single '=' only stands in set."],
    [
      'recv| if (req.method == "GET" && (req.url §= "/a")) { }',
      "Did you mean '=='? A single '=' only stands in set.",
    ],
    ['recv| if (req.url == §= "a") { }', "'==' is enough."],
    ['recv| if (req.url ==§= "a") { }', "'==' is enough."],
    ['recv| if (req.url !=§= "a") { }', "'!=' is enough."],
    ['recv| if (req.url <§> "a") { }', "Did you mean '!='?"],
    ['recv| if (req.url §=~ "a") { }', "Did you mean '~'?"],
    ['recv| if (req.url §eq "a") { }', "Did you mean '=='?"],
    ['recv| if (req.url §matches "a") { }', "Did you mean '~'?"],
    ['recv| if (req.url == "a" §and req.url) { }', "Did you mean '&&'?"],
    ['recv| if (req.url == "a" §or req.url) { }', "Did you mean '||'?"],
    ['recv| if (req.url == "a" §& req.url) { }', "Did you mean '&&'?"],
    ['recv| if (req.url == "a" §| req.url) { }', "Did you mean '||'?"],
    ['recv| if (not §req.url) { }', "Did you mean '!'?"],
    ['recv| if (req.url ~ §/a/) { }', 'Strings and regular expressions are written in double quotes.'],
    ['recv| if (req.http.host == §www.example.com) { }', 'Text is written in double quotes.'],
    ['recv| if (req.http.a ~ §iphone) { }', 'Text is written in double quotes.'],
    ['recv| set req.http.x §== "a";', "Did you mean '='?"],
    ['recv| set req.http.x .§= "a";', "Did you mean '+='?"],
    ['recv| set req.http.x = req.http.a §? "a" : "b";', 'There is no a ? b : c: write an if with an else.'],
    ['recv| set req.http§["x"] = "a";', 'A header is written like req.http.Accept-Language.'],
    ['recv| §req.http.x = "a";', 'Write "set" before it.'],
    ['recv| set req.http.x = "a";§;', "One ';' is enough."],
  ],
  'missing plus signs': [
    ['recv| set req.http.x = "a" §"b";', JOIN],
    ['recv| set req.http.x = "a" + req.url §"b";', JOIN],
    ['recv| set req.http.x = "a" §req.url "b";', JOIN],
    ['recv| set req.http.x = req.url + "a" §std.tolower(req.url);', JOIN],
    ['recv| set req.http.x = std.tolower("x") §"a";', JOIN],
    ['recv| set req.http.x = std.tolower("x" §"y");', JOIN],
    ['recv| set req.http.x = ("x" §"y");', JOIN],
    ['recv| set req.http.x = "a" §5;', JOIN],
    ['recv| set req.http.x = "a"\n  §"b";', JOIN],
    ['recv| set req.http.x = "a"§, "b";', JOIN],
    ['recv| set req.http.x = "a" . §"b";', JOIN],
    ['recv| set req.http.x = req.url . §"b";', JOIN],
    ['recv| if (req.url == "a" §"b") { }', JOIN],
    ['recv| ban("req.url == " §req.url);', JOIN],
    ['recv| return (synth(404, "a" §"b"));', JOIN],
  ],
  'missing semicolons, parentheses and braces': [
    ['recv| set req.http.x = "a"\n  §set req.http.y = "b";', "A ';' is missing at the end of line 7."],
    ['recv| unset req.http.x\n  §unset req.http.y;', "A ';' is missing at the end of line 7."],
    ['recv| set req.http.x = {"a\n\nb"}\n§set req.http.y = "b";', "A ';' is missing at the end of line 9."],
    ['synth| synthetic("x")\n§set req.http.y = "b";', "A ';' is missing at the end of line 7."],
    ['recv| if §req.url { }', 'The condition is written in parentheses.'],
    ['recv| if (req.url) §return (pass);', 'The block of an if needs braces, even for a single statement.'],
    ['recv| return §pass;', 'The action is written in parentheses, as in: return (pass);'],
    ['prog| backend d none; sub vcl_recv§() { }', 'A sub takes no arguments: sub name { … }'],
    ['prog| backend d { §host = "x"; }', 'Fields begin with a dot: .host = "192.0.2.1";'],
  ],
  'misspelt and earlier variables': [
    ['recv| set req.http.x = req.§uri;', "Did you mean 'req.url'?"],
    ['recv| if (req.§uri ~ "x") { }', "Did you mean 'req.url'?"],
    ['recv| set §req.uri = "x";', "Did you mean 'req.url'?"],
    ['recv| set §req.request = "GET";', "Did you mean 'req.method'?"],
    ['recv| if (req.§request == "GET") { }', "Did you mean 'req.method'?"],
    ['recv| if (req.§methd == "GET") { }', "Did you mean 'req.method'?"],
    ['backend_fetch| if (bereq.§Request == "GET") { }', "Did you mean 'bereq.method'?"],
    ['recv| set §req.backend = d;', "Did you mean 'req.backend_hint'?"],
    ['recv| if (req.§backend.healthy) { }', 'Write: std.healthy(req.backend_hint), with "import std;".'],
    ['recv| set §req.headers.x-y = "a";', "Did you mean 'req.http.x-y'?"],
    ['recv| set §req.http = "a";', 'A header is written like req.http.Accept-Language.'],
    ['recv| set §req.esi = true;', 'resp.do_esi in vcl_deliver has taken its place.'],
    ['recv| set req.http.x = §client.port;', 'Write: std.port(client.ip), with "import std;".'],
    ['hash| set §req.hash = req.url;', 'Write hash_data(…) in vcl_hash: it adds to the key.'],
    ['backend_response| set §beresp.storage_hint = "s0";', 'Write: set beresp.storage = storage.NAME;'],
    [
      'backend_response| if (beresp.§cacheable) { }',
      "Did you mean 'uncacheable'? It has the opposite meaning.",
    ],
    ['backend_response| set beresp.do_gzip = §yes;', "Did you mean 'true'?"],
    ['backend_response| set beresp.do_gzip = §no;', "Did you mean 'false'?"],
  ],
  'variables of another state': [
    ['deliver| set §obj.http.x = "a";', 'It is read-only; resp.http.x can be set here.'],
    ['synth| set §obj.status = 200;', 'It is read-only; resp.status can be set here.'],
    ['backend_response| set §obj.ttl = 5s;', 'It is read-only; beresp.ttl can be set here.'],
    ['hit| set §obj.ttl = 5s;', 'It is read-only.'],
    ['backend_fetch| set §req.url = "x";', 'It can be set in: client. Here it is bereq.url.'],
    [
      'backend_response| set beresp.http.x = §req.http.X-Y;',
      'It can be read in: client. Here it is bereq.http.X-Y.',
    ],
    [
      'deliver| unset §beresp.http.Server;',
      'It can be unset in: backend_response backend_error backend_refresh. Here it is resp.http.Server.',
    ],
    ['recv| set req.http.x = §obj.http.x;', 'It can be read in: hit.'],
  ],
  'words that are no statements': [
    ...['while (req.url) { }', 'for (;;) { set req.url = "a"; }', 'foreach (req.url) { }', 'do { }'].map(
      (text): [string, string] => [
        `recv| §${text}`,
        'The language has no loops: regsuball() changes every match, and return (restart) or return (retry) begins again.',
      ],
    ),
    ['recv| §switch (req.url) { }', 'Write: if (…) { } elseif (…) { }'],
    ['recv| §error 404 "x";', 'Write: return (synth(404, "Not Found"));'],
    ['recv| §remove req.http.x;', 'Write: unset'],
    ['recv| §delete req.http.x;', 'Write: unset'],
    ['recv| §lookup;', 'An action is returned: return (lookup);'],
    ['synth| §synthetic "x";', 'Its text is written in parentheses: synthetic("text");'],
    ['recv| §log "x";', 'Write: std.log("text"); with "import std;".'],
    ['recv| §esi;', 'Write: set beresp.do_esi = true;'],
    [
      'recv| §purge_url("/a");',
      'Write: ban("req.url ~ ^/news/"); to remove one page, return (purge) in vcl_recv.',
    ],
    ['recv| if (req.url) { } §elseIf (req.url) { }', "It is written in small letters: 'elseif'."],
    ['recv| if (req.url) { } §Else { }', "It is written in small letters: 'else'."],
    ['recv| §elseif (req.url) { }', 'It follows the block of an if.'],
    ['recv| call §used();', 'A sub is called without parentheses: call used;'],
  ],
  actions: [
    ['recv| return (§lookup);', 'return (lookup) is legal in: vcl_hash. Did you mean: return (hash)?'],
    [
      'recv| return (§error(404));',
      'return (error) is legal in: vcl_backend_fetch, vcl_backend_refresh, vcl_backend_response. Did you mean: return (synth(503))?',
    ],
    [
      'backend_error| return (§restart);',
      'return (restart) is legal in: vcl_pass, vcl_purge, vcl_miss, vcl_hit, vcl_deliver, vcl_synth, vcl_recv. Did you mean: return (retry)?',
    ],
    ['backend_response| return (§hit_for_pass);', 'Write: return (pass(120s)); in vcl_backend_response.'],
    ['recv| return (§passs);', "Did you mean 'pass'?"],
  ],
  'types of values': [
    [
      'backend_response| set beresp.ttl = §"120s";',
      'A duration is written without quotes: 120s; std.duration() reads one from text.',
    ],
    ['recv| set req.backend_hint = §"d";', 'It is the name of a backend, without quotes.'],
    [
      'recv| if (client.ip ~ §"192.0.2.1") { }',
      'Addresses are matched by an acl: acl name { "192.0.2.0"/24; }, and here its name without quotes.',
    ],
    [
      'synth| set resp.status = §"200";',
      'A number is written without quotes; std.integer() reads one from text.',
    ],
  ],
  declarations: [
    ['prog| backend d none; sub §vcl_fetch { }', "Did you mean 'vcl_backend_response'?"],
    [
      'prog| backend d none; sub §vcl_error { }',
      "Did you mean 'vcl_synth', or 'vcl_backend_error' for failed fetches?",
    ],
    ['prog| backend d none; sub §vcl_recieve { }', "Did you mean 'vcl_recv'?"],
    ['prog| backend d none; §set req.url = "x";', 'Statements belong inside a sub: sub vcl_recv { … }'],
    ['prog| backend d none; §function x { }', "Did you mean 'sub'?"],
    [
      'prog| §director d round-robin { }',
      'Directors are objects: import directors; and in vcl_init: new name = directors.round_robin();',
    ],
  ],
};

for (const [name, rows] of Object.entries(CASES)) {
  describe(name, () => {
    it.each(rows)('%s', (line, hint) => {
      const { error, at } = check(line);
      const head = line.startsWith('prog') ? 'vcl 4.1;\n' : `${HEAD}sub vcl_${line.split('|')[0]} {\n`;
      const lines = `${head}${line.slice(line.indexOf('| ') + 2).replace('§', '')}`.split('\n');
      const place = lines.slice(0, (error?.line ?? 1) - 1).join('\n').length + (error?.column ?? 0);
      expect({ hint: error?.hint, at: place }).toEqual({ hint, at });
    });
  });
}

describe('a hint', () => {
  it('is a line of its own below the caret', () => {
    const text = formatDiagnostics(errors(`${HEAD}sub vcl_recv {\n  if (req.url = "a") { }\n}\n`));
    expect(text).toBe(
      "Message from VCC-compiler:\nExpected ')' got '='\n('hints.vcl' Line 7 Pos 15)\n  if (req.url = \"a\") { }\n--------------#---------\nHint: Did you mean '=='? A single '=' only stands in set.\n\n",
    );
  });

  it('is made of the tables alone: names that every object has mean nothing', () => {
    for (const word of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
      for (const body of [
        `${word};`,
        `set req.http.x = ${word};`,
        `return (${word});`,
        `set req.${word} = 1;`,
      ]) {
        const [error] = errors(`${HEAD}sub vcl_recv {\n${body}\n}\n`);
        expect(error?.hint ?? '', body).not.toMatch(/function|native|object Object/);
      }
    }
  });

  it('does not make several errors of one loop', () => {
    const loops = 'for (;;) { set req.nope = 1; }\nwhile (req.url) { for (;;) { } }\nset req.http.x = "a";';
    expect(errors(`${HEAD}sub vcl_recv {\n${loops}\n}\n`).map((e) => e.line)).toEqual([7, 8]);
  });

  it('leaves names of the program alone that are words elsewhere', () => {
    const text = `${HEAD}import directors;\nbackend e none;\nsub vcl_init { new for = directors.random(); for.add_backend(e, 1); }\nsub switch { }\nsub vcl_recv { call switch; set req.backend_hint = for.backend(); }\n`;
    expect(errors(text).map((e) => e.message)).toEqual([]);
  });
});
