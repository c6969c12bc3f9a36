// The client's body on its way to an origin: backpressure, origins that answer early, leave, or never take it.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { OriginConnection } from '../../../daemon/backend/connection.ts';
import { sendBody } from '../../../daemon/fetch/upload.ts';
import type { Room } from '../../../daemon/flow/flow.ts';
import type { AnyPiece } from '../../../daemon/flow/piece.ts';
import { RequestBody } from '../../../daemon/transaction/request-body.ts';
import { textOf } from '../flow/flow-ends.ts';

class Upload {
  isOpen = true;
  answered = false;
  takes = true;
  onDrain: (() => void) | null = null;
  got = '';
  wanted = 0;
  readonly body: RequestBody;
  readonly result: Promise<string | null>;
  settled: string | null | undefined;

  constructor(length: number) {
    this.body = new RequestBody(
      { bodyBegins: () => undefined, bodyWanted: () => this.wanted++, bodySettled: () => {} },
      length,
    );
    this.result = sendBody(this as unknown as OriginConnection, this.body, 60, [], true).then(
      ({ failure }) => failure,
    );
    void this.result.then((value) => {
      this.settled = value;
    });
  }

  write(piece: AnyPiece): Room {
    this.got += textOf(piece);
    return this.takes ? 'more' : 'wait';
  }

  feed(text: string): number {
    return this.body.feed(Buffer.from(text), 0, text.length);
  }
}

describe('sendBody', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('hands over everything and settles with the last byte', async () => {
    const up = new Upload(5);
    up.feed('hel');
    up.feed('lo');
    expect(await up.result).toBeNull();
    expect(up.got).toBe('hello');
  });

  it('lets the client wait while the origin takes nothing, and continues after', async () => {
    const up = new Upload(5);
    up.takes = false;
    up.feed('hel');
    expect(up.body.wantsData).toBe(false);
    up.takes = true;
    up.onDrain?.();
    expect(up.body.wantsData).toBe(true);
    up.feed('lo');
    expect(await up.result).toBeNull();
    vi.advanceTimersByTime(100_000);
    expect(up.settled).toBeNull();
  });

  it('gives up an origin that takes nothing for the whole time', async () => {
    const up = new Upload(5);
    up.takes = false;
    up.feed('hel');
    vi.advanceTimersByTime(59_000);
    expect(up.settled).toBeUndefined();
    vi.advanceTimersByTime(2_000);
    expect(await up.result).toBe('first-byte-timeout');
    expect(up.body.complete).toBe(false);
  });

  it('stops for an early answer without calling the body whole', async () => {
    const up = new Upload(5);
    up.feed('hel');
    up.answered = true;
    up.onDrain?.();
    expect(await up.result).toBeNull();
    expect(up.body.complete).toBe(false);
    expect(up.body.wantsData).toBe(false);
  });

  it.each(['eof', 'timeout', 'chunked', 'closed'] as const)(
    'fails when the body does: %s',
    async (reason) => {
      const up = new Upload(5);
      up.feed('hel');
      up.body.fail(reason);
      expect(await up.result).toBe('request-body');
    },
  );
});
