// The floor: an HTTP/2 server of the runtime that writes a canned response, over TLS and in clear. Arguments: certificate,
// key, and the port for clear text. Prints the port for TLS.
import { readFileSync } from 'node:fs';
import { createSecureServer, createServer } from 'node:http2';

const [certFile, keyFile, plainPort] = process.argv.slice(2, 5);
const body = Buffer.alloc(1024, 'x');
const head = { ':status': 200, 'content-type': 'text/plain', 'content-length': body.length };

function serve(server) {
  server.on('stream', (stream) => {
    stream.on('error', () => undefined);
    stream.respond(head);
    stream.end(body);
  });
  server.on('sessionError', () => undefined);
  return server;
}

serve(createServer()).listen(Number(plainPort), '127.0.0.1');
const secure = serve(createSecureServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }));
secure.listen(0, '127.0.0.1', () => console.log(secure.address().port));
