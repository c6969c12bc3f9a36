// What a session in pipe mode feeds: the other end of the pipe.

export interface PipeTap {
  /** Bytes from the client; the buffer belongs to the receiver. */
  fromClient(bytes: Buffer): void;
  /** The client closed its sending side. */
  clientEnded(): void;
  /** The client's connection is gone. */
  clientLost(): void;
}
