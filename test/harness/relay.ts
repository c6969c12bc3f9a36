// A relay in front of a TCP server that can stall, like a process stopped with SIGSTOP: connections stay open, new
// ones are accepted, and nothing passes until it resumes.
import { connect, createServer, type Server, type Socket } from 'node:net';

export class Relay {
  port = 0;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private silent = false;

  private constructor(to: () => number) {
    this.server = createServer((client) => {
      const upstream = connect(to(), '127.0.0.1');
      for (const [socket, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        this.sockets.add(socket);
        if (this.silent) socket.pause();
        socket.on('data', (bytes) => other.write(bytes));
        socket.on('close', () => {
          this.sockets.delete(socket);
          other.destroy();
        });
        socket.on('error', () => socket.destroy());
        if (this.silent) socket.pause();
      }
    });
  }

  /** @param to gives the port of the server, asked at each connection */
  static async start(to: () => number): Promise<Relay> {
    const relay = new Relay(to);
    await new Promise<void>((resolve) => relay.server.listen(0, '127.0.0.1', resolve));
    relay.port = (relay.server.address() as { port: number }).port;
    return relay;
  }

  stop(): void {
    this.silent = true;
    for (const socket of this.sockets) socket.pause();
  }

  goOn(): void {
    this.silent = false;
    for (const socket of this.sockets) socket.resume();
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
