// A body on its way to the client's connection, in chunks where its length is not known before its end.

import { CHUNK_END, CHUNK_HEAD_MAX, chunkHead, LAST_CHUNK } from '../http1/chunked.ts';
import type { Request } from '../transaction/request.ts';
import type { BodyTarget } from './body-writer.ts';

export class ClientBody implements BodyTarget {
  private readonly req: Request;
  private readonly chunked: boolean;

  constructor(req: Request, chunked: boolean) {
    this.req = req;
    this.chunked = chunked;
  }

  write(bytes: Buffer): boolean {
    const { session, core } = this.req;
    if (this.chunked) {
      const size = Buffer.allocUnsafe(CHUNK_HEAD_MAX);
      const n = chunkHead(size, 0, bytes.length);
      session.socket.cork();
      session.write(size.subarray(0, n));
      session.write(bytes);
      session.write(CHUNK_END);
      session.socket.uncork();
    } else session.write(bytes);
    core.sendTurns.spent(bytes.length);
    return session.socket.writableLength === 0;
  }

  flush(): void {}

  drained(callback: () => void): void {
    this.req.session.drained(callback);
  }

  end(): void {
    if (this.chunked) this.req.session.write(LAST_CHUNK);
  }
}
