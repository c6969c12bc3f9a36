// A tunnel between a peer and another: it passes bytes on, can be paused, and then let a number of bytes through.

import type { Socket } from 'node:net';
import { type Commands, Task } from './actor.ts';
import { Entity } from './entity.ts';
import { runSpec } from './interpreter.ts';
import { macro } from './macros.ts';
import { readInteger, type Spec, type Words } from './script.ts';
import { addressText, dial, type Listening, listen, readAddress } from './socket-addresses.ts';
import { Wire, type WireEnd } from './wire.ts';

const PIECE = 1024;
/** Longer than any test. */
const READ_SECONDS = 86_400;

/** One direction. */
interface Lane {
  readonly from: Wire;
  readonly to: Wire;
  /** Bytes that may still pass while the tunnel is paused. */
  allowed: number;
  isOpen: boolean;
}

export class Tunnel extends Entity {
  #listen = '127.0.0.1:0';
  #connect = macro('v1_sock');
  #spec: Spec = { text: '', file: '', line: 0 };
  #listening: Listening | null = null;
  #accepted: Socket | null = null;
  #state: 'stopped' | 'accepting' | 'running' | 'paused' = 'stopped';
  #lanes: readonly [Lane, Lane] | null = null;
  #tasks: Task[] = [];
  #wake: (() => void)[] = [];

  #changed(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const each of wake) each();
  }

  #change(): Promise<void> {
    return this.until(new Promise<void>((resolve) => this.#wake.push(resolve)));
  }

  async #start(isPaused: boolean): Promise<void> {
    this.#listening?.server.close();
    this.#listening = await listen(readAddress(this.#listen), 1, (socket) => {
      if (this.#accepted !== null) socket.destroy();
      else this.#accepted = socket;
      this.#changed();
    });
    const { host, port } = this.#listening;
    this.define('addr', host);
    this.define('port', port);
    this.define('sock', addressText(host, port));
    this.#state = 'accepting';
    this.#accepted = null;
    const spec = this.#spec;
    this.#tasks = [new Task(this, () => this.#run(spec, isPaused))];
  }

  async #run(spec: Spec, isPaused: boolean): Promise<void> {
    while (this.#accepted === null) await this.#change();
    const address = this.stage.expand(this.#connect);
    const other = await this.until(dial(readAddress(address), 10)).catch((cause: Error) =>
      this.fail(`Failed to open ${address}: ${cause.message}`),
    );
    const [here, there] = [new Wire(this, this.#accepted), new Wire(this, other)];
    const lane = (from: Wire, to: Wire): Lane => ({ from, to, allowed: 0, isOpen: true });
    this.#lanes = [lane(here, there), lane(there, here)];
    this.#state = isPaused ? 'paused' : 'running';
    const copies = this.#lanes.map((each) => new Task(this, () => this.#copy(each)));
    await runSpec(this, spec, TUNNEL_COMMANDS);
    if (this.#state === 'paused') this.#state = 'running';
    this.#changed();
    await Promise.all(copies.map(({ done }) => done));
    here.close();
    there.close();
    this.log(2, 'Ending');
  }

  /** Both directions end with one. */
  async #copy(lane: Lane): Promise<void> {
    // A read that has begun continues while the tunnel is paused; its bytes are kept.
    let reading: Promise<Buffer | WireEnd> | null = null;
    let held: Buffer | null = null;
    while (this.#isOpen) {
      const most = this.#state !== 'paused' ? PIECE : Math.min(PIECE, lane.allowed);
      if (most === 0) await this.#change();
      else if (held === null) {
        reading ??= lane.from.read(PIECE, READ_SECONDS);
        const data: Buffer | WireEnd | null = await Promise.race([reading, this.#change().then(() => null)]);
        if (data === null) continue;
        reading = null;
        if (typeof data === 'string') this.#closed(lane);
        else held = data;
      } else {
        const data: Buffer = held.subarray(0, most);
        held = data.length < held.length ? held.subarray(data.length) : null;
        if ((await lane.to.write(data)) !== null) this.#closed(lane);
        lane.allowed = Math.max(0, lane.allowed - data.length);
        this.#changed();
      }
    }
  }

  #closed(lane: Lane): void {
    lane.isOpen = false;
    this.#changed();
  }

  get #isOpen(): boolean {
    return this.#lanes?.every(({ isOpen }) => isOpen) ?? false;
  }

  #mustBeOpen(): void {
    if (!this.#isOpen) this.fail('Tunnel already closed');
  }

  pause(): void {
    this.#mustBeOpen();
    if (this.#state === 'paused') this.fail('Tunnel already paused');
    this.#state = 'paused';
    this.#changed();
  }

  resume(): void {
    this.#mustBeOpen();
    if (this.#state !== 'paused') this.fail('Tunnel already running');
    this.#state = 'running';
    this.#changed();
  }

  /** @param index 0 for what the accepted side sends */
  async move(index: 0 | 1, bytes: number): Promise<void> {
    this.#mustBeOpen();
    if (this.#state !== 'paused') this.fail('Tunnel still running');
    const lane = this.#lanes?.[index] as Lane;
    lane.allowed = bytes;
    this.#changed();
    while (lane.allowed > 0) {
      if (!this.#isOpen) this.fail('Tunnel closed while in use');
      await this.#change();
    }
  }

  async #wait(): Promise<void> {
    for (const { done } of this.#tasks) await done;
    this.#tasks = [];
    this.#state = 'stopped';
    this.#listening?.server.close();
    this.#listening = null;
  }

  async command(words: Words): Promise<void> {
    while (!words.isDone) {
      if (words.takeIf('-wait')) {
        if (this.#state === 'stopped') this.fail('Tunnel not -started');
        await this.#wait();
        continue;
      }
      if (this.#state !== 'stopped') await this.#wait();
      if (words.takeIf('-connect')) this.#connect = words.take('address');
      else if (words.takeIf('-listen')) this.#listen = words.take('address');
      else if (words.takeIf('-start')) await this.#start(false);
      else if (words.takeIf('-start+pause')) await this.#start(true);
      else if (words.peek()?.startsWith('-')) this.fail(`Unknown tunnel argument: ${words.peek()}`);
      else this.#spec = words.takeSpec('commands');
    }
  }

  async end(): Promise<void> {
    this.#listening?.server.close();
    for (const task of this.#tasks) await task.cancel();
    for (const lane of this.#lanes ?? []) lane.from.close();
  }
}

const TUNNEL_COMMANDS: Commands<Tunnel> = {
  pause: (tunnel) => tunnel.pause(),
  resume: (tunnel) => tunnel.resume(),
  send: (tunnel, words) => tunnel.move(0, readInteger(words.take('number of bytes'), 10)),
  recv: (tunnel, words) => tunnel.move(1, readInteger(words.take('number of bytes'), 10)),
};
