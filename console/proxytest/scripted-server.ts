// A scripted server: one connection at a time, or with -dispatch any number beside each other.

import { existsSync, unlinkSync } from 'node:fs';
import type { Socket } from 'node:net';
import { Task } from './actor.ts';
import { Entity } from './entity.ts';
import { HTTP_COMMANDS } from './http-commands.ts';
import { HttpPeer } from './http-peer.ts';
import { runSpec } from './interpreter.ts';
import { Session } from './peer-session.ts';
import type { Spec, Words } from './script.ts';
import { addressText, isPath, type Listening, listen, readAddress } from './socket-addresses.ts';

const BACKLOG = 10;

export class ScriptedServer extends Entity {
  readonly session = new Session();
  /** The address of -listen; with its port once it listens. */
  address = '127.0.0.1:0';
  host = '';
  port = '';
  #spec: Spec = { text: '', file: '', line: 0 };
  #listening: Listening | null = null;
  #task: Task | null = null;
  #hasStarted = false;
  /** Accepted connections that are not served yet. */
  #accepted: Socket[] = [];
  #wake: (() => void) | null = null;
  /** Of a dispatching server, by their names: s1, s2, … */
  readonly connections = new Map<string, Task>();

  async #open(): Promise<void> {
    this.#close();
    const address = readAddress(this.address);
    if (address.kind === 'unix' && address.path.startsWith('/') && existsSync(address.path))
      unlinkSync(address.path);
    try {
      this.#listening = await listen(address, BACKLOG, (socket) => {
        this.#accepted.push(socket);
        this.#wake?.();
      });
    } catch (cause) {
      this.fail(`Server listen address (${this.address}) cannot be resolved: ${(cause as Error).message}`);
    }
    ({ host: this.host, port: this.port } = this.#listening);
    if (!isPath(this.address)) this.address = addressText(this.host, this.port);
    this.define('addr', this.host);
    this.define('port', this.port);
    this.define('sock', isPath(this.address) ? this.address : addressText(this.host, this.port));
    this.log(1, `Listen on ${this.address}`);
  }

  #close(): void {
    this.#listening?.server.close();
    this.#listening = null;
    for (const socket of this.#accepted) socket.destroy();
    this.#accepted = [];
  }

  /** The next connection. */
  async accept(): Promise<Socket> {
    for (;;) {
      const socket = this.#accepted.shift();
      if (socket !== undefined) {
        this.log(3, 'accepted a connection');
        return socket;
      }
      await this.until(
        new Promise<void>((resolve) => {
          this.#wake = resolve;
        }),
      );
    }
  }

  #peer(who: string, socket: Socket, spec: Spec): HttpPeer {
    const peer = new HttpPeer(this.stage, who, this.signal, socket, {
      isServer: true,
      path: isPath(this.address) ? this.address : null,
      commands: HTTP_COMMANDS,
      accept: () => this.accept(),
    });
    peer.place = { file: spec.file, line: spec.line };
    return peer;
  }

  async #start(): Promise<void> {
    await this.#open();
    this.#hasStarted = true;
    const [spec, { repeat, keepAlive }] = [this.#spec, this.session];
    this.#task = new Task(this, () => this.#run(spec, repeat, keepAlive));
  }

  async #run(spec: Spec, repeat: number, keepAlive: boolean): Promise<void> {
    let peer: HttpPeer | null = null;
    for (let i = 0; i < repeat; i++) {
      peer ??= this.#peer(this.who, await this.accept(), spec);
      const played: HttpPeer = peer;
      await this.session.play(played, () => runSpec(played, spec, HTTP_COMMANDS));
      if (!keepAlive) {
        peer.wire.close();
        peer = null;
      }
      this.check();
    }
    peer?.wire.close();
    this.log(2, 'Ending');
  }

  async #dispatch(): Promise<void> {
    if (this.who !== 's0') this.fail('server -dispatch only works on s0');
    await this.#open();
    this.#hasStarted = true;
    this.#task = new Task(this, async () => {
      for (let number = 1; ; number++) {
        const socket = await this.accept();
        const peer = this.#peer(`s${number}`, socket, this.#spec);
        const play = async (): Promise<void> => {
          await this.session.play(peer, () => runSpec(peer, this.#spec, HTTP_COMMANDS));
          peer.wire.close();
        };
        this.connections.set(peer.who, new Task(peer, play));
      }
    });
  }

  /** Ends it at once. */
  async cancel(): Promise<void> {
    await this.#task?.cancel();
    this.#task = null;
    this.#hasStarted = false;
    this.renew();
    this.#close();
  }

  async end(): Promise<void> {
    await this.cancel();
    for (const task of this.connections.values()) await task.cancel();
  }

  async wait(): Promise<void> {
    await this.#task?.done;
    this.#task = null;
    this.#hasStarted = false;
  }

  async command(words: Words): Promise<void> {
    while (!words.isDone) {
      if (words.takeIf('-wait')) {
        if (!this.#hasStarted) this.fail('Server not -started');
        await this.wait();
        continue;
      }
      if (words.takeIf('-break')) {
        await this.cancel();
        continue;
      }
      // A server ends before it gets new commands.
      if (this.#hasStarted) await this.wait();
      if (this.session.takeOption(words)) continue;
      if (words.takeIf('-listen')) {
        this.#close();
        this.address = words.take('address');
      } else if (words.takeIf('-start')) await this.#start();
      else if (words.takeIf('-dispatch')) await this.#dispatch();
      else if (words.peek()?.startsWith('-')) this.fail(`Unknown server argument: ${words.peek()}`);
      else this.#spec = words.takeSpec('commands');
    }
  }
}
