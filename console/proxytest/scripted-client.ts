// A scripted client: its specification runs beside the rest of the script.

import type { Socket } from 'node:net';
import { Task } from './actor.ts';
import { Entity } from './entity.ts';
import { HTTP_COMMANDS } from './http-commands.ts';
import { HttpPeer } from './http-peer.ts';
import { runSpec } from './interpreter.ts';
import { macro } from './macros.ts';
import { Session } from './peer-session.ts';
import { proxyHeader } from './proxy-preamble.ts';
import type { Spec, Words } from './script.ts';
import { dial, isPath, readAddress } from './socket-addresses.ts';

const CONNECT_SECONDS = 10;

export class ScriptedClient extends Entity {
  readonly session = new Session();
  #connect = macro('v1_sock');
  #proxy: { version: 1 | 2; text: string } | null = null;
  #spec: Spec = { text: '', file: '', line: 0 };
  #task: Task | null = null;

  async start(): Promise<void> {
    this.log(2, 'Starting client');
    const address = this.stage.expand(this.#connect);
    const [spec, { repeat, keepAlive }] = [this.#spec, this.session];
    this.#task = new Task(this, () => this.#run(address, spec, repeat, keepAlive));
  }

  async #run(address: string, spec: Spec, repeat: number, keepAlive: boolean): Promise<void> {
    let peer: HttpPeer | null = null;
    for (let i = 0; i < repeat; i++) {
      if (peer === null) {
        const socket = await this.#dial(address);
        peer = new HttpPeer(this.stage, this.who, this.signal, socket, {
          isServer: false,
          path: isPath(address) ? address : null,
          commands: HTTP_COMMANDS,
          accept: () => this.fail('a client accepts no connections'),
        });
        peer.place = { file: spec.file, line: spec.line };
        if (this.#proxy !== null) await peer.sendQuietly(proxyHeader(this.#proxy.version, this.#proxy.text));
      }
      await this.session.play(peer, () => runSpec(peer as HttpPeer, spec, HTTP_COMMANDS));
      if (!keepAlive) {
        peer.wire.close();
        peer = null;
      }
      this.check();
    }
    peer?.wire.close();
    this.log(2, 'Ending');
  }

  async #dial(address: string): Promise<Socket> {
    try {
      return await this.until(dial(readAddress(address), CONNECT_SECONDS));
    } catch (cause) {
      this.check();
      return this.fail(`Failed to open ${address}: ${(cause as Error).message}`);
    }
  }

  async wait(): Promise<void> {
    await this.#task?.done;
    this.#task = null;
  }

  async end(): Promise<void> {
    await this.wait();
  }

  async command(words: Words): Promise<void> {
    while (!words.isDone) {
      if (words.takeIf('-wait')) {
        if (this.#task === null) this.fail('Client not -started');
        await this.wait();
        continue;
      }
      await this.wait();
      if (this.session.takeOption(words)) continue;
      if (words.takeIf('-connect')) this.#connect = words.take('address');
      else if (words.takeIf('-proxy1')) this.#proxy = { version: 1, text: words.take('addresses') };
      else if (words.takeIf('-proxy2')) this.#proxy = { version: 2, text: words.take('addresses') };
      else if (words.takeIf('-start')) await this.start();
      else if (words.takeIf('-run')) {
        await this.start();
        await this.wait();
      } else if (words.peek()?.startsWith('-')) this.fail(`Unknown client argument: ${words.peek()}`);
      else this.#spec = words.takeSpec('commands');
    }
  }
}
