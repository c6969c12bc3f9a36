// Hand-over of connections between threads with simulated channels: the recorded number of each thread stays exact
// whatever happens on the way.
import { expect, it } from 'vitest';
import { type HandleChannels, Handover, type PipeHandle } from '../../../daemon/net/handover.ts';
import type { RuntimeHandle } from '../../../daemon/runtime-handles.ts';

type Trouble = 'none' | 'lost' | 'not sent' | 'not connected';

/** Unix sockets within one thread; `trouble` is what happens to what is sent. */
class PlayedChannels {
  trouble: Trouble = 'none';
  private readonly servers = new Map<string, PipeHandle>();
  private readonly opened = new Map<number, PipeHandle>();
  private readonly peers = new Map<PipeHandle, number>();
  private nextFd = 10;

  private pipe(): PipeHandle {
    const fd = this.nextFd++;
    const pipe = {
      fd,
      bind: (path: string) => {
        this.servers.set(path, pipe);
        return 0;
      },
      listen: () => 0,
      open: (accepted: number) => {
        this.opened.set(accepted, pipe);
        return 0;
      },
      readStart: () => 0,
      unref: () => undefined,
      close: () => undefined,
    } as unknown as PipeHandle;
    return pipe;
  }

  readonly channels: HandleChannels = {
    server: () => this.pipe(),
    channel: () => this.pipe(),
    connect: (channel, path, done) => {
      const accepted = this.pipe();
      this.peers.set(channel, accepted.fd as number);
      if (this.trouble !== 'not connected') this.servers.get(path)?.onconnection?.(0, accepted);
      setImmediate(done, this.trouble === 'not connected' ? -111 : 0);
    },
    send: (channel, byte, handle, done) => {
      const peer = this.opened.get(this.peers.get(channel) as number) as PipeHandle;
      if (this.trouble !== 'not sent') {
        peer.pendingHandle = this.trouble === 'lost' ? null : handle;
        peer.onread?.(new Uint8Array([byte]).buffer);
      }
      setImmediate(done, this.trouble === 'not sent' ? -32 : 0);
    },
  };
}

function twoThreads(trouble: Trouble) {
  const played = new PlayedChannels();
  played.trouble = trouble;
  const loads = new Int32Array(new SharedArrayBuffer(8));
  const events: string[] = [];
  const [first] = [0, 1].map((thread) => {
    const handover: Handover = new Handover(
      {
        thread,
        loads,
        take: (listener, _connection, counted) => {
          events.push(`thread ${thread} takes one of listener ${listener}`);
          // As a listener does it: it is counted again when it is a session.
          if (counted) handover.closed();
          handover.opened();
        },
        lost: () => events.push(`thread ${thread} lost one`),
      },
      played.channels,
    );
    return handover;
  }) as [Handover];
  return { first, loads, events, played };
}

const connection = { close: () => undefined } as unknown as RuntimeHandle;
const turns = async (): Promise<void> => {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
};

const CASES: [Trouble, number[], string][] = [
  ['none', [5, 1], 'thread 1 takes one of listener 3'],
  ['lost', [5, 0], 'thread 1 lost one'],
  ['not sent', [6, 0], 'thread 0 takes one of listener 3'],
  ['not connected', [6, 0], 'thread 0 takes one of listener 3'],
];
it.each(CASES)(
  'a connection that is given away counts for who has it: trouble %s',
  async (trouble, left, event) => {
    const { first, loads, events } = twoThreads(trouble);
    first.openWays();
    loads[0] = 5;
    expect(first.giveAway(3, connection)).toBe(true);
    // At once, so that many that come together are spread.
    expect([...loads]).toEqual([5, 1]);
    await turns();
    expect([[...loads], events]).toEqual([left, [event]]);
  },
);

it('a connection stays where there are not more than elsewhere, and after the way has broken', async () => {
  const { first, loads } = twoThreads('not sent');
  first.openWays();
  loads[0] = 1;
  expect(first.giveAway(0, connection)).toBe(false);
  loads[0] = 5;
  expect(first.giveAway(0, connection)).toBe(true);
  await turns();
  expect(first.giveAway(0, connection)).toBe(false);
});

it('a connection stays until all threads listen, and goes then', async () => {
  const { first, loads, events, played } = twoThreads('not connected');
  loads[0] = 5;
  expect(first.giveAway(0, connection)).toBe(false);
  await turns();
  played.trouble = 'none';
  first.openWays();
  await turns();
  expect(first.giveAway(0, connection)).toBe(true);
  expect([[...loads], events]).toEqual([[5, 1], ['thread 1 takes one of listener 0']]);
});
