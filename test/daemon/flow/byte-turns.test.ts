// How much of the bodies that are being sent goes to the kernel in one turn, and whose.

import { describe, expect, it } from 'vitest';
import { ByteTurns, type InTurn } from '../../../daemon/flow/byte-turns.ts';

const SLICE = 64 * 1024;

/** Turns of an event loop that advances on demand, and the bytes sent in each. */
class Loop {
  readonly turns: ByteTurns;
  readonly sent: string[][] = [[]];
  private deferred: (() => void)[] = [];

  constructor() {
    this.turns = new ByteTurns((run) => this.deferred.push(run));
  }

  /** Everything that was deferred so far. */
  pass(): boolean {
    const runs = this.deferred;
    this.deferred = [];
    if (runs.length === 0) return false;
    this.sent.push([]);
    for (const run of runs) run();
    return true;
  }

  body(name: string, slices: number, bytes = SLICE): Body {
    return new Body(this, name, slices, bytes);
  }
}

class Body implements InTurn {
  private readonly loop: Loop;
  private readonly name: string;
  private readonly bytes: number;
  private left: number;

  constructor(loop: Loop, name: string, slices: number, bytes: number) {
    this.loop = loop;
    this.name = name;
    this.left = slices;
    this.bytes = bytes;
  }

  turn(): void {
    this.send();
    this.pump();
  }

  pump(): void {
    while (this.left > 0 && this.loop.turns.enter(this)) this.send();
  }

  private send(): void {
    if (this.left === 0) return;
    this.left--;
    this.loop.sent.at(-1)?.push(this.name);
    this.loop.turns.spent(this.bytes);
  }
}

describe('ByteTurns', () => {
  it('lets a body that is alone go at once, up to the bound of a turn', () => {
    const loop = new Loop();
    loop.body('a', 40).pump();
    while (loop.pass());
    expect(loop.sent.map((turn) => turn.length)).toEqual([16, 16, 8, 0]);
  });

  it('bounds a turn however many begin in it, and serves them one after another', () => {
    const loop = new Loop();
    const names = Array.from({ length: 100 }, (_, i) => `b${i}`);
    for (const name of names) loop.body(name, 3).pump();
    while (loop.pass());
    for (const turn of loop.sent) expect(turn.length).toBeLessThanOrEqual(16);
    const all = loop.sent.flat();
    expect(all.length).toBe(300);
    // No third slice for anyone before everyone has one.
    const first = names.map((name) => all.indexOf(name));
    const third = names.map((name) => all.lastIndexOf(name));
    expect(Math.max(...first.slice(16))).toBeLessThan(Math.min(...third.slice(16)));
  });

  it('bounds a turn of pieces that are small, too', () => {
    const loop = new Loop();
    for (let i = 0; i < 5000; i++) loop.body(`b${i}`, 1, 10).pump();
    while (loop.pass());
    expect(loop.sent.flat().length).toBe(5000);
    expect(Math.max(...loop.sent.map((turn) => turn.length))).toBeLessThanOrEqual(128);
  });

  it('does not run when there is nothing to send', () => {
    const loop = new Loop();
    loop.body('a', 1).pump();
    expect(loop.pass()).toBe(true);
    expect(loop.pass()).toBe(false);
  });

  it('passes over one that has ended meanwhile', () => {
    const loop = new Loop();
    loop.body('a', 16).pump();
    const gone = loop.body('gone', 0);
    expect(loop.turns.enter(gone)).toBe(false);
    loop.body('b', 2).pump();
    while (loop.pass());
    expect(loop.sent.flat().filter((name) => name === 'b')).toHaveLength(2);
  });
});
