// Barriers: a number of actors must have arrived before any of them continues. A barrier with a socket can be reached from outside, too.

import type { Socket } from 'node:net';
import type { Actor } from './actor.ts';
import { Entity } from './entity.ts';
import { readInteger, type Words } from './script.ts';
import { addressText, dial, type Listening, listen, readAddress } from './socket-addresses.ts';

export class Barrier extends Entity {
  #kind: 'cond' | 'sock' | null = null;
  #expected = 0;
  #waiting = 0;
  #isCyclic = false;
  #isOver = false;
  #wake: (() => void)[] = [];
  #listening: Listening | null = null;
  #sockets: Socket[] = [];

  async #init(kind: 'cond' | 'sock', count: string, by: Actor): Promise<void> {
    if (this.#kind !== null) by.fail(`Barrier(${this.who}) already initialized`);
    const expected = readInteger(count);
    if (expected < 2) by.fail(`Barrier(${this.who}) wrong expectation (${expected})`);
    this.#kind = kind;
    this.#expected = expected;
    if (kind === 'cond') return;
    this.#listening = await listen(readAddress('127.0.0.1:0'), expected, (socket) => this.#arrived(socket));
    const { host, port } = this.#listening;
    this.define('addr', host);
    this.define('port', port);
    this.define('sock', addressText(host, port));
  }

  /** All of them are let go by the end of their connections. */
  #arrived(socket: Socket): void {
    this.#sockets.push(socket);
    this.log(4, `Barrier(${this.who}) wait ${this.#sockets.length} of ${this.#expected}`);
    if (this.#sockets.length < this.#expected) return;
    this.log(4, `Barrier(${this.who}) wake ${this.#expected}`);
    for (const each of this.#sockets) each.destroy();
    this.#sockets = [];
    if (!this.#isCyclic) this.#listening?.server.close();
  }

  async #sync(by: Actor): Promise<void> {
    if (this.#kind === null) by.fail(`Barrier(${this.who}) not initialized`);
    if (this.#kind === 'sock') return this.#syncBySocket(by);
    if (this.#isOver) by.fail(`Barrier(${this.who}) more waiters than the ${this.#expected} expected`);
    this.#waiting++;
    if (this.#waiting < this.#expected) {
      by.log(4, `Barrier(${this.who}) wait ${this.#waiting} of ${this.#expected}`);
      await by.until(new Promise<void>((resolve) => this.#wake.push(resolve)));
      return;
    }
    by.log(4, `Barrier(${this.who}) wake ${this.#expected}`);
    const wake = this.#wake;
    this.#wake = [];
    this.#waiting = 0;
    this.#isOver = !this.#isCyclic;
    for (const each of wake) each();
  }

  async #syncBySocket(by: Actor): Promise<void> {
    let socket: Socket;
    try {
      socket = await by.until(dial(readAddress(this.stage.expand(`\${${this.who}_sock}`)), 10));
    } catch (cause) {
      by.check();
      by.fail(`Barrier(${this.who}) connection failed: ${(cause as Error).message}`);
    }
    try {
      await by.until(
        new Promise<void>((resolve) => {
          socket.once('close', () => resolve());
          socket.once('end', () => resolve());
          socket.resume();
        }),
      );
    } finally {
      socket.destroy();
    }
  }

  command(words: Words): Promise<void> {
    return this.commandBy(this, words);
  }

  /** @param by waits, and fails for what is wrong */
  async commandBy(by: Actor, words: Words): Promise<void> {
    while (!words.isDone) {
      if (words.takeIf('cond')) await this.#init('cond', words.take('number'), by);
      else if (words.takeIf('sock')) await this.#init('sock', words.take('number'), by);
      else if (words.takeIf('sync')) await this.#sync(by);
      else if (words.takeIf('-cyclic')) {
        if (this.#kind === null) by.fail(`Barrier(${this.who}) not initialized`);
        if (this.#waiting > 0 || this.#sockets.length > 0) by.fail(`Barrier(${this.who}) already in use`);
        this.#isCyclic = true;
      } else by.fail(`unknown barrier argument: ${words.peek()}`);
    }
  }

  async end(isGood: boolean): Promise<void> {
    this.#listening?.server.close();
    const left = this.#sockets.length;
    for (const socket of this.#sockets) socket.destroy();
    if (isGood && left > 0) this.fail(`Barrier(${this.who}) has ${left} outstanding waiters`);
  }
}
