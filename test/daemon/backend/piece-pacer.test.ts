// Pieces of many bodies go out a few a turn, each body's in order, and a single body's at once.
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { expect, it } from 'vitest';
import { PiecePacer } from '../../../daemon/backend/piece-pacer.ts';

const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

/** A socket that notes what it is given to send. */
function noting(sent: string[]): Socket {
  return new Duplex({
    write: (bytes: Buffer, _encoding, done) => {
      sent.push(bytes.toString());
      done();
    },
  }) as Socket;
}

it('writes the pieces of one body at once, turn by turn', async () => {
  const sent: string[] = [];
  const pacer = new PiecePacer();
  const socket = noting(sent);
  for (let i = 0; i < 20; i++) {
    expect(pacer.write(socket, Buffer.from(`${i}`))).toBe(true);
    expect(sent.length).toBe(i + 1);
    await turn();
  }
});

it('holds back what is too much for a turn, and keeps the order of each body', async () => {
  const pacer = new PiecePacer();
  const bodies = Array.from({ length: 30 }, () => [] as string[]);
  const sockets = bodies.map(noting);
  for (const piece of ['a', 'b']) {
    for (const socket of sockets) pacer.write(socket, Buffer.from(piece));
  }
  const begun = (): number => bodies.filter((sent) => sent.length > 0).length;
  expect(begun()).toBe(8);
  const turns: number[] = [];
  while (bodies.some((sent) => sent.join('') !== 'ab') && turns.length < 50) {
    await turn();
    turns.push(begun());
  }
  expect(bodies.map((sent) => sent.join(''))).toEqual(new Array(30).fill('ab'));
  for (const [i, count] of turns.entries()) expect(count - (turns[i - 1] ?? 8)).toBeLessThanOrEqual(16);
  expect(turns.length).toBeGreaterThan(1);
  // The next turn has room again.
  const late: string[] = [];
  await turn();
  pacer.write(noting(late), Buffer.from('x'));
  expect(late).toEqual(['x']);
});

it('leaves a socket that has gone alone', async () => {
  const pacer = new PiecePacer();
  const sent: string[] = [];
  const sockets = Array.from({ length: 12 }, () => noting(sent));
  for (const socket of sockets) pacer.write(socket, Buffer.from('x'));
  sockets[10]?.destroy();
  await turn();
  await turn();
  expect(sent.length).toBe(11);
});
