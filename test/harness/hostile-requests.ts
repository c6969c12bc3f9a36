// Requests that have more than one reading or none, made by rule rather than by hand: every byte at every place where
// it may not stand, every way to spell a length, a coding, a version, a host or a target that two readers could
// take differently. `§` stands for the URL of the case. All of them have to be refused.

export type HostileRequest = readonly [name: string, text: string];

const HOST = 'Host: a\r\n';
const LAST_CHUNK = '0\r\n\r\n';
const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]/;
const show = (text: string): string => JSON.stringify(text);
const hex = (c: number): string => c.toString(16).padStart(2, '0');
const isControl = (c: number): boolean => c < 32 || c === 127;

/** Values of Content-Length that are no number or not one. */
const BAD_LENGTHS =
  '+5|-5|-0|+0|0x5|5 5|5,5|5, 5|5, 6|,5|5,|5;|5;a|"5"|5.0|5e0|5a| |a|NaN|5_0|0b1|0o5|5\t5|\xb2|5\xa0|\xa05'
    .split('|')
    .concat(
      '18446744073709551616',
      '18446744073709551621',
      '9223372036854775808',
      '9007199254740993',
      '9'.repeat(40),
    );

/** Values of Transfer-Encoding that are not exactly chunked. */
const BAD_CODINGS =
  'chunked, identity|identity, chunked|identity|chunked,|chunked, |chunked;|chunked; a=b|chunked chunked|xchunked|chunkedx|x-chunked|"chunked"|\'chunked\'|gzip|gzip, chunked|chunked, gzip|deflate|cow|chunked, cow|cow, chunked|, chunked|chunked,chunked|chunked\xa0|\xa0chunked|ch\xfcnked|chunk||chunked/1|(chunked)|chunked\x85|identity,identity|chunked\t,|trailers'.split(
    '|',
  );

const BAD_FIELD_STARTS = [
  ' @',
  '@ ',
  '\t@',
  '@\t',
  '@\x0b',
  '@\0',
  '\0@',
  '@\xa0',
  '@\x7f',
  '@\r',
  '\r@',
  '\n@',
];

const BAD_VERSIONS =
  'HTTP/1.1.1|HTTP/01.1|HTTP/1.01|HTTP/ 1.1|HTTP /1.1|HTTP/1,1|HTTP/1|HTTP/|HTTP|http/1.1|Http/1.1|HTTP/2.0|HTTP/3.0|HTTP/0.9|HTTP/1.2|HTTP/1.9|HTTP/9.9|HTTP/-1.1|HTTP/+1.1|HTTPS/1.1|ICY/1.1|HTTP/1.1 HTTP/1.1|HTTP/1.1a|xHTTP/1.1|HTTP\\1.1|HTTP/1.10|HTTP/11.1|HTTP/1.1;| HTTP/1.1|'.split(
    '|',
  );

const BAD_HOSTS =
  '|a b|a/b|a?b|a#b|u@a|a\\b|a"b|<a>|a:x|a:-1|a:+80|a: 80|a:80:80|a:80x|a:99999|a:65536|a:080000|::1|[::1|::1]|[::1]x|[]|[:]|[g::1]|[::1]:x|[::1]:99999|[1.2.3.4]|a%|a%g0|a%2|a^b|a`b|a{b}|http://a|//a|a/|/|a, b|\xe4|a  b|[::1]80|[[::1]]|a:80,b:80'.split(
    '|',
  );

const BAD_TARGETS =
  'http:///x|http://|http:/a|http:a|https://|http://u@a/|http://u:p@a/|http://@a/|http://:80/|http://a:b/|http://a:99999/|http://a b/|http://a%zz/|http://[::1/|http://a\\b/|ftp://a/|file:///x|ws://a/|gopher://a|a.com/x|a:80|..|?x|#x|*|*x|/ x|\\x|javascript:alert(1)'.split(
    '|',
  );

/** Rule 1. */
export function framings(): HostileRequest[] {
  const all: HostileRequest[] = [];
  const post = (name: string, fields: string, body: string, version = '1.1'): void => {
    all.push([name, `POST § HTTP/${version}\r\n${HOST}${fields}\r\n${body}`]);
  };
  for (const v of BAD_LENGTHS) {
    post(`length ${show(v)}`, `Content-Length: ${v}\r\n`, 'hello');
    all.push([`length ${show(v)} of a GET`, `GET § HTTP/1.1\r\n${HOST}Content-Length: ${v}\r\n\r\nhello`]);
  }
  for (const pair of ['5|6', '6|5', '5|5', '5|', '|5', '5|x', '0|5', '5|0', '5|05']) {
    const [a, b] = pair.split('|');
    post(`lengths ${pair}`, `Content-Length: ${a}\r\nContent-Length: ${b}\r\n`, 'hello');
    post(`lengths ${pair} apart`, `content-length: ${a}\r\nX: y\r\nCONTENT-LENGTH: ${b}\r\n`, 'hello');
  }
  for (const v of BAD_CODINGS) {
    post(`coding ${show(v)}`, `Transfer-Encoding: ${v}\r\n`, LAST_CHUNK);
    post(`coding ${show(v)} and length`, `Content-Length: 5\r\nTransfer-Encoding: ${v}\r\n`, LAST_CHUNK);
    post(`second coding ${show(v)}`, `Transfer-Encoding: chunked\r\nTransfer-encoding: ${v}\r\n`, LAST_CHUNK);
    post(`first coding ${show(v)}`, `Transfer-Encoding: ${v}\r\nTransfer-Encoding: chunked\r\n`, LAST_CHUNK);
  }
  for (const v of ['chunked', 'CHUNKED', '\tchunked', 'chunked ']) {
    post(`length, then ${show(v)}`, `Content-Length: 5\r\nTransfer-Encoding: ${v}\r\n`, LAST_CHUNK);
    post(`${show(v)}, then no length`, `Transfer-Encoding: ${v}\r\nContent-Length: 0\r\n`, LAST_CHUNK);
    post(`${show(v)} in HTTP/1.0`, `Transfer-Encoding: ${v}\r\n`, LAST_CHUNK, '1.0');
    post(
      `${show(v)} kept in 1.0`,
      `Connection: keep-alive\r\nTransfer-Encoding: ${v}\r\n`,
      LAST_CHUNK,
      '1.0',
    );
  }
  for (const start of BAD_FIELD_STARTS) {
    const coding = start.replace('@', 'Transfer-Encoding');
    post(`field ${show(coding)}`, `${coding}: chunked\r\n`, LAST_CHUNK);
    post(`length and field ${show(coding)}`, `Content-Length: 5\r\n${coding}: chunked\r\n`, LAST_CHUNK);
    post(`field ${show(start)} of a length`, `${start.replace('@', 'Content-Length')}: 5\r\n`, 'hello');
  }
  for (const lead of ['X: y\n', 'X: y\r', 'X:\n', 'X:\r']) {
    post(`a coding behind ${show(lead)}`, `${lead}Transfer-Encoding: chunked\r\n`, LAST_CHUNK);
  }
  return all;
}

/** Rule 6: one byte where it may not stand. */
export function strayBytes(): HostileRequest[] {
  const all: HostileRequest[] = [];
  for (let c = 0; c < 256; c++) {
    const ch = String.fromCharCode(c);
    const byte = `0x${hex(c)}`;
    const get = (where: string, text: string): void => {
      all.push([`${byte} ${where}`, text]);
    };
    if (!TOKEN.test(ch)) {
      get('in the method', `G${ch}T § HTTP/1.1\r\n${HOST}\r\n`);
      if (c !== 58) {
        get('in a name', `GET § HTTP/1.1\r\n${HOST}X${ch}Y: z\r\n\r\n`);
        get('before a name', `GET § HTTP/1.1\r\n${HOST}${ch}Y: z\r\n\r\n`);
        get('behind a name', `GET § HTTP/1.1\r\n${HOST}Y${ch}: z\r\n\r\n`);
      }
    }
    if (isControl(c) && c !== 9) {
      get('in a value', `GET § HTTP/1.1\r\n${HOST}X: a${ch}b\r\n\r\n`);
      get('behind a value', `GET § HTTP/1.1\r\n${HOST}X: a${ch}\r\n\r\n`);
      get('before a value', `GET § HTTP/1.1\r\n${HOST}X:${ch}a\r\n\r\n`);
      get('in a cookie', `GET § HTTP/1.1\r\n${HOST}Cookie: a=${ch}b\r\n\r\n`);
    }
    if (isControl(c) || c === 32) {
      get('in the target', `GET §${ch}b HTTP/1.1\r\n${HOST}\r\n`);
      get('behind the target', `GET §${ch} HTTP/1.1\r\n${HOST}\r\n`);
      get('before the target', `GET ${ch}§ HTTP/1.1\r\n${HOST}\r\n`);
      get('behind the version', `GET § HTTP/1.1${ch}\r\n${HOST}\r\n`);
      get('in the version', `GET § HTTP/1${ch}.1\r\n${HOST}\r\n`);
      get('before the request', `${ch}GET § HTTP/1.1\r\n${HOST}\r\n`);
    }
    if (c !== 49 && c !== 48) get('as minor version', `GET § HTTP/1.${ch}\r\n${HOST}\r\n`);
    if (c !== 49) get('as major version', `GET § HTTP/${ch}.1\r\n${HOST}\r\n`);
    if (c !== 32) get('as the first blank', `GET${ch}§ HTTP/1.1\r\n${HOST}\r\n`);
    if (c !== 13) get('as CR', `GET § HTTP/1.1${ch}\n${HOST}\r\n`);
    if (c !== 10) get('as LF', `GET § HTTP/1.1\r${ch}${HOST}\r\n`);
    if (!/[A-Za-z0-9\-._~!$&'()*+,;=%:]/.test(ch)) get('in Host', `GET § HTTP/1.1\r\nHost: a${ch}b\r\n\r\n`);
  }
  return all;
}

/** Rules 6 and 10: versions, hosts, targets, line ends, folds, sizes, expectations. */
export function heads(): HostileRequest[] {
  const all: HostileRequest[] = [];
  const get = (name: string, text: string): void => {
    all.push([name, text]);
  };
  for (const v of BAD_VERSIONS) get(`version ${show(v)}`, `GET § ${v}\r\n${HOST}\r\n`);
  for (const v of BAD_HOSTS) {
    get(`Host ${show(v)}`, `GET § HTTP/1.1\r\nHost: ${v}\r\n\r\n`);
    get(`Host ${show(v)} beside an authority`, `GET http://c§ HTTP/1.1\r\nHost: ${v}\r\n\r\n`);
    get(`Host ${show(v)} in HTTP/1.0`, `GET § HTTP/1.0\r\nHost: ${v}\r\n\r\n`);
    get(`second Host ${show(v)}`, `GET § HTTP/1.1\r\nHost: a\r\nX: y\r\nhost: ${v}\r\n\r\n`);
  }
  for (const v of BAD_TARGETS) get(`target ${show(v)}`, `GET ${v} HTTP/1.1\r\n${HOST}\r\n`);
  for (const v of ['a:80', '/x', 'http://a/', '*', 'b:80']) {
    get(`CONNECT ${v}`, `CONNECT ${v} HTTP/1.1\r\n${HOST}\r\n`);
  }
  for (const [name, text] of [
    ['two Hosts in HTTP/1.0', 'GET § HTTP/1.0\r\nHost: a\r\nhost: b\r\n\r\n'],
    ['a blank before the colon of Host', 'GET § HTTP/1.1\r\nHost : a\r\n\r\n'],
    ['a folded Host', 'GET § HTTP/1.1\r\nHost:\r\n a\r\n\r\n'],
    ['a second Host as a fold', 'GET § HTTP/1.1\r\nHost: a\r\n Host: b\r\n\r\n'],
    ['a fold by tab', `GET § HTTP/1.1\r\n${HOST}X: a\r\n\tb\r\n\r\n`],
    ['an empty fold', `GET § HTTP/1.1\r\n${HOST}X: a\r\n \r\n\r\n`],
    ['HTTP/0.9', 'GET §\r\n'],
    ['HTTP/0.9 with a blank', 'GET § \r\n'],
    ['an asterisk for POST', `POST * HTTP/1.1\r\n${HOST}\r\n`],
    ['an asterisk for HEAD', `HEAD * HTTP/1.1\r\n${HOST}\r\n`],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a CR alone at line ends', 'GET § HTTP/1.1\rHost: a\r\r'],
    ['LF CR at the end', `GET § HTTP/1.1\r\n${HOST}\n\r`],
    ['CR CR LF at the end', `GET § HTTP/1.1\r\n${HOST}\r\r\n`],
    ['an LF before the request', `\nGET § HTTP/1.1\r\n${HOST}\r\n`],
    ['a thousand fields', `GET § HTTP/1.1\r\n${HOST}${'A: b\r\n'.repeat(1000)}\r\n`],
    ['a name of 64 KB', `GET § HTTP/1.1\r\n${HOST}${'N'.repeat(65536)}: b\r\n\r\n`],
    ['a value of 64 KB', `GET § HTTP/1.1\r\n${HOST}X: ${'v'.repeat(65536)}\r\n\r\n`],
    ['a Host of 64 KB', `GET § HTTP/1.1\r\nHost: ${'h'.repeat(65536)}\r\n\r\n`],
    ['a megabyte without a line end', 'A'.repeat(1 << 20)],
    ['a megabyte of NUL', '\0'.repeat(1 << 20)],
    ['a megabyte of LF', '\n'.repeat(1 << 20)],
  ] as const) {
    get(name, text);
  }
  for (const v of [
    '100-Continue, x',
    'x',
    '200-ok',
    '100-continue;q=1',
    '',
    '100',
    '100-continue, 100-continue',
  ]) {
    get(`Expect: ${v}`, `POST § HTTP/1.1\r\n${HOST}Expect: ${v}\r\nContent-Length: 5\r\n\r\nhello`);
    get(
      `a second Expect: ${v}`,
      `POST § HTTP/1.1\r\n${HOST}Expect: 100-continue\r\nExpect: ${v}\r\nContent-Length: 5\r\n\r\nhello`,
    );
  }
  return all;
}
