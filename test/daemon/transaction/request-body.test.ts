// The request body alone: order of calls to the consumer and the carrier; an abandoned body never becomes complete.
import { describe, expect, it } from 'vitest';
import type { Room } from '../../../daemon/flow/flow.ts';
import type { AnyPiece } from '../../../daemon/flow/piece.ts';
import { RequestBody } from '../../../daemon/transaction/request-body.ts';
import { sinkOf, textOf } from '../flow/flow-ends.ts';

class Both {
  readonly reported: string[] = [];
  readonly body: RequestBody;
  room: Room = 'more';
  constructor(length: number) {
    this.body = new RequestBody(
      {
        bodyBegins: () => undefined,
        bodyWanted: () => this.reported.push('wanted'),
        bodySettled: () => this.reported.push('settled'),
      },
      length,
    );
  }
  start(onData: () => void = () => {}): void {
    const take = (piece: AnyPiece): Room => {
      this.reported.push(textOf(piece));
      onData();
      return this.room;
    };
    this.body.start(
      sinkOf(
        take,
        () => this.reported.push('end'),
        (reason) => this.reported.push(reason),
      ),
    );
  }
  feed(text: string): number {
    return this.body.feed(Buffer.from(text), 0, text.length);
  }
}

describe('RequestBody', () => {
  it('notifies the carrier of the end before the consumer, which may end the request', () => {
    const both = new Both(5);
    both.start();
    expect(both.feed('helloGET')).toBe(5);
    expect(both.reported).toEqual(['wanted', 'hello', 'settled', 'end']);
  });

  it('notifies the carrier of a failure first, too, and only once', () => {
    const both = new Both(5);
    both.start();
    both.feed('hel');
    both.body.fail('eof');
    both.body.fail('closed');
    expect(both.reported).toEqual(['wanted', 'hel', 'settled', 'eof']);
    expect(both.feed('lo')).toBe(0);
  });

  it.each([
    ['a length', 5, 'hello'],
    ['chunks', -1, '5\r\nhello\r\n0\r\n\r\n'],
  ])('is not whole when its consumer gives up over the last bytes, with %s', (_name, length, text) => {
    const both = new Both(length);
    both.start(() => both.body.fail('overflow'));
    both.feed(text);
    expect(both.body.complete).toBe(false);
    expect(both.reported).toEqual(['wanted', 'hello', 'settled', 'overflow']);
  });

  it('takes no bytes beyond its end', () => {
    const both = new Both(-1);
    both.start();
    expect(both.feed('1\r\nx\r\n0\r\n\r\nGET /')).toBe(11);
    expect(both.body.complete).toBe(true);
    expect(both.feed('GET /')).toBe(0);
  });

  it('notifies a late consumer of the outcome', () => {
    const failed = new Both(5);
    failed.body.fail('eof');
    failed.start();
    expect(failed.reported).toEqual(['settled', 'eof']);
    const empty = new Both(0);
    empty.start();
    expect(empty.reported).toEqual(['end']);
  });

  it('is not called paused once its consumer has left', () => {
    const both = new Both(5);
    both.start();
    both.room = 'wait';
    both.feed('hel');
    expect(both.body.paused).toBe(true);
    both.body.stop('left');
    expect(both.body.paused).toBe(false);
    expect(both.body.wantsData).toBe(false);
  });
});
