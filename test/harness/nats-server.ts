// A nats-server with JetStream for tests: on a free port, the same again when it is started again, with its store below the
// sandbox.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, credsAuthenticator } from '@nats-io/transport-node';
import { freePort } from './origin.ts';
import { type Daemon, findProgram, type Sandbox, until } from './processes.ts';

/** Where Debian has it. */
const PROGRAM = findProgram('nats-server') ?? '/usr/sbin/nats-server';
export const NATS_MISSING = existsSync(PROGRAM) ? null : 'nats-server is not installed';

export class NatsServer {
  readonly port: number;
  readonly name: string;
  private readonly box: Sandbox;
  private readonly config: readonly string[];
  private daemon: Daemon | null = null;
  private readonly store: string;
  private readonly ports: string;

  private constructor(box: Sandbox, port: number, name: string, args: readonly string[]) {
    this.box = box;
    this.port = port;
    this.name = name;
    this.config = args;
    this.store = box.path(`${name}-store`);
    this.ports = box.path(`${name}-ports`);
  }

  /** @param args further arguments of the server */
  static async start(box: Sandbox, name = 'nats', args: readonly string[] = []): Promise<NatsServer> {
    const server = new NatsServer(box, await freePort(), name, args);
    await server.start();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Starts it, again on its port and over its store. */
  async start(): Promise<void> {
    const { ports } = this;
    rmSync(ports, { recursive: true, force: true });
    mkdirSync(ports);
    const args = [
      '-js',
      '-sd',
      this.store,
      '-a',
      '127.0.0.1',
      '-p',
      String(this.port),
      '--ports_file_dir',
      ports,
    ];
    this.daemon = this.box.start(this.name, PROGRAM, [...args, ...this.config]);
    const { daemon } = this;
    await until(`${this.name} listens`, async () => {
      if (!daemon.running) throw new Error(`nats-server ended: ${daemon.stderr}`);
      const [file] = readdirSync(ports);
      if (file === undefined) return null;
      return readFileSync(`${ports}/${file}`, 'utf8').includes(`:${this.port}"`);
    });
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.daemon?.child.kill(signal);
    await this.daemon?.ended;
  }

  /** A client of the test's own. @param creds content of a creds file */
  client(creds?: Uint8Array): ReturnType<typeof connect> {
    const authenticator = creds === undefined ? {} : { authenticator: credsAuthenticator(creds) };
    return connect({ servers: this.url, ...authenticator });
  }
}

/** Three servers that keep what they have in three copies. They name one another to no client, who could go round a relay. */
export async function startCluster(box: Sandbox): Promise<NatsServer[]> {
  const ports = await Promise.all([0, 1, 2].map(freePort));
  const routes = ports.map((port) => `nats://127.0.0.1:${port}`).join(',');
  return Promise.all(
    ports.map((port, i) =>
      NatsServer.start(box, `nats-${i}`, [
        ...['-n', `nats-${i}`, '--cluster_name', 'test', '--routes', routes],
        ...['--cluster', `nats://127.0.0.1:${port}`, '--no_advertise'],
      ]),
    ),
  );
}
