// The account at the authority: its key is on disk before the authority sees it, so that a crash leaves no second account.

import { AcmeClient } from './acme-client.ts';
import { AcmeFailure } from './acme-failure.ts';
import type { AcmeFetch } from './acme-fetch.ts';
import { newKey } from './certificate-request.ts';
import { AccountKey, type ExternalAccount } from './jws.ts';
import type { AccountState, AcmeStates } from './local-states.ts';

export interface AcmeSettings {
  /** The directory's URL. */
  readonly directory: string;
  /** A mail address; null for none. */
  readonly contact: string | null;
  readonly external: ExternalAccount | null;
  readonly userAgent: string;
}

export interface Session {
  readonly client: AcmeClient;
  readonly key: AccountKey;
}

export class AccountSession {
  private readonly settings: AcmeSettings;
  private readonly states: AcmeStates;
  private readonly fetch: AcmeFetch;
  private readonly now: () => number;
  private session: (Session & { readonly pem: string }) | null = null;
  private opening: Promise<Session> | null = null;

  constructor(settings: AcmeSettings, states: AcmeStates, fetch: AcmeFetch, now: () => number) {
    this.settings = settings;
    this.states = states;
    this.fetch = fetch;
    this.now = now;
  }

  /** Resolves when the account exists. Rejects with an AcmeFailure. */
  open(): Promise<Session> {
    this.opening ??= this.opened().finally(() => {
      this.opening = null;
    });
    return this.opening;
  }

  /** The authority does not know the account: the next session registers it again. */
  async forget(): Promise<void> {
    const { account } = this.states;
    if (account !== null) await this.states.saveAccount({ ...account, url: null });
  }

  private async opened(): Promise<Session> {
    const { states, settings } = this;
    let account = states.account ?? (await states.saveAccount({ key: newKey(), url: null }));
    if (account.url === null) {
      const { client } = this.sessionOf(account);
      const url = await client.register(settings.contact, settings.external).catch((cause: unknown) => {
        throw explained(cause, settings.external !== null);
      });
      account = await states.saveAccount({ ...account, url });
    }
    const session = this.sessionOf(account);
    session.client.account = account.url;
    return session;
  }

  private sessionOf({ key: pem }: AccountState): Session {
    if (this.session?.pem !== pem) {
      const key = new AccountKey(pem);
      const { directory, userAgent } = this.settings;
      const client = new AcmeClient({ fetch: this.fetch, key, directory, userAgent, now: this.now });
      this.session = { client, key, pem };
    }
    return this.session;
  }
}

/** Adds what an operator can do. */
function explained(cause: unknown, bound: boolean): unknown {
  if (!(cause instanceof AcmeFailure)) return cause;
  const { kind, type, notBefore, message } = cause;
  if (type !== 'externalAccountRequired' || bound) return cause;
  return new AcmeFailure(
    kind,
    `${message}; give the account that you have there with --acme-eab`,
    type,
    notBefore,
  );
}
