import { describe, expect, it } from 'vitest';
import { endsWithConnection, parseLength, requestBody, responseBody } from '../../../daemon/http1/framing.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';

function message(proto: string, fields: string[], status = 0): HttpMessage {
  const msg = new HttpMessage(0);
  msg.proto = proto;
  msg.status = status;
  for (const line of fields) msg.push(line.slice(0, line.indexOf(':')).toLowerCase(), line);
  return msg;
}

describe('requestBody', () => {
  const cases: [string, string[], string][] = [
    ['no field', [], 'none'],
    ['a length', ['Content-Length: 12'], 'length 12'],
    ['length 0', ['Content-Length: 0'], 'none'],
    ['chunked in any case', ['Transfer-Encoding: CHUNKED'], 'chunked'],
    ['the largest exact length', ['Content-Length: 9007199254740991'], 'length 9007199254740991'],
    ['a length past it', ['Content-Length: 9007199254740992'], 'length-invalid'],
    ['overflow', ['Content-Length: 18446744073709551617'], 'length-invalid'],
    ['two lengths', ['Content-Length: 1', 'Content-Length: 2'], 'length-conflict'],
    ['the same length twice', ['Content-Length: 2', 'content-length: 2'], 'length-conflict'],
    ['a list', ['Content-Length: 2, 2'], 'length-invalid'],
    ['plus', ['Content-Length: +2'], 'length-invalid'],
    ['minus', ['Content-Length: -2'], 'length-invalid'],
    ['hex', ['Content-Length: 0x2'], 'length-invalid'],
    ['a fraction', ['Content-Length: 2.0'], 'length-invalid'],
    ['an empty length', ['Content-Length:'], 'length-invalid'],
    ['a letter behind', ['Content-Length: 2a'], 'length-invalid'],
    ['a blank inside', ['Content-Length: 2 2'], 'length-invalid'],
    ['both', ['Content-Length: 2', 'Transfer-Encoding: chunked'], 'length-and-coding'],
    ['both, length 0', ['Transfer-Encoding: chunked', 'Content-Length: 0'], 'length-and-coding'],
    ['two codings in a list', ['Transfer-Encoding: gzip, chunked'], 'coding-unknown'],
    ['chunked not last', ['Transfer-Encoding: chunked, gzip'], 'coding-unknown'],
    ['chunked twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], 'coding-unknown'],
    ['identity', ['Transfer-Encoding: identity'], 'coding-unknown'],
    ['an empty coding', ['Transfer-Encoding:'], 'coding-unknown'],
    ['a quoted coding', ['Transfer-Encoding: "chunked"'], 'coding-unknown'],
    ['a parameter', ['Transfer-Encoding: chunked;q=1'], 'coding-unknown'],
    ['a vertical tab', ['Transfer-Encoding: \u000bchunked'], 'coding-unknown'],
  ];
  it.each(cases)('%s', (_, fields, expected) => {
    const framing = requestBody(message('HTTP/1.1', fields));
    const got =
      framing.kind === 'length'
        ? `length ${framing.length}`
        : framing.kind === 'error'
          ? framing.reason
          : framing.kind;
    expect(got).toBe(expected);
  });

  it('refuses Transfer-Encoding in HTTP/1.0', () => {
    expect(requestBody(message('HTTP/1.0', ['Transfer-Encoding: chunked']))).toMatchObject({
      kind: 'error',
      reason: 'coding-http10',
    });
  });
});

describe('responseBody', () => {
  it('reads until the end without fields', () => {
    expect(responseBody(message('HTTP/1.1', [], 200), 'GET').kind).toBe('eof');
  });

  it.each([
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
    ['GET', 103],
  ])('has none for %s and %i', (method, status) => {
    expect(responseBody(message('HTTP/1.1', ['Content-Length: 5'], status), method).kind).toBe('none');
    expect(responseBody(message('HTTP/1.1', ['Transfer-Encoding: chunked'], status), method).kind).toBe(
      'none',
    );
  });

  it('refuses broken fields even where no body follows', () => {
    const msg = message('HTTP/1.1', ['Content-Length: 5', 'Content-Length: 6'], 304);
    expect(responseBody(msg, 'GET')).toMatchObject({ kind: 'error', reason: 'length-conflict' });
  });

  it('refuses codings it would have to undo', () => {
    const msg = message('HTTP/1.1', ['Transfer-Encoding: gzip, chunked'], 200);
    expect(responseBody(msg, 'GET')).toMatchObject({ kind: 'error', reason: 'coding-unknown' });
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
