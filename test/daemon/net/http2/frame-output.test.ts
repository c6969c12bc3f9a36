import { expect, it } from 'vitest';
import type { Room, Writer } from '../../../../daemon/flow/flow.ts';
import { copyOf, own, Piece } from '../../../../daemon/flow/piece.ts';
import { FrameOutput, type OutputWire } from '../../../../daemon/net/http2/frame-output.ts';

/** A kernel that takes all, or keeps what it is given until it is asked to take it. */
class Wire implements OutputWire {
  readonly writes: string[] = [];
  readonly held: Piece[] = [];
  takes = true;
  private waiting: Pick<Writer, 'room'> | null = null;

  send(piece: Piece): Room {
    if (this.takes) {
      this.writes.push(copyOf(piece).toString('latin1'));
      return 'more';
    }
    piece.hold();
    this.held.push(piece);
    return 'wait';
  }

  onRoom(writer: Pick<Writer, 'room'>): void {
    this.waiting = writer;
  }

  take(): void {
    for (const piece of this.held) {
      this.writes.push(copyOf(piece).toString('latin1'));
      piece.release();
    }
    this.held.length = 0;
    this.waiting?.room();
  }
}

function make() {
  const wire = new Wire();
  const events: string[] = [];
  const output = new FrameOutput(
    wire,
    () => events.push('room'),
    (parts) => events.push(`sent ${Buffer.concat(parts).length}`),
  );
  const put = (text: string): void => {
    output.reserve(text.length);
    output.bytes.write(text, output.at, 'latin1');
    output.at += text.length;
  };
  return { wire, events, output, put };
}

it('gathers what is written into one write', () => {
  const { wire, output, put, events } = make();
  put('one');
  put('two');
  output.flush();
  output.flush();
  expect([wire.writes, events]).toEqual([['onetwo'], ['sent 6']]);
});

it('waits for a write that the kernel has not taken, and changes none of its bytes', () => {
  const { wire, output, put, events } = make();
  wire.takes = false;
  put('first');
  output.flush();
  put('second');
  output.flush();
  expect([wire.writes, output.isBlocked, output.backlog]).toEqual([[], true, 6]);
  wire.takes = true;
  wire.take();
  expect(wire.writes).toEqual(['first']);
  output.flush();
  expect([wire.writes, output.isBlocked]).toEqual([['first', 'second'], false]);
  expect(events).toEqual(['sent 5', 'room', 'sent 6']);
});

it('uses no buffer again that the kernel still has', () => {
  const { wire, output, put } = make();
  wire.takes = false;
  put('a'.repeat(100));
  output.flush();
  const other = make();
  other.put('b'.repeat(100));
  other.output.flush();
  wire.take();
  expect(wire.writes).toEqual(['a'.repeat(100)]);
});

it('has room for a head that is larger than its buffers, between others in order', () => {
  const { wire, output, put } = make();
  put('first');
  put('x'.repeat(200_000));
  put('last');
  output.flush();
  expect(wire.writes).toEqual([`first${'x'.repeat(200_000)}last`]);
});

it('has no more room for bodies than a write has', () => {
  const { output, put } = make();
  const all = output.bodyRoom;
  put('x'.repeat(1000));
  expect(output.bodyRoom).toBe(all - 1000);
  put('x'.repeat(all - 1000));
  expect(output.bodyRoom).toBe(0);
});

it('lends bytes between its own, in parts, and holds them until the kernel has all of the write', () => {
  const { wire, output, put, events } = make();
  let holds = 0;
  const stored = new Piece([Buffer.from('abcd'), Buffer.from('efgh')], {
    hold: () => void holds++,
    release: () => void holds--,
  });
  wire.takes = false;
  put('<');
  output.lend(stored, 2, 4);
  put('>');
  output.lend(stored, 0, 1);
  expect([output.backlog, holds]).toEqual([7, 2]);
  output.flush();
  expect([output.backlog, holds, events]).toEqual([0, 2, ['sent 7']]);
  put('x');
  wire.take();
  expect([wire.writes, holds]).toEqual([['<cdef>a'], 0]);
});

it('releases what it has lent when it gives up', () => {
  const { output, put } = make();
  let holds = 0;
  const stored = new Piece([Buffer.from('abcd')], { hold: () => void holds++, release: () => void holds-- });
  put('<');
  output.lend(stored, 0, 4);
  output.drop();
  expect([output.backlog, holds]).toEqual([0, 0]);
});

it('counts lent bytes as those of the write', () => {
  const { output } = make();
  const all = output.bodyRoom;
  output.lend(own(Buffer.alloc(100_000)), 0, 100_000);
  expect(output.bodyRoom).toBe(all - 100_000);
});
