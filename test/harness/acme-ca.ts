// An authority of RFC 8555 for tests, over HTTPS with a root of its own. It takes each nonce once, verifies every signature,
// validates by connecting to given ports, and issues certificates. A test decides for each request whether it goes wrong,
// and sees what was asked.
import { createHash, createHmac, createPublicKey, type KeyObject, randomBytes, verify } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { AcmeIssuer, readRequest } from './acme-issuer.ts';
import { overHttp, overTls } from './acme-validation.ts';

export type Resource =
  | 'directory'
  | 'nonce'
  | 'account'
  | 'new-account'
  | 'new-order'
  | 'orders'
  | 'order'
  | 'authz'
  | 'challenge'
  | 'finalize'
  | 'certificate'
  | 'renewal';

/** A request that goes wrong: not answered at all, answered otherwise, or carried out and then not answered. */
export type Fault =
  | { readonly kind: 'drop' | 'drop-after' | 'hang' | 'garbage' | 'bad-nonce' }
  | {
      readonly kind: 'problem';
      readonly status: number;
      readonly type: string;
      readonly detail: string;
      readonly headers?: Record<string, string>;
    };

export interface CaOrder {
  readonly id: string;
  readonly account: string;
  readonly names: readonly string[];
  readonly replaces: string | null;
  status: string;
  error?: unknown;
  certificate: string | null;
  /** Readings left before it becomes valid. */
  processing: number;
  readonly authorizations: CaAuthorization[];
}

interface CaAuthorization {
  readonly id: string;
  readonly name: string;
  status: string;
  readonly challenges: { type: string; token: string; status: string; error?: unknown }[];
}

interface Account {
  readonly id: string;
  readonly key: KeyObject;
  readonly thumbprint: string;
  readonly contact: unknown;
}

interface Jws {
  readonly protected: string;
  readonly payload: string;
  readonly signature: string;
}

class Refusal extends Error {
  readonly status: number;
  readonly type: string;

  constructor(status: number, type: string, detail: string) {
    super(detail);
    this.status = status;
    this.type = type;
  }
}

export class AcmeCa {
  readonly issuer = new AcmeIssuer();
  readonly orders: CaOrder[] = [];
  readonly accounts: Account[] = [];
  /** Every request, as `POST new-order`. */
  readonly requests: string[] = [];
  /** Keys of external accounts by id; null: none is asked for. */
  external: Map<string, Buffer> | null = null;
  /** Whether the account has a list of its orders, and whether a second order of the same names is the first one. */
  listsOrders = true;
  reusesOrders = false;
  offers: readonly string[] = ['http-01', 'tls-alpn-01', 'dns-01'];
  /** Where names are looked for; null: every name is valid. */
  targets: { readonly http: number; readonly tls: number } | null = null;
  life = 90 * 86_400_000;
  processing = 1;
  /** The window of the renewal information by certificate id; the default is none. */
  renewal: (id: string) => unknown = () => null;
  fault: (resource: Resource, count: number) => Fault | undefined = () => undefined;
  now: () => number = Date.now;
  /** Replaces the chain that is given out. */
  tamper: (chain: string) => string = (chain) => chain;
  private readonly nonces = new Set<string>();
  private readonly counts = new Map<string, number>();
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  constructor() {
    this.server = createServer(this.issuer.server(), (request, response) => {
      this.serve(request, response).catch((cause: Error) => response.destroy(cause));
    });
    this.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      socket.on('error', () => {});
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  get directory(): string {
    return this.url('directory');
  }

  /** How many requests of a kind have come. */
  count(resource: Resource): number {
    return this.counts.get(resource) ?? 0;
  }

  private url(path: string): string {
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}/${path}`;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [resource = '', id = '', sub = ''] = (request.url ?? '').slice(1).split('/');
    let body = '';
    for await (const piece of request) body += piece;
    this.requests.push(`${request.method} ${resource}`);
    const count = (this.counts.get(resource) ?? 0) + 1;
    this.counts.set(resource, count);
    const fault = this.fault(resource as Resource, count);
    if (fault?.kind === 'drop') return void request.socket.destroy();
    if (fault?.kind === 'hang') return;
    const nonce = randomBytes(16).toString('base64url');
    this.nonces.add(nonce);
    response.setHeader('Replay-Nonce', nonce);
    response.setHeader('Content-Type', 'application/json');
    try {
      if (fault?.kind === 'bad-nonce') throw new Refusal(400, 'badNonce', 'a nonce of no use');
      if (fault?.kind === 'problem') {
        for (const [name, value] of Object.entries(fault.headers ?? {})) response.setHeader(name, value);
        throw new Refusal(fault.status, fault.type, fault.detail);
      }
      const answer = await this.answer(resource, id, sub, body, response);
      if (fault?.kind === 'drop-after') return void request.socket.destroy();
      response.end(fault?.kind === 'garbage' ? '{"status": ' : answer);
    } catch (cause) {
      if (!(cause instanceof Refusal)) throw cause;
      response.statusCode = cause.status;
      response.setHeader('Content-Type', 'application/problem+json');
      response.end(
        JSON.stringify({ type: `urn:ietf:params:acme:error:${cause.type}`, detail: cause.message }),
      );
    }
  }

  private async answer(
    resource: string,
    id: string,
    sub: string,
    body: string,
    response: ServerResponse,
  ): Promise<string> {
    if (resource === 'directory')
      return JSON.stringify({
        newNonce: this.url('nonce'),
        newAccount: this.url('new-account'),
        newOrder: this.url('new-order'),
        renewalInfo: this.url('renewal'),
        meta: { externalAccountRequired: this.external !== null },
      });
    if (resource === 'nonce') return '';
    if (resource === 'renewal') {
      const window = this.renewal(id);
      if (window === null) throw new Refusal(404, 'malformed', 'not known');
      response.setHeader('Retry-After', '3600');
      return JSON.stringify(window);
    }
    const url = this.url([resource, id, sub].filter((part) => part !== '').join('/'));
    const { header, payload, account } = this.opened(body, url);
    if (resource === 'new-account') return this.newAccount(header, payload, response);
    if (account === null) throw new Refusal(400, 'accountDoesNotExist', 'no such account');
    switch (resource) {
      case 'account':
        return JSON.stringify({
          status: 'valid',
          ...(this.listsOrders ? { orders: this.url(`orders/${account.id}`) } : {}),
        });
      case 'orders': {
        const own = this.orders.filter((order) => order.account === account.id && order.status !== 'invalid');
        return JSON.stringify({ orders: own.map((order) => this.url(`order/${order.id}`)) });
      }
      case 'new-order':
        return this.newOrder(account, payload, response);
      case 'order':
        return this.shown(this.order(id));
      case 'authz':
        return this.shownAuthorization(this.authorization(id));
      case 'challenge':
        return this.validate(account, this.authorization(id), sub);
      case 'finalize':
        return this.finalize(this.order(id), payload);
      case 'certificate': {
        response.setHeader('Content-Type', 'application/pem-certificate-chain');
        return this.tamper(this.order(id).certificate ?? '');
      }
      default:
        throw new Refusal(404, 'malformed', 'no such resource');
    }
  }

  private opened(body: string, url: string) {
    const jws = JSON.parse(body) as Jws;
    const header = JSON.parse(Buffer.from(jws.protected, 'base64url').toString()) as Record<string, unknown>;
    if (!this.nonces.delete(String(header.nonce))) throw new Refusal(400, 'badNonce', 'a nonce of no use');
    if (header.url !== url) throw new Refusal(401, 'unauthorized', `signed for ${header.url}`);
    if (header.alg !== 'ES256') throw new Refusal(400, 'badSignatureAlgorithm', String(header.alg));
    const account = this.accounts.find(({ id }) => header.kid === this.url(`account/${id}`)) ?? null;
    if (account === null && header.jwk === undefined)
      throw new Refusal(400, 'accountDoesNotExist', 'no such account');
    const key = account?.key ?? createPublicKey({ key: header.jwk as never, format: 'jwk' });
    const signed = Buffer.from(`${jws.protected}.${jws.payload}`);
    const signature = Buffer.from(jws.signature, 'base64url');
    if (!verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature))
      throw new Refusal(400, 'malformed', 'a wrong signature');
    const text = Buffer.from(jws.payload, 'base64url').toString();
    return { header, payload: text === '' ? null : (JSON.parse(text) as Record<string, unknown>), account };
  }

  private newAccount(
    header: Record<string, unknown>,
    payload: Record<string, unknown> | null,
    response: ServerResponse,
  ): string {
    const { crv, kty, x, y } = header.jwk as Record<string, string>;
    const thumbprint = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
    let account = this.accounts.find((each) => each.thumbprint === thumbprint);
    if (account === undefined) {
      if (payload?.termsOfServiceAgreed !== true) throw new Refusal(403, 'userActionRequired', 'agree first');
      this.checkBinding(header, payload.externalAccountBinding as Jws | undefined);
      const key = createPublicKey({ key: header.jwk as never, format: 'jwk' });
      account = { id: String(this.accounts.length + 1), key, thumbprint, contact: payload.contact };
      this.accounts.push(account);
      response.statusCode = 201;
    }
    response.setHeader('Location', this.url(`account/${account.id}`));
    return JSON.stringify({ status: 'valid', contact: account.contact });
  }

  private checkBinding(header: Record<string, unknown>, binding: Jws | undefined): void {
    if (this.external === null) return;
    if (binding === undefined) throw new Refusal(403, 'externalAccountRequired', 'which account of ours?');
    const { kid, alg, url } = JSON.parse(Buffer.from(binding.protected, 'base64url').toString());
    const hmac = this.external.get(kid);
    const mark = createHmac('sha256', hmac ?? '')
      .update(`${binding.protected}.${binding.payload}`)
      .digest('base64url');
    const isSame = Buffer.from(binding.payload, 'base64url').toString() === JSON.stringify(header.jwk);
    if (hmac === undefined || alg !== 'HS256' || url !== header.url || mark !== binding.signature || !isSame)
      throw new Refusal(403, 'unauthorized', 'the binding is wrong');
  }

  private newOrder(
    account: Account,
    payload: Record<string, unknown> | null,
    response: ServerResponse,
  ): string {
    const names = ((payload?.identifiers ?? []) as { value: string }[]).map(({ value }) => value);
    const isSame = (order: CaOrder): boolean =>
      order.account === account.id && order.status === 'pending' && order.names.join() === names.join();
    let order = this.reusesOrders ? this.orders.find(isSame) : undefined;
    if (order === undefined) {
      const id = String(this.orders.length + 1);
      const replaces = (payload?.replaces as string | undefined) ?? null;
      const authorizations = names.map((name, i) => ({
        id: `${id}-${i}`,
        name,
        status: 'pending',
        challenges: this.offers.map((type) => ({
          type,
          token: randomBytes(16).toString('base64url'),
          status: 'pending',
        })),
      }));
      const { processing } = this;
      order = {
        id,
        account: account.id,
        names,
        replaces,
        status: 'pending',
        certificate: null,
        processing,
        authorizations,
      };
      this.orders.push(order);
    }
    response.statusCode = 201;
    response.setHeader('Location', this.url(`order/${order.id}`));
    return this.shown(order);
  }

  private order(id: string): CaOrder {
    const order = this.orders.find((each) => each.id === id);
    if (order === undefined) throw new Refusal(404, 'malformed', 'no such order');
    if (order.status === 'pending') {
      if (order.authorizations.every(({ status }) => status === 'valid')) order.status = 'ready';
      if (order.authorizations.some(({ status }) => status === 'invalid')) order.status = 'invalid';
    } else if (order.status === 'processing' && --order.processing <= 0) order.status = 'valid';
    return order;
  }

  private authorization(id: string): CaAuthorization {
    const found = this.orders.flatMap((order) => order.authorizations).find((each) => each.id === id);
    if (found === undefined) throw new Refusal(404, 'malformed', 'no such authorization');
    return found;
  }

  private shown(order: CaOrder): string {
    return JSON.stringify({
      status: order.status,
      identifiers: order.names.map((value) => ({ type: 'dns', value })),
      authorizations: order.authorizations.map(({ id }) => this.url(`authz/${id}`)),
      finalize: this.url(`finalize/${order.id}`),
      ...(order.status === 'valid' ? { certificate: this.url(`certificate/${order.id}`) } : {}),
      ...(order.error === undefined ? {} : { error: order.error }),
    });
  }

  private shownAuthorization({ id, name, status, challenges }: CaAuthorization): string {
    return JSON.stringify({
      status,
      identifier: { type: 'dns', value: name },
      challenges: challenges.map((each) => ({ ...each, url: this.url(`challenge/${id}/${each.type}`) })),
    });
  }

  private async validate(account: Account, authorization: CaAuthorization, type: string): Promise<string> {
    const challenge = authorization.challenges.find((each) => each.type === type);
    if (challenge === undefined) throw new Refusal(404, 'malformed', 'no such challenge');
    if (challenge.status === 'pending') {
      const { targets } = this;
      const expected = `${challenge.token}.${account.thumbprint}`;
      const { name } = authorization;
      const problem =
        targets === null
          ? null
          : type === 'http-01'
            ? await overHttp(targets.http, name, challenge.token, expected)
            : await overTls(targets.tls, name, expected);
      challenge.status = problem === null ? 'valid' : 'invalid';
      authorization.status = challenge.status;
      if (problem !== null)
        challenge.error = { type: 'urn:ietf:params:acme:error:unauthorized', detail: problem };
    }
    return JSON.stringify({ ...challenge, url: this.url(`challenge/${authorization.id}/${type}`) });
  }

  private async finalize(order: CaOrder, payload: Record<string, unknown> | null): Promise<string> {
    if (order.status !== 'ready') throw new Refusal(403, 'orderNotReady', `the order is ${order.status}`);
    const { names, publicKey } = await readRequest(Buffer.from(String(payload?.csr), 'base64url'));
    if ([...names].sort().join() !== [...order.names].sort().join())
      throw new Refusal(400, 'badCSR', `for ${names.join()}`);
    const now = Math.floor(this.now() / 1000) * 1000;
    order.certificate = this.issuer.issue(publicKey, order.names, now, now + this.life);
    order.status = order.processing > 0 ? 'processing' : 'valid';
    return this.shown(order);
  }
}
