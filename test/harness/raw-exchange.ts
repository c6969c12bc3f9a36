// One connection of its own for a handful of bytes: sends them, reads until the peer ends, over TCP or a Unix socket.
import { connect } from 'node:net';
import { PATIENCE } from './processes.ts';

export type Place = { port: number } | { path: string };

/** Everything sent by the peer, as latin1. `half` closes this side at once. Rejects after `ms` of silence. */
export function exchange(
  place: Place,
  bytes: Uint8Array | string,
  half = false,
  ms = PATIENCE,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = 'port' in place ? connect(place.port, '127.0.0.1') : connect(place.path);
    const output: Buffer[] = [];
    socket.setTimeout(ms, () => {
      socket.destroy();
      reject(new Error(`no end after ${ms} ms`));
    });
    const end = (): void => {
      socket.destroy();
      resolve(Buffer.concat(output).toString('latin1'));
    };
    socket.on('data', (d: Buffer) => output.push(d));
    socket.on('end', end);
    // A peer that closes with bytes unread resets.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') end();
      else reject(error);
    });
    socket.write(Buffer.from(bytes as string, 'latin1'));
    if (half) socket.end();
  });
}
