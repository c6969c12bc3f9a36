// The contract of a flow: what each end may do when, how it ends, and what the debug mode asserts.
import { describe, expect, it } from 'vitest';
import { type Abort, Flow, type Room, type Sink, type Source } from '../../../daemon/flow/flow.ts';
import { type AnyPiece, joined, LentPiece, NOTHING, own, Piece } from '../../../daemon/flow/piece.ts';
import { bytesOf, Taker, textOf } from './flow-ends.ts';

/** A source that is driven by the test. */
class Driven implements Source<AnyPiece> {
  readonly calls: string[] = [];
  sink: Sink<AnyPiece> | null = null;

  start(sink: Sink<AnyPiece>): void {
    this.sink = sink;
    sink.connect(this);
  }

  room(): void {
    this.calls.push('room');
  }

  stop(reason: Abort): void {
    this.calls.push(reason);
  }

  write(text: string): Room {
    return (this.sink as Sink<AnyPiece>).write(bytesOf(text));
  }

  end(text = ''): Room {
    return (this.sink as Sink<AnyPiece>).end(text === '' ? NOTHING : bytesOf(text));
  }
}

function flowing(takes = true) {
  const source = new Driven();
  const sink = new Taker();
  sink.takes = takes;
  const outcomes: (Abort | null)[] = [];
  const flow = new Flow<AnyPiece>(source, sink, true, (reason) => outcomes.push(reason));
  flow.start();
  return { source, sink, flow, outcomes };
}

describe('a flow', () => {
  it('passes pieces on as long as the sink has room, and is over when it has taken the last', () => {
    const { source, sink, flow, outcomes } = flowing();
    expect([source.write('a'), source.write('b'), source.end('c')]).toEqual(['more', 'more', 'more']);
    expect([sink.got, sink.outcome, outcomes, flow.state, source.calls]).toEqual([
      ['a', 'b', 'c'],
      'end',
      [null],
      'ended',
      [],
    ]);
  });

  it('calls room() of its source once, and ends only when the last piece was taken', () => {
    const { source, sink, flow, outcomes } = flowing(false);
    expect([source.write('a'), flow.state]).toEqual(['wait', 'full']);
    sink.writer?.room();
    expect([source.calls, flow.state]).toEqual([['room'], 'open']);
    expect([source.end('b'), flow.state, outcomes]).toEqual(['wait', 'ending', []]);
    sink.writer?.room();
    expect([source.calls, flow.state, outcomes]).toEqual([['room'], 'ended', [null]]);
  });

  it.each(['storage', 'left'] as const)('ends at both ends by the same reason: %s', (reason) => {
    const one = flowing();
    one.sink.writer?.stop(reason);
    expect([one.source.calls, one.outcomes, one.source.write(''), one.flow.state]).toEqual([
      [reason],
      [reason],
      'wait',
      'aborted',
    ]);
    const two = flowing();
    (two.source.sink as Sink<AnyPiece>).abort(reason);
    expect([two.sink.outcome, two.outcomes]).toEqual([reason, [reason]]);
    const three = flowing(false);
    three.source.write('a');
    three.flow.cancel(reason);
    three.flow.cancel(reason);
    three.sink.writer?.room();
    expect([three.source.calls, three.sink.outcome, three.outcomes]).toEqual([[reason], reason, [reason]]);
  });

  it('is no failure when the sink has enough', () => {
    const { source, sink, flow, outcomes } = flowing();
    sink.writer?.stop('enough');
    expect([source.calls, outcomes, flow.state]).toEqual([['enough'], [null], 'ended']);
  });

  it('is held to the contract in the debug mode', () => {
    const full = flowing(false);
    full.source.write('a');
    expect(() => full.source.write('b')).toThrow('bytes in a flow that is full');
    expect(() => full.source.end('b')).toThrow('an end in a flow that is full');
    const open = flowing();
    expect(() => open.sink.writer?.room()).toThrow('room in a flow that is open');
    open.source.end();
    expect(() => open.source.write('late')).toThrow('bytes in a flow that is ended');
  });

  it('lets a source of lent bytes write the rest of its read', () => {
    const { source, sink, outcomes } = flowing(false);
    const read = Buffer.from('abc');
    const into = source.sink as Sink<AnyPiece>;
    into.write(new LentPiece(read, 0, 1));
    expect(into.write(new LentPiece(read, 1, 3))).toBe('wait');
    into.end(NOTHING);
    sink.writer?.room();
    expect([sink.got, outcomes]).toEqual([['a', 'bc'], [null]]);
  });
});

describe('a piece', () => {
  it('holds what it was made of, as do its cuts and what it is joined to', () => {
    let holds = 0;
    const holder = { hold: () => void holds++, release: () => void holds-- };
    const piece = new Piece([Buffer.from('abcdef')], holder);
    const both = joined(own(Buffer.from('>')), piece);
    const cut = piece.cut(1, 3);
    expect([textOf(cut), textOf(both), both.length, cut.length]).toEqual(['bc', '>abcdef', 7, 2]);
    cut.hold();
    both.hold();
    new Piece([Buffer.from('x')], both).hold();
    expect(holds).toBe(3);
    cut.release();
    both.release();
    both.release();
    expect([holds, textOf(NOTHING.cut(0, 0))]).toEqual([0, '']);
  });
});
