// Writes past the queue of a socket.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { writeAtOnce } from '../../daemon/runtime-handles.ts';

const open: { destroy(): void }[] = [];

afterEach(() => {
  for (const each of open.splice(0)) each.destroy();
});

/** Both ends of a connection; the far one does not read yet. */
async function pair(): Promise<{ near: Socket; far: Socket }> {
  const server = createServer({ pauseOnConnect: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[far]] = (await Promise.all([once(server, 'connection'), once(near, 'connect')])) as [
    [Socket],
    unknown,
  ];
  server.close();
  near.on('error', () => undefined);
  far.on('error', () => undefined);
  open.push(near, far);
  return { near, far };
}

/** Reads until there are `length` bytes. */
function read(socket: Socket, length: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let got = 0;
  return new Promise((resolve) => {
    socket.on('data', (part: Buffer) => {
      parts.push(part);
      got += part.length;
      if (got >= length) resolve(Buffer.concat(parts));
    });
    socket.resume();
  });
}

it('is done with what the kernel takes before it returns', async () => {
  const { near, far } = await pair();
  const calls: unknown[] = [];
  writeAtOnce(near, Buffer.from('first '), (error) => calls.push(error ?? null));
  writeAtOnce(near, Buffer.from('second'), (error) => calls.push(error ?? null));
  expect(calls).toEqual([null, null]);
  expect((await read(far, 12)).toString()).toBe('first second');
});

it('keeps what the kernel does not take, of several connections and in order with what comes after it', async () => {
  const pairs = [await pair(), await pair()];
  const length = 32 * 1024 * 1024;
  let isDone = false;
  const writes = pairs.map(
    ({ near }, i) =>
      new Promise<unknown>((resolve) => {
        writeAtOnce(near, Buffer.alloc(length, `${i}`), (error) => {
          isDone = true;
          resolve(error ?? null);
        });
        near.write('after');
      }),
  );
  expect(isDone).toBe(false);
  const all = await Promise.all(pairs.map(({ far }) => read(far, length + 5)));
  expect(await Promise.all(writes)).toEqual([null, null]);
  for (const [i, bytes] of all.entries()) {
    expect(bytes.subarray(0, length).equals(Buffer.alloc(length, `${i}`))).toBe(true);
    expect(bytes.subarray(length).toString()).toBe('after');
  }
});

it('reports a connection that is gone', async () => {
  const { near, far } = await pair();
  const failed = new Promise<NodeJS.ErrnoException>((resolve) => {
    writeAtOnce(near, Buffer.alloc(32 * 1024 * 1024), (error) => resolve(error as NodeJS.ErrnoException));
  });
  far.resetAndDestroy();
  const { code, syscall } = await failed;
  expect(['EPIPE', 'ECONNRESET', 'ECANCELED']).toContain(code);
  expect(syscall).toBe('write');
});
