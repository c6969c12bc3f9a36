// Connects the client of an authority to the manager: its files, its place in the fleet, and the store of certificates.
// Loaded only with --acme.

import { readFileSync } from 'node:fs';
import { readSecretFile } from '../../../protocol/files/secret-file.ts';
import { systemText } from '../../../protocol/system-text.ts';
import { stateDirectory, surroundings } from '../../../protocol/workdir.ts';
import { acmeFetch } from '../../acme/acme-fetch.ts';
import type { AcmeEntry, AcmeStatus, AcmeTime, ChallengeType } from '../../acme/acme-interface.ts';
import { AcmeManager } from '../../acme/acme-manager.ts';
import { ChallengeBoard } from '../../acme/challenge-board.ts';
import { acmeNames } from '../../acme/entry-names.ts';
import { FleetStates } from '../../acme/fleet-states.ts';
import type { ExternalAccount } from '../../acme/jws.ts';
import { LocalStates } from '../../acme/local-states.ts';
import { Sealing } from '../../acme/sealing.ts';
import { StateDirectory } from '../../acme/state-directory.ts';
import type { BucketFollower } from '../../fleet/bucket-follower.ts';
import type { ListenerSpec } from '../../link.ts';
import type { AcmeChallenges } from '../../tls/tls-settings.ts';
import { type AcmeOptions, externalAccountWords } from '../options/acme-option.ts';
import type { FleetOptions } from '../options/fleet-option.ts';
import { OptionError } from '../options/option-error.ts';
import { LateBucket } from './late-bucket.ts';

/** A certificate that is wanted; `policy` goes to the store with it. */
export interface AutoEntry<Policy> extends AcmeEntry {
  readonly policy?: Policy;
}

/** The store of certificates, as it is used here. */
export interface AcmeStore<Policy> {
  /** Resolves with null once workers present the certificate, else with the reason why they do not. */
  install(certificate: {
    readonly id: string;
    readonly frontend: string | null;
    readonly names: readonly string[];
    readonly chain: string;
    readonly key: string;
    readonly policy?: Policy;
  }): Promise<string | null>;
  /** Resolves when every worker gives these answers, and no others. */
  setChallenges(challenges: AcmeChallenges): Promise<void>;
}

export interface AcmeHostParts<Policy> {
  /** The resolved working directory. */
  readonly dir: string;
  readonly version: string;
  readonly wanted: readonly AutoEntry<Policy>[];
  readonly fleet: FleetOptions | null;
  readonly store: AcmeStore<Policy>;
  listeners(): readonly Pick<ListenerSpec, 'port' | 'tls'>[];
  isServing(): boolean;
  log(level: 'info' | 'warning', text: string): void;
  /** Reports an event. */
  happened(text: string): void;
}

/** Automatic certificates as the manager has them. */
export interface AutomaticCertificates {
  /** Begins to obtain and renew. @param bucket the fleet's; null without one */
  start(bucket: BucketFollower | null): void;
  /** A worker serves. */
  workerServes(): void;
  status(): AcmeStatus[];
  /** Whether there is a certificate of that id, or any for `all`: it is asked for again soon. */
  retry(id: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Opens the state directory, and installs what there is. Rejects with an OptionError. */
export async function openAutomaticCertificates<Policy>(
  options: AcmeOptions,
  parts: AcmeHostParts<Policy>,
): Promise<AutomaticCertificates> {
  const { version, fleet, store, log } = parts;
  const warn = (text: string): void => report(parts, text, true);
  const wanted = parts.wanted.map((entry) => ({ ...entry, names: checkedNames(entry.names) }));
  if (wanted.length === 0)
    log(
      'warning',
      '--acme has nothing to do: no certificate is wanted with --cert auto:name or cert = "auto"',
    );
  const settings = {
    directory: options.directory,
    contact: options.email,
    external: externalAccount(options, log),
    userAgent: `proxyd/${version}`,
  };
  const fetch = acmeFetch(options.ca === null ? null : certificates(options.ca));
  const sealing = fleet === null ? null : new Sealing(fleetSecret(fleet, log), fleet.name);
  const files = await openDirectory(parts.dir);
  try {
    const local = await LocalStates.open(options.directory, files, warn);
    const board = new ChallengeBoard((challenges) => store.setChallenges(challenges));
    const bucket = new LateBucket();
    const changed = (): void => manager.look();
    const shared =
      sealing === null
        ? null
        : new FleetStates({ local, store: bucket, sealing, board, time: REAL_TIME, changed, warn });
    const manager: AcmeManager = new AcmeManager({
      settings,
      wanted,
      states: shared ?? local,
      answers: shared ?? board,
      host: {
        install: async ({ entry, id, chain, key }) => {
          const { frontend, names, policy } = entry as AutoEntry<Policy>;
          const rest = policy === undefined ? {} : { policy };
          const problem = await store.install({ id, frontend, names, chain, key, ...rest });
          if (problem !== null) throw new Error(problem);
        },
        challengeTypes: () => challengeTypes(parts.listeners()),
        isServing: () => parts.isServing(),
        happened: (text, problem) => report(parts, text, problem),
      },
      time: REAL_TIME,
      fetch,
    });
    await manager.restore();
    return {
      start: (follower) => {
        if (follower !== null) bucket.bind(follower);
        manager.start();
      },
      workerServes: () => manager.workerServes(),
      status: () => manager.status(),
      retry: (id) => manager.retry(id),
      close: async () => {
        await manager.close();
        await shared?.close();
        await files.close();
      },
    };
  } catch (cause) {
    await files.close();
    throw cause instanceof OptionError ? cause : refusal(files.path, cause);
  }
}

const REAL_TIME: AcmeTime = {
  now: () => Date.now(),
  random: () => Math.random(),
  after: (milliseconds, run) => {
    const timer = setTimeout(run, milliseconds);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

function report(
  { log, happened }: Pick<AcmeHostParts<unknown>, 'log' | 'happened'>,
  text: string,
  problem: boolean,
): void {
  log(problem ? 'warning' : 'info', text);
  happened(text);
}

function checkedNames(given: readonly string[]): readonly string[] {
  const names = acmeNames(given);
  if (typeof names !== 'string') return names;
  throw new OptionError(names, false);
}

async function openDirectory(workdir: string): Promise<StateDirectory> {
  const path = stateDirectory('acme', workdir, surroundings());
  if (path === null)
    throw new OptionError('--acme: there is no home directory to keep keys in: set STATE_DIRECTORY', false);
  try {
    return await StateDirectory.open(path);
  } catch (cause) {
    throw refusal(path, cause);
  }
}

function refusal(path: string, cause: unknown): OptionError {
  return new OptionError(
    `--acme: cannot keep keys in ${path}: ${systemText(cause)} (or set STATE_DIRECTORY)`,
    false,
  );
}

/** An authority connects to the ports 80 and 443 of a name. */
export function challengeTypes(
  listeners: readonly Pick<ListenerSpec, 'port' | 'tls'>[],
): readonly ChallengeType[] {
  const hasTls = listeners.some(({ tls }) => tls === true);
  const hasPort80 = listeners.some(({ port, tls }) => port === 80 && tls !== true);
  const hasPort443 = listeners.some(({ port, tls }) => port === 443 && tls === true);
  if (!hasTls) return ['http-01'];
  return hasPort443 && !hasPort80 ? ['tls-alpn-01', 'http-01'] : ['http-01', 'tls-alpn-01'];
}

function externalAccount({ eab }: AcmeOptions, log: AcmeHostParts<unknown>['log']): ExternalAccount | null {
  if (eab === null) return null;
  if (!('file' in eab)) {
    log('warning', '--acme-eab: other users of this machine can read the key: give it as @file');
    return { kid: eab.kid, hmacKey: Buffer.from(eab.key, 'base64url') };
  }
  const [line = ''] = secretIn('--acme-eab', eab.file, log).toString('utf8').split(/\r?\n/, 1);
  const { kid, key } = externalAccountWords(line.trim(), `--acme-eab ${eab.file}: its first line`);
  return { kid, hmacKey: Buffer.from(key, 'base64url') };
}

/** The bytes that all nodes have: of their own file, else the credentials of the bus. */
function fleetSecret(
  { secret, creds, user, name }: FleetOptions,
  log: AcmeHostParts<unknown>['log'],
): Uint8Array {
  if (secret !== null) return trimmed(secretIn('--fleet-secret', secret, log));
  if (creds !== null) return trimmed(secretIn('--fleet-creds', creds, log));
  if (user !== null) return trimmed(secretIn('--fleet-user', user, log));
  log(
    'warning',
    '--acme: whoever can read the bus of the fleet can read the keys of certificates: give all nodes one --fleet-secret',
  );
  return Buffer.from(name);
}

function trimmed(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').trim(), 'latin1');
}

function secretIn(option: string, path: string, log: AcmeHostParts<unknown>['log']): Buffer {
  try {
    const { bytes, warning } = readSecretFile(path, true);
    if (warning !== '') log('warning', `${option} ${path}: ${warning}`);
    return bytes;
  } catch (cause) {
    throw new OptionError(`${option} ${path}: ${systemText(cause)}`, false);
  }
}

function certificates(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new OptionError(`--acme-ca ${path}: ${systemText(cause)}`, false);
  }
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new OptionError(`--acme-ca ${path}: no certificate in PEM is in it`, false);
}
