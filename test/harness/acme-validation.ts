// How an authority under test looks for a name: it connects to a port of this machine, and compares what it finds there.
import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:tls';

/** Null, or what is wrong. */
export function overHttp(
  port: number,
  name: string,
  token: string,
  expected: string,
): Promise<string | null> {
  return new Promise((resolve) => {
    const path = `/.well-known/acme-challenge/${token}`;
    const request = httpRequest(
      { host: '127.0.0.1', port, path, headers: { Host: name } },
      async (response) => {
        let body = '';
        for await (const piece of response) body += piece;
        if (response.statusCode === 200 && body.trim() === expected) resolve(null);
        else resolve(`${name}: status ${response.statusCode} and "${body.slice(0, 40)}"`);
      },
    );
    request.on('error', (cause) => resolve(`${name}: ${cause.message}`));
    request.end();
  });
}

/** The bytes of the extension of RFC 8737 section 3, critical, before its digest. */
const EXTENSION = '06082b0601050507011f0101ff04220420';

/** Null, or what is wrong. */
export function overTls(port: number, name: string, expected: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect(
      { host: '127.0.0.1', port, servername: name, ALPNProtocols: ['acme-tls/1'], rejectUnauthorized: false },
      () => {
        const { raw, subjectaltname } = socket.getPeerCertificate();
        const digest = createHash('sha256').update(expected).digest('hex');
        const isRight = raw.toString('hex').includes(EXTENSION + digest) && subjectaltname === `DNS:${name}`;
        const isChosen = socket.alpnProtocol === 'acme-tls/1';
        // After the handshake, as an authority does: destroyed here, its last message would not be sent.
        socket.end();
        resolve(isRight && isChosen ? null : `${name}: the wrong certificate for ${subjectaltname}`);
      },
    );
    socket.on('error', (cause) => resolve(`${name}: ${cause.message}`));
  });
}
