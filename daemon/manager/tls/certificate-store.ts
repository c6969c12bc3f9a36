// The certificates of a daemon: the active ones, and changes that are staged until they are committed together. Whatever
// becomes active has been accepted by the worker, if one runs; a refusal changes nothing.
//
// One operation at a time: an operation that waits for the worker holds up those after it.

import type { TlsFrontend } from '../../tls/tls-settings.ts';
import { turns } from '../../turns/turns.ts';
import { CertificateError, placed } from './certificate-error.ts';
import type { FrontendPlan } from './frontend-plan.ts';
import {
  type CertificateRequest,
  certificateOf,
  type LoadedCertificate,
  loadCertificate,
} from './load-certificate.ts';
import { loadFrontend } from './load-frontends.ts';
import { isCertificateId, type PolicyText } from './tls-file.ts';

/** Certificates that there may be, staged ones included (chosen): they go to the worker in one message. */
const MOST = 1000;

/** All that listeners present. */
export interface LoadedTls {
  readonly frontends: readonly TlsFrontend[];
  readonly certificates: readonly LoadedCertificate[];
}

/** Makes the worker use new certificates; returns why it does not, or null. */
type Apply = (next: LoadedTls) => Promise<string | null>;

/** A certificate that an authority has issued; texts are PEM. */
export interface IssuedCertificate {
  readonly id: string;
  /** Null: global. */
  readonly frontend: string | null;
  /** Names that it was asked for. */
  readonly names: readonly string[];
  readonly chain: string;
  readonly key: string;
  readonly policy?: PolicyText;
}

export type CertificateStatus = 'active' | 'staged' | 'discarded';

export class CertificateStore {
  readonly #plans: readonly FrontendPlan[];
  readonly #apply: Apply;
  readonly #now: () => number;
  #loaded: LoadedTls = { frontends: [], certificates: [] };
  #staged: readonly LoadedCertificate[] = [];
  /** Ids of active ones that the next commit drops. */
  #discarded: ReadonlySet<string> = new Set();
  #nextId = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** @param now returns epoch seconds */
  constructor(plans: readonly FrontendPlan[], apply: Apply, now = () => Date.now() / 1000) {
    this.#plans = plans;
    this.#apply = apply;
    this.#now = now;
  }

  get loaded(): LoadedTls {
    return this.#loaded;
  }

  /** The active ones, then the staged. */
  list(): { readonly status: CertificateStatus; readonly entry: LoadedCertificate }[] {
    const status = (id: string): CertificateStatus => (this.#discarded.has(id) ? 'discarded' : 'active');
    return [
      ...this.#loaded.certificates.map((entry) => ({ status: status(entry.request.id), entry })),
      ...this.#staged.map((entry) => ({ status: 'staged' as const, entry })),
    ];
  }

  /** The certificates of the start. Throws CertificateError. */
  async start(requests: readonly (Omit<CertificateRequest, 'id'> & { id: string | null })[]): Promise<void> {
    const frontends = this.#plans.map(loadFrontend);
    for (const { id } of requests)
      if (id !== null) this.#checkId(id, requests.filter((one) => one.id === id).length - 1);
    const taken = new Set(requests.map(({ id }) => id));
    const named = requests.map((request) => ({ ...request, id: request.id ?? this.#freeId(taken) }));
    this.#loaded = { frontends, certificates: await this.#load(named) };
  }

  /** Stages a certificate; without an id it gets one. Rejects with CertificateError. */
  stage(request: Omit<CertificateRequest, 'id'> & { id: string | null }): Promise<LoadedCertificate> {
    return this.#alone(async () => {
      const { id } = request;
      if (id !== null) this.#checkId(id, this.#kept().filter((one) => one.request.id === id).length);
      const taken = new Set(this.list().map(({ entry }) => entry.request.id));
      const [staged] = await this.#load([{ ...request, id: id ?? this.#freeId(taken) }]);
      this.#staged = [...this.#staged, staged as LoadedCertificate];
      return staged as LoadedCertificate;
    });
  }

  /** Drops a staged certificate, or has the next commit drop an active one. Returns false if there is none. */
  discard(id: string): Promise<boolean> {
    return this.#alone(async () => {
      const rest = this.#staged.filter(({ request }) => request.id !== id);
      if (rest.length < this.#staged.length) {
        this.#staged = rest;
        return true;
      }
      if (!this.#loaded.certificates.some(({ request }) => request.id === id)) return false;
      this.#discarded = new Set([...this.#discarded, id]);
      return true;
    });
  }

  get hasStaged(): boolean {
    return this.#staged.length > 0 || this.#discarded.size > 0;
  }

  /** Forgets what is staged. */
  rollback(): Promise<void> {
    return this.#alone(async () => {
      this.#staged = [];
      this.#discarded = new Set();
    });
  }

  /** Makes active what is staged; returns the ids that came and went. Rejects with CertificateError if the worker
   * refuses. */
  commit(): Promise<{ readonly added: readonly string[]; readonly discarded: readonly string[] }> {
    return this.#alone(async () => {
      const { frontends } = this.#loaded;
      await this.#activate({ frontends, certificates: this.#kept() });
      const done = { added: this.#staged.map(({ request }) => request.id), discarded: [...this.#discarded] };
      this.#staged = [];
      this.#discarded = new Set();
      return done;
    });
  }

  /** Reads all files of active certificates and of listeners again; what is staged stays staged. Returns the new
   * certificates that differ. Rejects with CertificateError, and the old ones stay. */
  reload(): Promise<readonly LoadedCertificate[]> {
    return this.#alone(async () => {
      const before = this.#loaded.certificates;
      const frontends = this.#plans.map(loadFrontend);
      const certificates = await this.#load(
        before.map(({ request }) => request),
        before,
      );
      await this.#activate({ frontends, certificates });
      return certificates.filter((one, i) => isChanged(before[i] as LoadedCertificate, one));
    });
  }

  /** Makes a certificate active beside the others, in place of the one with its id; what is staged stays staged.
   * Rejects with CertificateError. */
  install({ id, frontend, names, chain, key, policy = {} }: IssuedCertificate): Promise<LoadedCertificate> {
    return this.#alone(async () => {
      this.#checkFrontend(frontend);
      if (!isCertificateId(id)) this.#checkId(id, 0);
      const request = { id, frontend, files: null, policy, isDefault: false };
      const issued = certificateOf(request, { chain, key }, this.#now());
      const missing = names.filter((name) => !issued.certificate.names.includes(name));
      if (missing.length > 0)
        throw new CertificateError(`certificate ${id}: it is not for ${missing.join(', ')}`);
      const { frontends, certificates } = this.#loaded;
      const at = certificates.findIndex((one) => one.request.id === id);
      const next = at < 0 ? [...certificates, issued] : certificates.with(at, issued);
      checkCount(next.length);
      await this.#activate({ frontends, certificates: next });
      return issued;
    });
  }

  /** The certificates after the next commit. */
  #kept(): LoadedCertificate[] {
    const kept = this.#loaded.certificates.filter(({ request }) => !this.#discarded.has(request.id));
    return [...kept, ...this.#staged];
  }

  async #activate(next: LoadedTls): Promise<void> {
    const refusal = await this.#apply(next);
    if (refusal !== null) throw new CertificateError(refusal);
    this.#loaded = next;
  }

  /** @param before what to keep of certificates that are not in files */
  async #load(
    requests: readonly CertificateRequest[],
    before: readonly LoadedCertificate[] = [],
  ): Promise<LoadedCertificate[]> {
    checkCount(requests.length + (before.length === 0 ? this.list().length : 0));
    const loaded: LoadedCertificate[] = [];
    for (const [i, request] of requests.entries()) {
      const { files, frontend } = request;
      this.#checkFrontend(frontend);
      loaded.push(
        files === null
          ? (before[i] as LoadedCertificate)
          : placed(request.at, () => loadCertificate({ ...request, files }, this.#now())),
      );
      if (!turns.mayContinue()) await turns.next();
    }
    return loaded;
  }

  #checkFrontend(frontend: string | null): void {
    const names = this.#plans.map(({ name }) => name);
    if (frontend === null || names.includes(frontend)) return;
    const known = names.length === 0 ? 'none speaks TLS' : `those with TLS are ${names.join(', ')}`;
    throw new CertificateError(`There is no TLS listener ${frontend}: ${known}`);
  }

  #checkId(id: string, others: number): void {
    if (!isCertificateId(id))
      throw new CertificateError(
        `"${id.slice(0, 40)}" cannot be an id: take up to 128 letters, digits and . - _ : @ * +`,
      );
    if (others > 0) throw new CertificateError(`Id: "${id}" already exists`);
  }

  #freeId(taken: ReadonlySet<string | null>): string {
    let id: string;
    do id = `cert${this.#nextId++}`;
    while (taken.has(id));
    return id;
  }

  #alone<T>(operation: () => Promise<T>): Promise<T> {
    const done = this.#last.then(operation);
    this.#last = done.catch(() => {});
    return done;
  }
}

function checkCount(count: number): void {
  if (count > MOST)
    throw new CertificateError(
      `There would be ${count} certificates, of at most ${MOST}: put several names into one`,
    );
}

function isChanged({ certificate: a }: LoadedCertificate, { certificate: b }: LoadedCertificate): boolean {
  return a.chain !== b.chain || a.key !== b.key || a.ocsp !== b.ocsp;
}
