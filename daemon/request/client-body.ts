// A body on its way to the client's connection, in chunks where its length is not known before its end.

import { CHUNK_END, CHUNK_HEAD_MAX, chunkHead, LAST_CHUNK } from '../http1/chunked.ts';
import type { Request } from '../transaction/request.ts';
import type { BodyTarget } from './body-writer.ts';

/** Bytes in one system call: with more the kernel's part costs no less, and others wait longer. */
const A_WRITE = 256 * 1024;

export class ClientBody implements BodyTarget {
  readonly most = A_WRITE;
  private readonly req: Request;
  private readonly chunked: boolean;

  constructor(req: Request, chunked: boolean) {
    this.req = req;
    this.chunked = chunked;
  }

  write(parts: readonly Buffer[], length: number): boolean {
    const { session, core } = this.req;
    core.sendTurns.spent(length);
    if (!this.chunked) return session.writeParts(parts);
    const size = Buffer.allocUnsafe(CHUNK_HEAD_MAX);
    const n = chunkHead(size, 0, length);
    return session.writeParts([size.subarray(0, n), ...parts, CHUNK_END]);
  }

  flush(): void {}

  drained(callback: () => void): void {
    this.req.session.drained(callback);
  }

  end(): void {
    if (this.chunked) this.req.session.write(LAST_CHUNK);
  }
}
