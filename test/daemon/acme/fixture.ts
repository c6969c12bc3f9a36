// A manager of certificates over a directory, an authority, and a stand-in for workers that answers challenges over real
// sockets. Its clock runs fast, and can be put forward.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext, createServer as createTlsServer } from 'node:tls';
import type { AcmeSettings } from '../../../daemon/acme/account-session.ts';
import { type AcmeFetch, acmeFetch } from '../../../daemon/acme/acme-fetch.ts';
import type {
  AcmeCertificate,
  AcmeEntry,
  AcmeTime,
  ChallengeType,
} from '../../../daemon/acme/acme-interface.ts';
import { AcmeManager } from '../../../daemon/acme/acme-manager.ts';
import { ChallengeBoard } from '../../../daemon/acme/challenge-board.ts';
import { FleetStates } from '../../../daemon/acme/fleet-states.ts';
import type { FleetStore } from '../../../daemon/acme/fleet-store.ts';
import { LocalStates } from '../../../daemon/acme/local-states.ts';
import { Sealing } from '../../../daemon/acme/sealing.ts';
import { StateDirectory } from '../../../daemon/acme/state-directory.ts';
import type { AcmeChallenges } from '../../../daemon/tls/tls-settings.ts';
import { AcmeCa } from '../../harness/acme-ca.ts';

/** A clock that runs fifty times as fast, from a fixed time. */
export class FastTime implements AcmeTime {
  private readonly began = performance.now();
  private offset = Date.UTC(2030, 0, 1);
  private readonly timers = new Set<{ at: number; run: () => void; timer: NodeJS.Timeout | null }>();
  chance = 0.5;

  now(): number {
    return Math.round(this.offset + (performance.now() - this.began) * 50);
  }

  random(): number {
    return this.chance;
  }

  after(milliseconds: number, run: () => void): () => void {
    const entry = { at: this.now() + milliseconds, run, timer: null };
    this.timers.add(entry);
    this.arm(entry);
    return () => {
      if (entry.timer !== null) clearTimeout(entry.timer);
      this.timers.delete(entry);
    };
  }

  skip(milliseconds: number): void {
    this.offset += milliseconds;
    for (const each of this.timers) this.arm(each);
  }

  private arm(entry: { at: number; run: () => void; timer: NodeJS.Timeout | null }): void {
    if (entry.timer !== null) clearTimeout(entry.timer);
    entry.timer = setTimeout(
      () => {
        this.timers.delete(entry);
        entry.run();
      },
      Math.max(0, (entry.at - this.now()) / 50),
    );
  }
}

/** Answers challenges over HTTP and TLS as it was told last. */
export class AnsweringWorker {
  challenges: AcmeChallenges = { http: {}, alpn: {} };
  readonly installed = new Map<string, AcmeCertificate>();
  /** Milliseconds until it answers as it was told. */
  delay = 0;
  private readonly http: Server = createServer((request, response) => {
    const answer = this.challenges.http[(request.url ?? '').split('/').at(-1) ?? ''];
    response.statusCode = answer === undefined ? 404 : 200;
    response.end(answer);
  });
  private readonly tls = createTlsServer({
    ALPNProtocols: ['acme-tls/1'],
    SNICallback: (name, done) => {
      const found = this.challenges.alpn[name];
      if (found === undefined) done(new Error('no such name'));
      else done(null, createSecureContext({ cert: found.chain, key: found.key }));
    },
  });

  async start(): Promise<{ http: number; tls: number }> {
    const port = (server: {
      listen(port: number, host: string, done: () => void): unknown;
      address(): unknown;
    }) =>
      new Promise<number>((resolve) =>
        server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
      );
    this.tls.on('tlsClientError', () => {});
    return { http: await port(this.http), tls: await port(this.tls) };
  }

  close(): void {
    this.http.close();
    this.tls.close();
  }
}

export interface Running {
  readonly manager: AcmeManager;
  readonly worker: AnsweringWorker;
  readonly events: string[];
  readonly states: LocalStates;
  readonly path: string;
  close(): Promise<void>;
}

export interface Wishes {
  readonly names?: readonly string[];
  readonly entries?: readonly AcmeEntry[];
  readonly settings?: Partial<AcmeSettings>;
  readonly types?: readonly ChallengeType[];
  /** An existing directory. */
  readonly path?: string;
  readonly fleet?: { readonly store: FleetStore; readonly secret: string };
  readonly install?: (certificate: AcmeCertificate) => Promise<void>;
  readonly worker?: AnsweringWorker;
}

export class Bench {
  readonly time = new FastTime();
  readonly ca: AcmeCa;
  private readonly fetch: AcmeFetch;
  private readonly ends: (() => unknown)[] = [];
  private readonly root = mkdtempSync(join(tmpdir(), 'acme-'));
  private made = 0;

  private constructor(ca: AcmeCa) {
    this.ca = ca;
    this.fetch = acmeFetch(ca.issuer.root, 2000);
    ca.now = () => this.time.now();
  }

  static async start(): Promise<Bench> {
    return new Bench(await new AcmeCa().start());
  }

  async run(wishes: Wishes = {}): Promise<Running> {
    const { ca, time } = this;
    const events: string[] = [];
    const worker = wishes.worker ?? new AnsweringWorker();
    if (wishes.worker === undefined) {
      ca.targets = await worker.start();
      this.ends.push(() => worker.close());
    }
    const path = wishes.path ?? join(this.root, String(this.made++));
    const files = await StateDirectory.open(path);
    const note = (text: string): void => void events.push(text);
    const states = await LocalStates.open(ca.directory, files, note);
    const board = new ChallengeBoard(async (challenges) => {
      if (worker.delay > 0) await new Promise((resolve) => setTimeout(resolve, worker.delay));
      worker.challenges = challenges;
    });
    const { fleet } = wishes;
    const shared =
      fleet === undefined
        ? null
        : new FleetStates({
            local: states,
            store: fleet.store,
            sealing: new Sealing(Buffer.from(fleet.secret), 'shop'),
            board,
            time,
            changed: () => manager.look(),
            warn: note,
          });
    const manager: AcmeManager = new AcmeManager({
      settings: {
        directory: ca.directory,
        contact: 'ops@a.example',
        external: null,
        userAgent: 'test',
        ...wishes.settings,
      },
      wanted: wishes.entries ?? [{ id: null, frontend: null, names: wishes.names ?? ['a.example'] }],
      states: shared ?? states,
      answers: shared ?? board,
      host: {
        install: async (certificate) => {
          await wishes.install?.(certificate);
          worker.installed.set(certificate.id, certificate);
        },
        challengeTypes: () => wishes.types ?? ['http-01', 'tls-alpn-01'],
        isServing: () => true,
        happened: note,
      },
      time,
      fetch: this.fetch,
    });
    await manager.restore();
    manager.start();
    let closed: Promise<void> | null = null;
    const close = (): Promise<void> => {
      closed ??= manager.close().then(() => files.close());
      return closed;
    };
    this.ends.unshift(close);
    return { manager, worker, events, states, path, close };
  }

  async close(): Promise<void> {
    for (const end of this.ends) await end();
    await this.ca.close();
    rmSync(this.root, { recursive: true, force: true });
  }
}
