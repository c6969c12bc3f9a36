// TLS as the manager has it: plans listeners and certificates at the start, gives each worker its state, and keeps both in
// step with files, commands and the clock. Keys go from files to the worker through here, and nowhere else.

import { join } from 'node:path';
import { CLI } from '../../../protocol/errors.ts';
import { TLS_CERT_COUNTERS } from '../../../protocol/tables/counters.ts';
import { WORKDIR_FILES } from '../../../protocol/workdir.ts';
import type { ListenerSpec, WorkerCall } from '../../link.ts';
import { newTlsCertCounters } from '../../stats/counter-fields.ts';
import type { ManagerGroup } from '../../stats/counters-reader.ts';
import { type AcmeChallenges, NO_TLS, type TlsSettings, type TlsState } from '../../tls/tls-settings.ts';
import { DEFAULT_LISTENER, parseListeners } from '../options/listener-option.ts';
import { OptionError } from '../options/option-error.ts';
import type { Options } from '../options/options.ts';
import type { Log } from '../process/daemon-log.ts';
import type { Supervisor } from '../process/supervisor.ts';
import { CertificateError } from './certificate-error.ts';
import { countExpiry, ExpiryReports } from './certificate-expiry.ts';
import { CertificateStore, type IssuedCertificate, type LoadedTls } from './certificate-store.ts';
import { FileWatch } from './file-watch.ts';
import { type AutoCertificate, planTls, type TlsPlan } from './frontend-plan.ts';
import { readKeyMaterial } from './key-material-file.ts';
import { staplePath } from './load-certificate.ts';
import { filesOf } from './load-frontends.ts';
import { TicketKeys } from './ticket-keys.ts';
import { parseTlsFile, type TlsFile } from './tls-file.ts';
import { TlsFileError } from './tls-file-lexer.ts';

/** Milliseconds between looks at the files (chosen), and between looks at the clock for tickets and expiry. */
const WATCH_INTERVAL = 2000;
const CLOCK_INTERVAL = 60_000;

/** The parts of the daemon that watches and commands use; null until it is open. */
interface Opened {
  readonly supervisor: Pick<Supervisor, 'settled' | 'state' | 'call'>;
  readonly log: Log;
  readonly happened: (text: string) => void;
}

export class TlsService {
  readonly listeners: readonly ListenerSpec[];
  /** Certificates to obtain from an authority. */
  readonly auto: readonly AutoCertificate[];
  readonly store: CertificateStore;
  readonly #plan: TlsPlan;
  readonly #warnings: readonly string[];
  readonly #insecure: boolean;
  readonly #counters = newTlsCertCounters();
  readonly #expiry = new ExpiryReports();
  readonly #watch: FileWatch;
  #challenges: AcmeChallenges = NO_TLS.challenges;
  #tickets: TicketKeys | null = null;
  #opened: Opened | null = null;
  #clock: NodeJS.Timeout | null = null;

  /** Reads the file of -A, and all certificates. Throws OptionError. */
  static async create(options: Pick<Options, 'listeners' | 'tls'>): Promise<TlsService> {
    const warnings: string[] = [];
    const file = readTlsFile(options.tls, (text) => warnings.push(`-A ${text}`));
    const plan = planTls(options.listeners, options.tls, file);
    const service = new TlsService(plan, options.tls.insecure, warnings);
    const requests = plan.certificates.map(({ frontend, entry }) => ({
      id: entry.id,
      frontend,
      files: entry.files,
      policy: entry.policy,
      isDefault: false,
      at: entry.at,
    }));
    try {
      await service.store.start(requests);
    } catch (cause) {
      if (cause instanceof CertificateError) throw new OptionError(cause.message, false);
      throw cause;
    }
    return service;
  }

  private constructor(plan: TlsPlan, insecure: boolean, warnings: readonly string[]) {
    this.#plan = plan;
    this.#insecure = insecure;
    this.#warnings = warnings;
    this.listeners = plan.listeners.length === 0 ? parseListeners([DEFAULT_LISTENER]) : plan.listeners;
    this.auto = plan.auto;
    this.store = new CertificateStore(plan.frontends, (next) => this.#apply(next));
    this.#watch = new FileWatch(
      WATCH_INTERVAL,
      () => this.#paths(),
      () => this.#filesChanged(),
    );
  }

  /** Whether any listener speaks TLS; nothing of this costs anything otherwise. */
  get isUsed(): boolean {
    return this.#plan.frontends.length > 0;
  }

  /** Whether commands may name TLS 1.0 and 1.1. */
  get insecure(): boolean {
    return this.#insecure;
  }

  /** Counters for the streams. */
  get groups(): ManagerGroup[] {
    if (!this.isUsed) return [];
    return [{ prefix: 'TLS', rows: TLS_CERT_COUNTERS, values: this.#counters }];
  }

  /** Begins to watch files and the clock, once the working directory is locked. @param happened records an event */
  open(dir: string, supervisor: Opened['supervisor'], log: Log, happened: Opened['happened']): void {
    const warn = (text: string): void => log('warning', text);
    this.#opened = { supervisor, log, happened };
    this.#warnings.forEach(warn);
    if (!this.isUsed) return;
    const { certificates } = this.store.loaded;
    for (const { warnings } of certificates) warnings.forEach(warn);
    this.#tickets = new TicketKeys(join(dir, WORKDIR_FILES.tickets), warn);
    this.#tick();
    this.#clock = setInterval(() => this.#tick(), CLOCK_INTERVAL);
    this.#clock.unref();
    void this.#watch.start();
  }

  /** For a new worker; undefined without TLS listeners. */
  get state(): TlsState | undefined {
    // Challenges of http-01 are answered by plain listeners, too.
    if (!this.isUsed && this.#challenges === NO_TLS.challenges) return undefined;
    return {
      settings: this.#settings(this.store.loaded),
      tickets: this.#tickets?.keys ?? [],
      challenges: this.#challenges,
    };
  }

  /** Updates the counters. */
  sample(): void {
    if (this.isUsed) countExpiry(this.#counters, this.#active(), Date.now() / 1000);
  }

  /** A commit has made other files count. */
  committed(): void {
    this.#watch.doubt();
  }

  /** Makes a certificate of an authority active beside the others. Returns why it cannot be, or null. */
  async install(issued: IssuedCertificate): Promise<string | null> {
    try {
      await this.store.install(issued);
      return null;
    } catch (cause) {
      if (cause instanceof CertificateError) return cause.message;
      throw cause;
    }
  }

  /** Sets the answers to an authority, in place of those before. */
  async setChallenges(challenges: AcmeChallenges): Promise<void> {
    this.#challenges = challenges;
    await this.#call({ op: 'tls.challenges', challenges });
  }

  close(): void {
    this.#watch.close();
    if (this.#clock !== null) clearInterval(this.#clock);
    this.#tickets?.removeFile();
  }

  #active(): LoadedTls['certificates'][number]['certificate'][] {
    return this.store.loaded.certificates.map(({ certificate }) => certificate);
  }

  #settings({ frontends, certificates }: LoadedTls): TlsSettings {
    const own = new Set(certificates.map(({ certificate }) => certificate.frontend));
    const isExplicit = new Set(
      this.#plan.frontends.filter((one) => one.matchGlobalCerts !== null).map(({ name }) => name),
    );
    return {
      frontends: frontends.map((one) =>
        isExplicit.has(one.name)
          ? one
          : { ...one, matchGlobalCerts: one.matchGlobalCerts && !own.has(one.name) },
      ),
      certificates: certificates.map(({ certificate }) => certificate),
    };
  }

  async #apply(next: LoadedTls): Promise<string | null> {
    return this.#call({ op: 'tls.set', settings: this.#settings(next) });
  }

  /** Sends the worker something; returns why it refuses. One that starts is waited for: it may have begun with less. */
  async #call(call: WorkerCall): Promise<string | null> {
    const supervisor = this.#opened?.supervisor;
    await supervisor?.settled();
    if (supervisor?.state !== 'running') return null;
    const { status, body } = await supervisor.call(call);
    return status === CLI.OK ? null : body.trim();
  }

  #paths(): string[] {
    const certificates = this.store.loaded.certificates.flatMap(({ request: { files } }) =>
      files === null ? [] : [files.cert, ...(files.key === null ? [] : [files.key]), staplePath(files)],
    );
    return [...this.#plan.frontends.flatMap(filesOf), ...certificates];
  }

  async #filesChanged(): Promise<void> {
    try {
      const changed = await this.store.reload();
      for (const { certificate, warnings } of changed) {
        const { id, subject, notAfter } = certificate;
        this.#report(
          'info',
          `Certificate ${id} (${subject}) was loaded from its file, valid until ${new Date(notAfter * 1000).toISOString()}`,
        );
        for (const text of warnings) this.#opened?.log('warning', text);
      }
      this.#tick();
    } catch (cause) {
      if (!(cause instanceof CertificateError)) throw cause;
      this.#report(
        'warning',
        `Files of certificates have changed and cannot be loaded; the old ones stay in use: ${cause.message}`,
      );
    }
  }

  #tick(): void {
    const now = Date.now() / 1000;
    for (const text of this.#expiry.due(this.#active(), now)) this.#report('warning', text);
    if (this.#tickets?.rotate() === true) void this.#call({ op: 'tls.tickets', keys: this.#tickets.keys });
    const isOutdated = this.store.loaded.certificates.some(
      ({ ocspUntil }) => ocspUntil !== null && ocspUntil <= now,
    );
    // A reload leaves out an OCSP response that is outdated.
    if (isOutdated) this.#watch.doubt();
  }

  #report(level: 'info' | 'warning', text: string): void {
    this.#opened?.log(level, text);
    this.#opened?.happened(text);
  }
}

function readTlsFile({ file, insecure }: Options['tls'], warn: (text: string) => void): TlsFile | null {
  if (file === null) return null;
  try {
    const text = readKeyMaterial(file).bytes.toString('utf8');
    return parseTlsFile(text, file, { insecure, warn });
  } catch (cause) {
    if (cause instanceof TlsFileError || cause instanceof CertificateError)
      throw new OptionError(`-A ${cause.message}`, false);
    throw cause;
  }
}
