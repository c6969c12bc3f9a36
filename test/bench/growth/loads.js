// Loads for a server: wrk as fast as it goes, small hits at a moderate rate beside it, and single requests.
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { LOAD_CPU, ROOT } from '../servers/start.js';

/** Output of a command run on the core of the loads. */
export function output(command, args) {
  const child = spawn('taskset', ['-c', String(LOAD_CPU), command, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (d) => {
    out += d;
  });
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('exit', () => done(out));
  });
}

const UNITS = { B: 1, KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30 };

/** {requests, bytes} that were answered. */
export async function wrk(port, seconds, { path = '/page', headers = [], connections = 64 }) {
  const out = await output('wrk', [
    ...['-t', '1', '-c', String(connections), '-d', `${seconds}s`],
    ...headers.flatMap((header) => ['-H', header]),
    `http://127.0.0.1:${port}${path}`,
  ]);
  const [, requests, count, unit] = /(\d+) requests in [^,]+, ([\d.]+)(\w+) read/.exec(out) ?? [];
  if (requests === undefined) throw new Error(`wrk got no answers: ${out}`);
  return { requests: Number(requests), bytes: Number(count) * UNITS[unit] };
}

/** {p50, p99, max, count}: milliseconds of small hits over some seconds. */
export async function hitLatency(port, seconds) {
  const script = `${ROOT}test/bench/servers/hit-latency.js`;
  return JSON.parse(await output(process.execPath, [script, String(port), String(seconds)]));
}

/** Sends GETs over one connection, some ahead, and waits until all have been answered with 200. */
export function ask(port, requests) {
  const socket = connect({ port, host: '127.0.0.1' });
  const AHEAD = 16;
  let sent = 0;
  let answered = 0;
  let rest = '';
  const more = () => {
    while (sent < requests.length && sent < answered + AHEAD) {
      const [path, ...headers] = requests[sent++];
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers.map((h) => `${h}\r\n`).join('')}\r\n`,
      );
    }
  };
  return new Promise((done, failed) => {
    socket.once('connect', more);
    socket.once('close', () => failed(new Error(`the connection has ended after ${answered} answers`)));
    socket.on('error', (cause) =>
      failed(new Error(`port ${port}, after ${answered} answers: ${cause.message}`)),
    );
    socket.on('data', (bytes) => {
      rest += bytes.toString('latin1');
      for (;;) {
        const head = rest.indexOf('\r\n\r\n');
        if (head < 0) break;
        const whole = head + 4 + Number(/content-length: (\d+)/i.exec(rest)?.[1] ?? 0);
        if (rest.length < whole) break;
        if (!rest.startsWith('HTTP/1.1 200')) failed(new Error(rest.slice(0, head)));
        answered++;
        rest = rest.slice(whole);
      }
      if (answered === requests.length) {
        socket.removeAllListeners('close');
        socket.destroy();
        done();
      } else more();
    });
  });
}
