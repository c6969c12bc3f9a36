// Carries out one order, from its beginning or from wherever a former process left it: reads the order, does what its status
// asks for, and reads it again. Each step is on disk before the next is asked of the authority; an order that was begun is
// continued.
//
// A failure to reach the authority does not end a run, since challenges must stay answered while it may be validating.

import type { AcmeChallenges } from '../tls/tls-settings.ts';
import type { AcmeClient } from './acme-client.ts';
import { AcmeFailure, problemText } from './acme-failure.ts';
import type { ChallengeType } from './acme-interface.ts';
import type { Authorization, Challenge, Order } from './acme-messages.ts';
import {
  certificateRequest,
  challengeCertificate,
  challengeServerName,
  newKey,
} from './certificate-request.ts';
import type { EntryState } from './entry-state.ts';
import { checkedChain } from './issued-certificate.ts';
import type { AccountKey } from './jws.ts';
import { countedOrders } from './schedule.ts';

export interface OrderParts {
  readonly client: AcmeClient;
  readonly key: AccountKey;
  /** Those that may succeed, the preferred one first. */
  readonly challengeTypes: readonly ChallengeType[];
  /** Throws once the work is no longer this process's. */
  check(): void;
  /** Resolves when the state is stored. */
  save(state: EntryState): Promise<void>;
  /** Resolves when every worker gives these answers. */
  answer(challenges: AcmeChallenges): Promise<void>;
  /** Throws AcmeFailure if no order may be made now. */
  checkLimit(state: EntryState): void;
  /** Epoch milliseconds. */
  now(): number;
  pause(milliseconds: number): Promise<void>;
}

/** Milliseconds for which a run waits for the authority (chosen). */
const PATIENCE = 300_000;
/** Milliseconds between readings, doubling (chosen), and the longest that the authority may ask for. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;
const LONGEST_ASKED = 60_000;

/** A reading of the order: null when the certificate is stored, else when to read it again. */
type Step = { readonly notBefore: number | null; readonly waitsFor: string } | null;

export class OrderRun {
  private readonly parts: OrderParts;
  /** As stored. */
  state: EntryState;
  /** Challenges that the authority was asked to validate in this run. */
  private readonly responded = new Set<string>();
  private answered = '';

  constructor(state: EntryState, parts: OrderParts) {
    this.state = state;
    this.parts = parts;
  }

  /** Resolves when the certificate is stored. Rejects with an AcmeFailure, or with the problem of a write. */
  async run(): Promise<void> {
    const { parts } = this;
    const url = await this.begun();
    const deadline = parts.now() + PATIENCE;
    for (let pause = FIRST_PAUSE; ; pause = Math.min(LONGEST_PAUSE, pause * 2)) {
      parts.check();
      let asked: number | null;
      let failure: AcmeFailure;
      try {
        const step = await this.step(url);
        if (step === null) return;
        asked = step.notBefore;
        failure = new AcmeFailure(
          'unavailable',
          `the authority has not ${step.waitsFor} within ${PATIENCE / 1000} s`,
        );
      } catch (cause) {
        if (!(cause instanceof AcmeFailure && cause.kind === 'unavailable')) throw cause;
        failure = cause;
        asked = cause.notBefore;
      }
      const now = parts.now();
      if (now >= deadline) throw failure;
      await parts.pause(Math.max(pause, Math.min(LONGEST_ASKED, (asked ?? now) - now)));
    }
  }

  /** The URL of the order: a stored one, one that the authority has already, or a new one. */
  private async begun(): Promise<string> {
    const { client, checkLimit, now } = this.parts;
    const { names, order, orders } = this.state;
    if (order !== null && order.url !== null) return order.url;
    const found = order === null ? null : await client.openOrder(names);
    const key = order?.key ?? newKey();
    if (found === null) {
      checkLimit(this.state);
      await this.save({ order: { key, url: null }, orders: [...countedOrders(orders, now()), now()] });
    }
    const url = found ?? (await this.newOrder());
    await this.save({ order: { key, url } });
    return url;
  }

  private async newOrder(): Promise<string> {
    const { client } = this.parts;
    const { names, certificate } = this.state;
    const replaces = certificate?.renewalId ?? null;
    if (replaces === null) return client.newOrder(names, null);
    try {
      return await client.newOrder(names, replaces);
    } catch (cause) {
      // The authority may not know the former certificate, or know it as replaced (RFC 9773 section 5).
      if (!(cause instanceof AcmeFailure && cause.kind === 'refused')) throw cause;
      return client.newOrder(names, null);
    }
  }

  private async step(url: string): Promise<Step> {
    const { client } = this.parts;
    const { value: order, notBefore } = await client.order(url);
    switch (order.status) {
      case 'pending':
        return { notBefore: (await this.validate(order)) ?? notBefore, waitsFor: 'validated the names' };
      case 'ready':
        await client.finalize(order.finalize, certificateRequest(this.state.names, this.key));
        return { notBefore: null, waitsFor: 'issued the certificate' };
      case 'processing':
        return { notBefore, waitsFor: 'issued the certificate' };
      case 'valid':
        await this.fetchCertificate(order);
        return null;
      case 'invalid':
        throw await this.refusal(order);
    }
  }

  /** Answers the challenges of names that are not validated yet, and asks the authority to look. Resolves with the time at
   * which it wants to be asked again. */
  private async validate(order: Order): Promise<number | null> {
    const { client, check } = this.parts;
    const open: { readonly name: string; readonly challenge: Challenge }[] = [];
    let asked: number | null = null;
    for (const url of order.authorizations) {
      const { value: authorization, notBefore } = await client.authorization(url);
      if (authorization.status === 'valid') continue;
      if (authorization.status !== 'pending') throw refusalOf(authorization);
      asked = Math.max(asked ?? 0, notBefore ?? 0) || null;
      open.push({ name: authorization.name, challenge: this.challengeOf(authorization) });
    }
    await this.answer(open);
    for (const { challenge } of open) {
      check();
      if (challenge.status !== 'pending' || this.responded.has(challenge.url)) continue;
      await client.respond(challenge.url);
      this.responded.add(challenge.url);
    }
    return asked;
  }

  /** One that is being validated already, else the next in turn of those that are offered. */
  private challengeOf({ name, challenges }: Authorization): Challenge {
    const { challengeTypes } = this.parts;
    const offered = challengeTypes.flatMap((type) => challenges.find((each) => each.type === type) ?? []);
    const begun = offered.find(({ status, url }) => status === 'processing' || this.responded.has(url));
    const chosen = begun ?? offered[this.state.refusals % Math.max(1, offered.length)];
    if (chosen !== undefined) return chosen;
    const kinds = challenges.map(({ type }) => type).join(', ') || 'nothing';
    throw new AcmeFailure(
      'refused',
      `${name}: the authority offers ${kinds}, and neither http-01 nor tls-alpn-01`,
    );
  }

  private async answer(open: readonly { name: string; challenge: Challenge }[]): Promise<void> {
    const { key, now, answer } = this.parts;
    const wanted = open.map(({ challenge }) => challenge.url).join(' ');
    if (wanted === this.answered) return;
    const http: Record<string, string> = {};
    const alpn: Record<string, { chain: string; key: string }> = {};
    for (const { name, challenge } of open) {
      const authorization = key.authorization(challenge.token);
      if (challenge.type === 'http-01') http[challenge.token] = authorization;
      else alpn[challengeServerName(name)] = challengeCertificate(name, authorization, new Date(now()));
    }
    await answer({ http, alpn });
    this.answered = wanted;
  }

  private async fetchCertificate({ certificate: url }: Order): Promise<void> {
    const { client, now } = this.parts;
    if (url === null) throw new AcmeFailure('unavailable', 'the order is valid and has no certificate');
    const { key } = this;
    const chain = await client.certificate(url);
    const issued = checkedChain(chain, key, this.state.names, now());
    await this.save({
      certificate: { chain, key, ...issued },
      order: null,
      failures: 0,
      refusals: 0,
      notBefore: 0,
      lastError: null,
      renewal: null,
      renewalCheckAt: 0,
    });
  }

  /** The reason of an invalid order: that of a name, else its own. */
  private async refusal(order: Order): Promise<AcmeFailure> {
    for (const url of order.authorizations) {
      const { value } = await this.parts.client.authorization(url);
      if (value.status !== 'valid' && value.status !== 'pending') return refusalOf(value);
    }
    const words = problemText(order.error) || 'the order became invalid, and the authority does not say why';
    return new AcmeFailure('refused', words, NOT_VALIDATED);
  }

  private get key(): string {
    const { order } = this.state;
    if (order === null) throw new Error('there is no order');
    return order.key;
  }

  private async save(change: Partial<EntryState>): Promise<void> {
    const { save, check } = this.parts;
    check();
    const state = { ...this.state, ...change };
    await save(state);
    this.state = state;
  }
}

/** The type of failures by which a name was not validated. */
export const NOT_VALIDATED = 'notValidated';

function refusalOf({ name, status, challenges }: Authorization): AcmeFailure {
  const failed = challenges.find(({ error }) => problemText(error) !== '');
  const words =
    failed === undefined ? `the authorization is ${status}` : `${failed.type}: ${problemText(failed.error)}`;
  return new AcmeFailure('refused', `${name}: ${words}`, NOT_VALIDATED);
}
