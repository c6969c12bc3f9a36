import { describe, expect, it } from 'vitest';
import {
  type BodyFraming,
  endsWithConnection,
  parseLength,
  requestBody,
  responseBody,
  settleLength,
} from '../../../daemon/http1/framing.ts';
import { Leniencies } from '../../../daemon/http1/leniency.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';

function message(proto: string, fields: string[], status = 0): HttpMessage {
  const msg = new HttpMessage(0);
  msg.proto = proto;
  msg.status = status;
  for (const line of fields) msg.push(line.slice(0, line.indexOf(':')).toLowerCase(), line);
  return msg;
}

function shown(framing: BodyFraming): string {
  if (framing.kind === 'error') return framing.reason;
  return framing.kind === 'length' ? `length ${framing.length}` : framing.kind;
}

describe('requestBody', () => {
  const cases: [string, string[], string][] = [
    ['no field', [], 'none'],
    ['a length', ['Content-Length: 12'], 'length 12'],
    ['length 0', ['Content-Length: 0'], 'none'],
    ['chunked in any case', ['Transfer-Encoding: CHUNKED'], 'chunked'],
    ['the largest exact length', ['Content-Length: 9007199254740991'], 'length 9007199254740991'],
    ['a length past it', ['Content-Length: 9007199254740992'], 'length_invalid'],
    ['overflow', ['Content-Length: 18446744073709551617'], 'length_invalid'],
    ['two lengths', ['Content-Length: 1', 'Content-Length: 2'], 'length_conflict'],
    ['the same length twice', ['Content-Length: 2', 'content-length: 2'], 'length_conflict'],
    ['a list', ['Content-Length: 2, 2'], 'length_invalid'],
    ['plus', ['Content-Length: +2'], 'length_invalid'],
    ['minus', ['Content-Length: -2'], 'length_invalid'],
    ['hex', ['Content-Length: 0x2'], 'length_invalid'],
    ['a fraction', ['Content-Length: 2.0'], 'length_invalid'],
    ['an empty length', ['Content-Length:'], 'length_invalid'],
    ['a letter behind', ['Content-Length: 2a'], 'length_invalid'],
    ['a blank inside', ['Content-Length: 2 2'], 'length_invalid'],
    ['both', ['Content-Length: 2', 'Transfer-Encoding: chunked'], 'length_and_coding'],
    ['both, length 0', ['Transfer-Encoding: chunked', 'Content-Length: 0'], 'length_and_coding'],
    ['two codings in a list', ['Transfer-Encoding: gzip, chunked'], 'coding_unknown'],
    ['chunked not last', ['Transfer-Encoding: chunked, gzip'], 'coding_unknown'],
    ['chunked twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], 'coding_unknown'],
    ['identity', ['Transfer-Encoding: identity'], 'coding_unknown'],
    ['an empty coding', ['Transfer-Encoding:'], 'coding_unknown'],
    ['a quoted coding', ['Transfer-Encoding: "chunked"'], 'coding_unknown'],
    ['a parameter', ['Transfer-Encoding: chunked;q=1'], 'coding_unknown'],
    ['a vertical tab', ['Transfer-Encoding: \u000bchunked'], 'coding_unknown'],
  ];
  it.each(cases)('%s', (_, fields, expected) => {
    expect(shown(requestBody(message('HTTP/1.1', fields)))).toBe(expected);
  });

  it('quotes the lines that disagree', () => {
    const long = `X-${'a'.repeat(100)}`;
    const of = (fields: string[]): unknown => requestBody(message('HTTP/1.1', fields));
    expect(of(['Content-Length: 1', 'X: y', 'content-length: 2'])).toMatchObject({
      detail: '"Content-Length: 1" and "content-length: 2"',
    });
    expect(of(['Transfer-Encoding: chunked', 'Content-Length: 2'])).toMatchObject({
      detail: '"Transfer-Encoding: chunked" and "Content-Length: 2"',
    });
    expect(of([`Transfer-Encoding: ${long}`])).toMatchObject({
      detail: `"${`Transfer-Encoding: ${long}`.slice(0, 60)}..."`,
    });
  });

  it('refuses Transfer-Encoding in HTTP/1.0', () => {
    expect(requestBody(message('HTTP/1.0', ['Transfer-Encoding: chunked']))).toMatchObject({
      kind: 'error',
      reason: 'coding_http10',
    });
  });
});

describe('responseBody', () => {
  it('reads until the end without fields', () => {
    expect(responseBody(message('HTTP/1.1', [], 200), 'GET', new Leniencies()).kind).toBe('eof');
  });

  it.each([
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
    ['GET', 103],
  ])('has none for %s and %i', (method, status) => {
    expect(
      responseBody(message('HTTP/1.1', ['Content-Length: 5'], status), method, new Leniencies()).kind,
    ).toBe('none');
    expect(
      responseBody(message('HTTP/1.1', ['Transfer-Encoding: chunked'], status), method, new Leniencies())
        .kind,
    ).toBe('none');
  });

  it('refuses broken fields even where no body follows', () => {
    const msg = message('HTTP/1.1', ['Content-Length: 5', 'Content-Length: 6'], 304);
    expect(responseBody(msg, 'GET', new Leniencies())).toMatchObject({
      kind: 'error',
      reason: 'length_conflict',
    });
  });

  it('refuses codings it would have to undo', () => {
    const msg = message('HTTP/1.1', ['Transfer-Encoding: gzip, chunked'], 200);
    expect(responseBody(msg, 'GET', new Leniencies())).toMatchObject({
      kind: 'error',
      reason: 'coding_unknown',
    });
  });

  const lenient: [string, string, string[], string, string][] = [
    [
      'equal lengths',
      'HTTP/1.1',
      ['Content-Length: 5', 'content-length: 5'],
      'length 5',
      'Content-Length repeated as 5',
    ],
    [
      'a list of equal ones',
      'HTTP/1.1',
      ['Content-Length: 5, 5'],
      'length 5',
      'Content-Length repeated as 5',
    ],
    [
      'lists on two lines',
      'HTTP/1.1',
      ['Content-Length: 5,5 ,\t5', 'Content-Length: 5'],
      'length 5',
      'Content-Length repeated as 5 (and 1 more)',
    ],
    ['lengths of 0', 'HTTP/1.1', ['Content-Length: 0,0'], 'none', 'Content-Length repeated as 0'],
    [
      'chunks of HTTP/1.0',
      'HTTP/1.0',
      ['Transfer-Encoding: chunked'],
      'chunked',
      'chunks from HTTP/1.0 as those of HTTP/1.1',
    ],
    ['one length', 'HTTP/1.1', ['Content-Length: 5'], 'length 5', ''],
    ['different lengths', 'HTTP/1.1', ['Content-Length: 5', 'Content-Length: 6'], 'length_conflict', ''],
    ['different members', 'HTTP/1.1', ['Content-Length: 5, 6'], 'length_invalid', ''],
    ['members that differ by a zero', 'HTTP/1.1', ['Content-Length: 5, 05'], 'length_invalid', ''],
    ['an empty member', 'HTTP/1.1', ['Content-Length: 5,'], 'length_invalid', ''],
    ['a list of nothing', 'HTTP/1.1', ['Content-Length: ,'], 'length_invalid', ''],
    ['another blank', 'HTTP/1.1', ['Content-Length: 5,\u00a05'], 'length_invalid', ''],
    ['a list without end', 'HTTP/1.1', [`Content-Length: ${'5,'.repeat(200)}5`], 'length_invalid', ''],
    ['signs', 'HTTP/1.1', ['Content-Length: +5, +5'], 'length_invalid', ''],
    [
      'a length and chunks',
      'HTTP/1.0',
      ['Content-Length: 5', 'Transfer-Encoding: chunked'],
      'length_and_coding',
      '',
    ],
    ['another coding of HTTP/1.0', 'HTTP/1.0', ['Transfer-Encoding: gzip'], 'coding_unknown', ''],
    [
      'chunked on two lines',
      'HTTP/1.1',
      ['Transfer-Encoding: chunked', 'X: y', 'transfer-encoding: Chunked'],
      'coding_unknown',
      '',
    ],
    ['chunked twice in a list', 'HTTP/1.1', ['Transfer-Encoding: chunked, chunked'], 'coding_unknown', ''],
    [
      'gzip, then chunked',
      'HTTP/1.1',
      ['Transfer-Encoding: gzip', 'Transfer-Encoding: chunked'],
      'coding_unknown',
      '',
    ],
    [
      'chunked, then gzip',
      'HTTP/1.1',
      ['Transfer-Encoding: chunked', 'Transfer-Encoding: gzip'],
      'coding_unknown',
      '',
    ],
  ];
  it.each(lenient)('takes %s as it should', (_, proto, fields, expected, noted) => {
    const leniencies = new Leniencies();
    expect(shown(responseBody(message(proto, fields, 200), 'GET', leniencies))).toBe(expected);
    if (expected !== 'length_invalid' && expected !== 'length_conflict') expect(leniencies.text).toBe(noted);
  });
});

describe('settleLength', () => {
  it.each([
    [
      ['Content-Length: 5', 'X: y', 'content-length:  5'],
      ['X: y', 'Content-Length: 5'],
    ],
    [['Content-Length: 5 , 5'], ['Content-Length: 5']],
    [
      ['Content-Length: 5', 'X: y'],
      ['Content-Length: 5', 'X: y'],
    ],
    [['X: y'], ['X: y']],
  ])('makes %j into %j', (fields, after) => {
    const msg = message('HTTP/1.1', fields, 200);
    settleLength(msg, responseBody(msg, 'GET', new Leniencies()));
    expect(msg.lines.slice(0, msg.n)).toEqual(after);
  });

  it('leaves what is refused as it is', () => {
    const msg = message('HTTP/1.1', ['Content-Length: x', 'Content-Length: x'], 200);
    settleLength(msg, responseBody(msg, 'GET', new Leniencies()));
    expect(msg.n).toBe(2);
  });
});

describe('parseLength', () => {
  it('takes digits only', () => {
    expect(['7', '007', '٣', '１'].map(parseLength)).toEqual([7, 7, -1, -1]);
  });
});

describe('endsWithConnection', () => {
  const cases: [string, string, string[], boolean][] = [
    ['POST', 'HTTP/1.0', [], true],
    ['PUT', 'HTTP/1.0', ['Connection: foo'], true],
    ['POST', 'HTTP/1.0', ['Connection: keep-alive', 'connection: close'], true],
    ['POST', 'HTTP/1.0', ['Connection: foo, Keep-Alive'], false],
    ['POST', 'HTTP/1.0', ['Content-Length: 0'], false],
    ['GET', 'HTTP/1.0', [], false],
    ['POST', 'HTTP/1.1', ['Connection: close'], false],
  ];
  it.each(cases)('%s %s %j', (method, proto, fields, expected) => {
    const msg = message(proto, fields);
    msg.method = method;
    expect(endsWithConnection(msg)).toBe(expected);
  });
});
