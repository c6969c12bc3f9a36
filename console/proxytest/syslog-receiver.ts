// `syslog`: receives datagrams of syslog (RFC 3164), and looks at them.

import { createSocket, type Socket } from 'node:dgram';
import { type Commands, Task } from './actor.ts';
import { matches } from './comparison.ts';
import { Entity } from './entity.ts';
import { runSpec } from './interpreter.ts';
import { readInteger, type Spec, type Words } from './script.ts';
import { readAddress } from './socket-addresses.ts';

const LEVELS = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'];

export class SyslogServer extends Entity {
  #address = '127.0.0.1:0';
  #level: string | null = null;
  #repeat = 1;
  #spec: Spec = { text: '', file: '', line: 0 };
  #socket: Socket | null = null;
  #queue: string[] = [];
  #wake: (() => void) | null = null;
  #task: Task | null = null;
  /** The last datagram. */
  last = '';

  async #bind(): Promise<void> {
    if (this.#socket !== null) return;
    const address = readAddress(this.#address);
    if (address.kind !== 'tcp') this.fail('syslog listens on an address and port');
    const socket = createSocket('udp4');
    this.#socket = socket;
    socket.on('message', (data) => {
      this.#queue.push(data.toString('latin1'));
      this.#wake?.();
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.bind(address.port, address.host, resolve);
    }).catch((cause: Error) => this.fail(`cannot bind ${this.#address}: ${cause.message}`));
    const { address: host, port } = socket.address();
    this.define('addr', host);
    this.define('port', String(port));
    this.define('sock', `${host}:${port}`);
  }

  /** The next datagram of a level; null: of any. */
  async receive(level: string | null): Promise<void> {
    const wanted = level ?? this.#level;
    if (wanted !== null && !LEVELS.includes(wanted)) this.fail(`unknown syslog level: ${wanted}`);
    for (;;) {
      const data = this.#queue.shift();
      if (data === undefined) {
        await this.until(
          new Promise<void>((resolve) => {
            this.#wake = resolve;
          }),
        );
        continue;
      }
      const priority = /^<(\d{1,3})>/.exec(data);
      if (priority === null) this.fail(`syslog PRI not found: ${data.slice(0, 100)}`);
      this.dump('syslog', data);
      if (wanted !== null && LEVELS[Number(priority[1]) % 8] !== wanted) continue;
      this.last = data;
      return;
    }
  }

  async #wait(): Promise<void> {
    await this.#task?.done;
    this.#task = null;
  }

  async command(words: Words): Promise<void> {
    while (!words.isDone) {
      if (words.takeIf('-wait')) {
        if (this.#task === null) this.fail('Syslog server not -started');
        await this.#wait();
        continue;
      }
      if (words.takeIf('-stop')) await this.end();
      else if (words.takeIf('-level')) this.#level = words.take('level');
      else if (words.takeIf('-repeat')) this.#repeat = readInteger(words.take('number'));
      else if (words.takeIf('-bind')) {
        if (!words.isDone && !words.peek()?.startsWith('-')) this.#address = words.take('address');
        await this.#bind();
      } else if (words.takeIf('-start')) {
        await this.#bind();
        const spec = this.#spec;
        this.#task = new Task(this, async () => {
          for (let i = 0; i < this.#repeat; i++) await runSpec(this, spec, SYSLOG_COMMANDS);
        });
      } else if (words.peek()?.startsWith('-')) this.fail(`Unknown syslog argument: ${words.peek()}`);
      else this.#spec = words.takeSpec('commands');
    }
  }

  async end(): Promise<void> {
    await this.#task?.cancel();
    this.#task = null;
    this.renew();
    this.#socket?.close();
    this.#socket = null;
  }
}

/** `expect OPERATOR TEXT` is about the last datagram. */
function expectDatagram(server: SyslogServer, words: Words): void {
  const [operator, text] = [words.take('operator'), words.take('text')];
  const isNegated = operator.startsWith('!');
  let holds: boolean;
  if (operator === '~' || operator === '!~') holds = matches(server, text, server.last) !== isNegated;
  else if (operator === '==' || operator === '!=') holds = (server.last === text) !== isNegated;
  else server.fail(`EXPECT ${operator}: unknown operator`);
  if (!holds) server.fail(`EXPECT datagram (${server.last.slice(0, 200)}) ${operator} "${text}" failed`);
}

const SYSLOG_COMMANDS: Commands<SyslogServer> = {
  recv: (server, words) => server.receive(words.isDone ? null : words.take('level')),
  expect: expectDatagram,
};
