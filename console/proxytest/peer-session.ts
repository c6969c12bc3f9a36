// Shared by clients and servers: options, and playing the script over one connection.

import type { HttpPeer } from './http-peer.ts';
import { readInteger, type Words } from './script.ts';

export class Session {
  repeat = 1;
  keepAlive = false;

  /** Takes an option that both have; false if the next word is none. */
  takeOption(words: Words): boolean {
    if (words.takeIf('-repeat')) this.repeat = readInteger(words.take('number'));
    else if (words.takeIf('-keepalive')) this.keepAlive = true;
    // The runtime cannot set it; what is not read stays in the kernel as far as it goes.
    else if (words.takeIf('-rcvbuf')) words.take('size');
    else return false;
    return true;
  }

  /** Carries out the commands of one connection. After a failure the connection stays open and silent until the test ends. */
  async play(peer: HttpPeer, run: () => Promise<void>): Promise<void> {
    try {
      await run();
      await peer.http2?.finish();
      peer.http2 = null;
    } catch (cause) {
      peer.http2?.abort();
      throw cause;
    }
  }
}
