import { expect, it } from 'vitest';
import { maskProgram, maskText } from '../../../console/gather/mask.ts';
import { maskBan, maskLog } from '../../../console/gather/mask-log.ts';

it.each([
  ['a basic scheme', 'sent Basic dXNlcjpwYXNz now', 'sent Basic <masked> now'],
  ['a URL with a user', 'at http://joe:pw@example.com/x', 'at http://<masked>@example.com/x'],
  ['a query', '/a?token=abc&x=1&api_key=q', '/a?token=<masked>&x=1&api_key=<masked>'],
  ['a hash', 'key 9f86d081884c7d659a2feaa0c55ad015 end', 'key <masked> end'],
  [
    'an ordinary path',
    '/usr/share/something-quite-long-1234567890/x',
    '/usr/share/something-quite-long-1234567890/x',
  ],
  [
    'short names',
    '/cb?code=abc&sig=d%2Be&key=f&pwd=g&pass=h&otp=123456&page=2',
    '/cb?code=<masked>&sig=<masked>&key=<masked>&pwd=<masked>&pass=<masked>&otp=<masked>&page=2',
  ],
  [
    'names made of words',
    'X-Amz-Sig=a; userPwd=b; otp_code=c',
    'X-Amz-Sig=<masked>; userPwd=<masked>; otp_code=<masked>',
  ],
  [
    'quoted values',
    'Signature keyId="k 1",alg="x", sig="a b c"',
    'Signature keyId="<masked>",alg="x", sig="<masked>"',
  ],
  [
    'what is written as JSON',
    '{"otp":"123456","n":1,"pass" : "x y"}',
    '{"otp":"<masked>","n":1,"pass" : "<masked>"}',
  ],
  ['names and values', 'otp: 123456, lang: en', 'otp: <masked>, lang: en'],
  ['a URL inside a URL', '/in?to=%2Fcb%3Fcode%3Dabc%26x%3D1&y=1', '/in?to=%2Fcb%3Fcode%3D<masked>&y=1'],
  ['one escaped twice', '/in?to=%252Fcb%253Fsig%253Dabc', '/in?to=%252Fcb%253Fsig%253D<masked>'],
  [
    'harmless words',
    'keyword=a&monkey=b&passage=c&encode=d&compass=e&design=f&surrogate-key=g',
    'keyword=a&monkey=b&passage=c&encode=d&compass=e&design=f&surrogate-key=g',
  ],
  ['a header rule', 'max-age=100, public', 'max-age=100, public'],
])('masks in %s what is secret', (_what, text, expected) => {
  expect(maskText(text)).toBe(expected);
});

it.each([
  ['a comparison', 'if (req.http.X-Token == "abc") {', 'if (req.http.X-Token == "<masked>") {'],
  [
    'all strings of a statement',
    'set bereq.http.Authorization =\n "a" + {"b"};',
    'set bereq.http.Authorization =\n "<masked>" + {"<masked>"};',
  ],
  ['a header with a short name', 'set bereq.http.X-Key = "k";', 'set bereq.http.X-Key = "<masked>";'],
  ['no return (pass)', 'if (req.url ~ "^/a") { return (pass); }', 'if (req.url ~ "^/a") { return (pass); }'],
  ['long strings', 'set req.http.Cookie = """x"y""";', 'set req.http.Cookie = """<masked>""";'],
  ['a preamble', 'backend b { .preamble = :YWJj:; }', 'backend b { .preamble = :<masked>:; }'],
  ['comments that tell', '# password: abc\nset req.url = "/x";', '# <masked>\nset req.url = "/x";'],
  ['block comments that tell', '/* the token is abc */', '/* <masked> */'],
  [
    'the statement behind it not',
    'unset req.http.Cookie; set req.http.X = "plain";',
    'unset req.http.Cookie; set req.http.X = "plain";',
  ],
  ['credentials in any string', 'std.log("http://a:b@c/");', 'std.log("http://<masked>@c/");'],
  [
    'strings with marks in them',
    'set req.http.X = "a;b{#c"; set req.http.Auth = "d";',
    'set req.http.X = "a;b{#c"; set req.http.Auth = "<masked>";',
  ],
])('masks in programs %s', (_what, source, expected) => {
  expect(maskProgram(source)).toBe(expected);
});

it('leaves a program without secrets as it is, whatever is in it', () => {
  const source = 'vcl 4.1;\nsub x { if (a / b > 1 && req.url ~ "^/(a|b)$") { call y; } } # a "quote\n//c\n';
  expect(maskProgram(source)).toBe(source);
  expect(maskProgram('set x = "unended\nnext')).toBe('set x = "unended\nnext');
});

it('masks header values in log lines, and where they come again', () => {
  const lines = [
    '         2 ReqHeader      c Cookie: sid=verysecret; lang=en',
    '-   VCL_Log        seen verysecret',
    '--  BereqHeader    Authorization: Basic Zm9vOmJhcg==',
    '-   ReqURL         /x?session=1',
    '-   ReqHeader      X-Sig: a1b2c3d4',
    '-   ReqHeader      Host: example.test',
    '         2 HttpGarbage    c "GET / HTTP/1.1%0d%0aCookie: a"',
    '         0 CLI            - Rd vcl.inline x "backend b {}"',
    '*   << Request  >> 2         ',
  ];
  expect(maskLog(lines)).toEqual([
    '         2 ReqHeader      c Cookie: <masked>',
    '-   VCL_Log        seen <masked>',
    '--  BereqHeader    Authorization: <masked>',
    '-   ReqURL         /x?session=<masked>',
    '-   ReqHeader      X-Sig: <masked>',
    '-   ReqHeader      Host: example.test',
    '         2 HttpGarbage    c <masked>',
    '         0 CLI            - Rd vcl.inline x <masked>',
    '*   << Request  >> 2         ',
  ]);
});

it('masks what a ban asks of a telltale field', () => {
  expect(maskBan('1.0  0 -  req.http.Cookie ~ sid=1 && req.url == /x')).toBe(
    '1.0  0 -  req.http.Cookie ~ <masked> && req.url == /x',
  );
});
