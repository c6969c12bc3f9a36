// Handshakes: each costs as much as thirty hits, and all of that with the client's first message.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { freePort } from '../../servers/start.js';

const dir = mkdtempSync(join(tmpdir(), 'proxyd-turns-tls-'));
process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
const [cert, key, both] = ['cert.pem', 'key.pem', 'both.pem'].map((name) => join(dir, name));
const P256 = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
const listener = await freePort();

function makeCertificate() {
  const name = ['-subj', '/CN=a.example', '-addext', 'subjectAltName=DNS:a.example'];
  execFileSync('openssl', ['req', '-x509', ...P256, ...name, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  writeFileSync(both, readFileSync(key, 'utf8') + readFileSync(cert, 'utf8'), { mode: 0o600 });
}

let made = false;
/** Files of the certificate, made when the first daemon needs them. */
function certificate() {
  if (!made) makeCertificate();
  made = true;
  return { cert, key, both };
}

/** The first message of a client. */
function hello() {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (bytes) => {
        resolve(bytes);
        socket.destroy();
        server.close();
      });
    });
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      connectTls({ port: server.address().port, host: '127.0.0.1', servername: 'a.example' }).on(
        'error',
        () => undefined,
      );
    });
  });
}

/** @type {import('../row.d.ts').Row[]} */
export default [
  {
    name: 'TLS: handshakes that begin at once',
    sizes: [50, 500, 5000],
    aim: 50,
    args: () => ['-a', `tls=127.0.0.1:${listener},HTTPS`, '--cert', certificate().both],
    nginx: () =>
      `listen 127.0.0.1:${listener} ssl backlog=8192; ssl_certificate ${certificate().cert}; ssl_certificate_key ${certificate().key};`,
    load: async ({ n }) => {
      const first = await hello();
      const sockets = await Promise.all(
        Array.from(
          { length: n },
          () =>
            new Promise((resolve, reject) => {
              const socket = connect(listener, '127.0.0.1', () => resolve(socket));
              socket.on('error', reject);
            }),
        ),
      );
      // The same message for all: a client that made its own would take as long as the server.
      await Promise.all(
        sockets.map(
          (socket) =>
            new Promise((resolve) => {
              socket.once('data', () => {
                socket.destroy();
                resolve();
              });
              socket.once('close', resolve);
              socket.write(first);
            }),
        ),
      );
    },
  },
];
