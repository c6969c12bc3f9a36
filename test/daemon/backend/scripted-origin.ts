// An origin that does exactly what a test says: each connection runs the script, with the bytes received so far.

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

export class ScriptedOrigin {
  readonly sockets: Socket[] = [];
  /** Bytes received, a string a connection. */
  readonly received: string[] = [];
  private readonly server: Server;
  private waiting: (() => void)[] = [];

  private constructor(script: (socket: Socket, received: string, index: number) => void) {
    this.server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      const index = this.sockets.push(socket) - 1;
      this.received.push('');
      socket.on('error', () => {});
      socket.on('data', (bytes) => {
        this.received[index] += bytes.toString('latin1');
        script(socket, this.received[index] as string, index);
        this.wake();
      });
      socket.on('close', () => this.wake());
      socket.on('end', () => this.wake());
      this.wake();
    });
  }

  static async start(
    script: (socket: Socket, received: string, index: number) => void,
  ): Promise<ScriptedOrigin> {
    const origin = new ScriptedOrigin(script);
    await new Promise<void>((done) => origin.server.listen(0, '127.0.0.1', done));
    return origin;
  }

  /** Answers every complete head with the same bytes. */
  static answering(response: string): Promise<ScriptedOrigin> {
    return ScriptedOrigin.start((socket, received) => {
      if (received.endsWith('\r\n\r\n')) socket.write(Buffer.from(response, 'latin1'));
    });
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Resolves once `condition` holds; looks again whenever something happens on a connection. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((done) => {
      const look = (): void => {
        if (condition()) done();
        else this.waiting.push(look);
      };
      look();
    });
  }

  stop(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  private wake(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const look of waiting) look();
  }
}
