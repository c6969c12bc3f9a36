// A purge API as tests need it: it verifies signatures as the real one does, keeps what it was asked, and answers as it is
// told to.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyAuthorization } from '../../daemon/edge/providers/edgegrid.ts';

export const EDGE_CREDENTIALS = {
  clientToken: 'test-client',
  clientSecret: 'test-secret',
  accessToken: 'test-access',
};

export interface EdgeCall {
  /** "delete url staging", or "rule" for content control. */
  readonly what: string;
  readonly objects: readonly (string | number)[];
  readonly body: string;
}

/** Answers a call in a way of its own; false leaves it to the usual answer. */
export type EdgeFault = (response: ServerResponse, call: EdgeCall) => boolean;

export class EdgeNetwork {
  readonly calls: EdgeCall[] = [];
  readonly refused: string[] = [];
  fault: EdgeFault | null = null;
  readonly #server: Server;
  readonly #nonces = new Set<string>();
  #purges = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => this.#answer(request, Buffer.concat(pieces), response));
    });
  }

  static async start(): Promise<EdgeNetwork> {
    const network = new EdgeNetwork();
    await new Promise<void>((done) => network.#server.listen(0, '127.0.0.1', done));
    return network;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** edge-connector.conf for it. */
  settings(more: Readonly<Record<string, string>> = {}): string {
    const rows = {
      provider: 'fake',
      purge_host: this.host,
      purge_client_token: EDGE_CREDENTIALS.clientToken,
      purge_client_secret: EDGE_CREDENTIALS.clientSecret,
      purge_access_token: EDGE_CREDENTIALS.accessToken,
      backoff_min: '10ms',
      backoff_max: '100ms',
      ...more,
    };
    return Object.entries(rows)
      .map(([key, value]) => `${key} = ${value}\n`)
      .join('');
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  #answer(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const { method = '', url = '', headers } = request;
    const verdict = verifyAuthorization(
      headers.authorization,
      EDGE_CREDENTIALS,
      { method, scheme: 'http', host: headers.host ?? '', path: url, body },
      Date.now(),
      (nonce) => !this.#nonces.has(nonce) && this.#nonces.add(nonce) !== undefined,
    );
    if (verdict !== 'good') {
      this.refused.push(verdict);
      reply(response, 401, { title: 'refused', detail: verdict });
      return;
    }
    const [, , , kind, type, network] = url.split('/');
    const rule = url.startsWith('/eccu-api/');
    const { objects = [], metadata = '' } = JSON.parse(body.length === 0 ? '{}' : body.toString()) as {
      objects?: string[];
      metadata?: string;
    };
    const call: EdgeCall = rule
      ? { what: 'rule', objects: [metadata], body: body.toString() }
      : { what: `${kind} ${type} ${network}`, objects, body: body.toString() };
    if (this.fault?.(response, call) === true) return;
    this.#purges++;
    if (rule && method === 'GET') {
      reply(response, 200, { requestId: 1, status: 'SUCCEEDED' });
      return;
    }
    this.calls.push(call);
    if (rule) reply(response, 201, { requestId: this.#purges, status: 'SUCCEEDED' });
    else reply(response, 201, { httpStatus: 201, purgeId: `purge-${this.#purges}`, supportId: 's' });
  }
}

export function reply(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
