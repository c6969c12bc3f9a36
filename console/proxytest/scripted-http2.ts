// HTTP/2 on the connection of a client or server, and its streams: frames are read only while a stream waits for one, so that a
// peer that does not read is one, and go to the stream that they name.

import { Actor, Task } from './actor.ts';
import { type Field, FieldTable, HpackError } from './hpack.ts';
import type { HttpPeer, Layer } from './http-peer.ts';
import { Frame } from './http2-frame.ts';
import { FLAG, FRAME, frameName } from './http2-names.ts';
import type { Spec, Words } from './script.ts';

const FIRST_WINDOW = 0xffff;

/** Reads the frames of one connection. */
class FrameReader extends Actor {}

interface Block {
  readonly stream: Http2Stream;
  readonly isRequest: boolean;
  data: Buffer;
}

export class Http2Connection implements Layer {
  readonly peer: HttpPeer;
  readonly streams: Http2Stream[] = [];
  readonly received = new FieldTable();
  readonly sent = new FieldTable();
  /** First windows of streams, and what is left of the connection's: ours is what the peer may still send. */
  ownFirst = FIRST_WINDOW;
  peerFirst = FIRST_WINDOW;
  ownWindow = FIRST_WINDOW;
  peerWindow = FIRST_WINDOW;
  /** Nothing more will be read. */
  isDead = false;
  lastId = 0;
  #waiting = 0;
  #isOpen = true;
  #wake: (() => void)[] = [];
  #block: Block | null = null;
  readonly #reader: Task;

  constructor(peer: HttpPeer) {
    this.peer = peer;
    const actor = new FrameReader(peer.stage, peer.who, peer.signal);
    this.#reader = new Task(actor, () => this.#read(actor));
  }

  /** Somebody's turn to look again. */
  changed(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const each of wake) each();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  async #read(actor: Actor): Promise<void> {
    try {
      for (;;) {
        while (this.#isOpen && this.#waiting === 0) await actor.until(this.#change());
        if (!this.#isOpen) return;
        const frame = await this.#frame();
        if (frame === null) return;
        actor.log(3, `rx: ${frame.shown}`);
        const stream = await this.#owner(actor, frame);
        if (stream === null) return;
        this.#take(stream, frame);
        stream.queue.push(frame);
        if (stream.isWaiting) {
          stream.isWaiting = false;
          this.#waiting--;
        }
        this.changed();
      }
    } finally {
      this.isDead = true;
      this.changed();
    }
  }

  async #frame(): Promise<Frame | null> {
    const head = await this.#exactly(9);
    if (head === null) {
      this.peer.soft('could not get frame header');
      return null;
    }
    const data = await this.#exactly(head.readUIntBE(0, 3));
    if (data === null) {
      this.peer.soft('could not get frame body');
      return null;
    }
    return new Frame(head[3] as number, head.readUInt32BE(5), head[4] as number, data);
  }

  async #exactly(length: number): Promise<Buffer | null> {
    const parts: Buffer[] = [];
    for (let left = length; left > 0; ) {
      const data = await this.peer.wire.read(left, this.peer.timeout);
      if (typeof data === 'string') {
        this.peer.log(
          3,
          `HTTP2 rx ${data === 'timeout' ? `timeout (${this.peer.timeout.toFixed(3)} s)` : data}`,
        );
        return null;
      }
      parts.push(data);
      left -= data.length;
    }
    return Buffer.concat(parts);
  }

  /** The stream of a frame, once the script has it. */
  async #owner(actor: Actor, frame: Frame): Promise<Http2Stream | null> {
    while (this.#isOpen) {
      const stream = this.streams.find(({ id }) => id === frame.stream);
      if (stream !== undefined) return stream;
      await actor.until(this.#change());
    }
    return null;
  }

  #take(stream: Http2Stream, frame: Frame): void {
    const block = this.#block;
    if (block !== null && (frame.type !== FRAME.CONTINUATION || block.stream !== stream))
      stream.fail(`Expected CONTINUATION frame for stream ${block.stream.id}`);
    const problem = frame.problem();
    if (problem !== null) stream.fail(problem);
    switch (frame.type) {
      case FRAME.DATA: {
        const data = this.#unpadded(stream, frame);
        stream.ownWindow -= data.length;
        this.ownWindow -= data.length;
        if (data.length > 0) stream.body = Buffer.concat([stream.body ?? Buffer.alloc(0), data]);
        break;
      }
      case FRAME.HEADERS:
      case FRAME.PUSH_PROMISE:
        this.#beginBlock(stream, frame);
        break;
      case FRAME.CONTINUATION:
        if (block === null) stream.fail('CONTINUATION without HEADERS');
        block.data = Buffer.concat([block.data, frame.data]);
        this.#endBlock(frame);
        break;
      case FRAME.PRIORITY:
        stream.depend(frame.number(0), frame.data[4] as number);
        break;
      case FRAME.SETTINGS:
        for (const [id, value] of frame.settings) if (id === 1) this.sent.resize(value);
        break;
    }
  }

  #unpadded(stream: Http2Stream, frame: Frame): Buffer {
    const data = frame.unpadded();
    if (typeof data !== 'string') return data;
    stream.log(4, data);
    this.peer.soft(data);
    return Buffer.alloc(0);
  }

  #beginBlock(stream: Http2Stream, frame: Frame): void {
    let data = this.#unpadded(stream, frame);
    const isPush = frame.type === FRAME.PUSH_PROMISE;
    if (isPush) data = data.subarray(4);
    else if (frame.has(FLAG.PRIORITY) && data.length >= 5) {
      stream.depend(data.readUInt32BE(0), data[4] as number);
      data = data.subarray(5);
    }
    this.#block = { stream, isRequest: isPush || this.peer.isServer, data };
    this.#endBlock(frame);
  }

  #endBlock(frame: Frame): void {
    const block = this.#block;
    if (block === null || !frame.has(FLAG.END_HEADERS)) return;
    this.#block = null;
    let fields: Field[] = [];
    try {
      fields = this.received.decode(block.data);
    } catch (cause) {
      if (!(cause instanceof HpackError)) throw cause;
      this.peer.soft(`Header decoding failed: ${cause.message}`);
    }
    if (block.isRequest) block.stream.req = fields;
    else block.stream.resp = fields;
    for (const [i, [name, value]] of fields.entries())
      block.stream.log(4, `header[${String(i).padStart(2)}]: ${name}: ${value}`);
  }

  /** The next frame of a stream; null once nothing will come. */
  async next(stream: Http2Stream): Promise<Frame | null> {
    if (stream.queue.length === 0 && !this.isDead) {
      stream.isWaiting = true;
      this.#waiting++;
      this.changed();
      while (stream.queue.length === 0 && !this.isDead) await stream.until(this.#change());
    }
    return stream.queue.shift() ?? null;
  }

  async send(stream: Http2Stream, frame: Frame): Promise<void> {
    stream.log(3, `tx: ${frame.shown}`);
    if (frame.type === FRAME.DATA) {
      stream.peerWindow -= frame.data.length;
      this.peerWindow -= frame.data.length;
    }
    await this.peer.sendQuietly(frame.bytes());
  }

  /** Back to bytes: waits for the streams. */
  async finish(): Promise<void> {
    for (const stream of this.streams) await stream.wait();
    this.#isOpen = false;
    this.changed();
    // It may be amid a frame that nobody waits for.
    this.#reader.actor.stop();
    await this.#reader.done;
  }

  abort(): void {
    this.#isOpen = false;
    this.#reader.actor.stop();
    for (const stream of this.streams) stream.stop();
    this.changed();
  }
}

/** One stream of a script. The commands are in stream-commands.ts. */
export class Http2Stream extends Actor {
  readonly connection: Http2Connection;
  readonly name: string;
  readonly id: number;
  queue: Frame[] = [];
  isWaiting = false;
  /** The last frame that a command has received. */
  frame: Frame | null = null;
  ownWindow: number;
  peerWindow: number;
  req: Field[] = [];
  resp: Field[] = [];
  body: Buffer | null = null;
  dependency = 0;
  weight = 16;
  /** Its commands, as the script has given them last. */
  spec: Spec = { text: '', file: '', line: 0 };
  #task: Task | null = null;

  constructor(connection: Http2Connection, name: string) {
    super(connection.peer.stage, `${connection.peer.who}.${name}`, connection.peer.signal);
    this.connection = connection;
    this.name = name;
    this.place = connection.peer.place;
    this.id = this.number(name, 'stream', 31);
    this.ownWindow = connection.ownFirst;
    this.peerWindow = connection.peerFirst;
    connection.lastId = this.id;
    connection.streams.push(this);
    connection.changed();
  }

  /** A whole number as C writes it, of this many bits. */
  number(text: string, what: string, bits = 32): number {
    const value = /^0[0-7]+$/.test(text)
      ? Number.parseInt(text, 8)
      : /^(?:0x[0-9a-f]+|\d+)$/i.test(text)
        ? Number(text)
        : -1;
    if (value < 0) this.fail(`${what} takes an integer as argument (found ${text})`);
    if (value >= 2 ** bits) this.fail(`${what} must be a ${bits}-bits integer (found ${text})`);
    return value;
  }

  start(run: () => Promise<void>): void {
    this.log(2, 'Starting stream');
    this.#task = new Task(this, run);
  }

  async wait(): Promise<void> {
    const task = this.#task;
    if (task === null) return;
    await task.done;
    this.#task = null;
    this.queue = [];
    this.frame = null;
  }

  /** @param parent with the bit of exclusive dependence */
  depend(parent: number, weight: number): void {
    this.dependency = parent & 0x7fffffff;
    this.weight = weight;
    if (parent >>> 31 === 0 || this.id === 0) return;
    // Whatever depended on the same stream depends on this one from now on.
    for (const other of this.connection.streams)
      if (other !== this && other.dependency === this.dependency) other.dependency = this.id;
  }

  next(): Promise<Frame | null> {
    return this.connection.next(this);
  }

  /** The next frame, of this type; null once nothing will come. */
  async want(type: number, command: string, count = 0): Promise<Frame | null> {
    const frame = await this.next();
    if (frame !== null && frame.type !== type)
      this.fail(
        `Frame #${count} for ${command} was of type ${frameName(frame.type)} (${frame.type}) instead of ${frameName(type)} (${type})`,
      );
    return frame;
  }

  /** As -some and -all ask for. The last frame is kept. */
  async several(words: Words, first: number, further: number, end: number): Promise<void> {
    let times = 1;
    let all = false;
    while (!words.isDone) {
      if (words.takeIf('-some')) {
        times = this.number(words.take('number'), '-some');
        if (times === 0) this.fail('-some argument must be more than 0');
      } else if (words.takeIf('-all')) all = true;
      else this.fail(`Unknown ${words.name} spec: ${words.peek()}`);
    }
    let last: Frame | null = null;
    for (let count = 0; count < times || (all && last !== null && !last.has(end)); count++) {
      const frame = await this.want(count === 0 ? first : further, words.name, count + 1);
      last = frame;
      if (frame === null) break;
    }
    this.frame = last;
  }

  /** A whole request or response. */
  async message(command: string): Promise<void> {
    let frame = await this.next();
    while (frame?.type === FRAME.WINDOW_UPDATE) frame = await this.next();
    if (frame === null) return;
    if (frame.type !== FRAME.HEADERS)
      this.fail(
        `Frame #1 for ${command} was of type ${frameName(frame.type)} (${frame.type}) instead of HEADERS (1)`,
      );
    let isLast = frame.has(FLAG.END_STREAM);
    let count = 1;
    let latest: Frame | null = frame;
    while (latest !== null && !latest.has(FLAG.END_HEADERS))
      latest = await this.want(FRAME.CONTINUATION, command, ++count);
    while (latest !== null && !isLast) {
      latest = await this.want(FRAME.DATA, command, ++count);
      isLast = latest?.has(FLAG.END_STREAM) ?? true;
    }
    this.frame = latest;
  }
}
