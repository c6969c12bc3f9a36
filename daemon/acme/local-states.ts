// State of one daemon: the account, and a state for each set of names, in memory and in the state directory. The states of
// former sets of names stay: their orders count, and a set that comes back has its certificate.

import { fields, text } from './acme-failure.ts';
import { directoryKey, entryKey } from './entry-names.ts';
import { type EntryState, newEntryState, readEntryState, writeEntryState } from './entry-state.ts';
import type { StateDirectory } from './state-directory.ts';

export interface AccountState {
  /** PEM. */
  readonly key: string;
  /** Null: not known to be registered. */
  readonly url: string | null;
}

/** The right to work on the certificate of a set of names; one process has it at a time. */
export interface Lease {
  /** Rejects any further work once it is lost. */
  readonly signal: AbortSignal;
  release(): Promise<void>;
}

export interface AcmeStates {
  readonly account: AccountState | null;
  /** Resolves with the account in force, which may be another node's. */
  saveAccount(account: AccountState): Promise<AccountState>;
  /** Of one set of names; a new one if there is none. */
  entry(names: readonly string[]): EntryState;
  saveEntry(state: EntryState): Promise<void>;
  all(): readonly EntryState[];
  /** Null if another process has it, or if it cannot be acquired now. */
  lease(names: readonly string[]): Promise<Lease | null>;
}

const ENTRY_FILE = /^entry-[0-9a-f]{24}\.json$/;
/** Files that are read (chosen). */
const MOST_FILES = 10_000;

export class LocalStates implements AcmeStates {
  account: AccountState | null = null;
  readonly directory: string;
  private readonly files: StateDirectory;
  private readonly states = new Map<string, EntryState>();

  private constructor(directory: string, files: StateDirectory) {
    this.directory = directory;
    this.files = files;
  }

  /** @param directory the authority's URL @param warn takes the problem of a file that is left out */
  static async open(
    directory: string,
    files: StateDirectory,
    warn: (text: string) => void,
  ): Promise<LocalStates> {
    const states = new LocalStates(directory, files);
    const unreadable = async (name: string): Promise<void> => {
      await files.setAside(name);
      warn(`${files.path}/${name} is damaged: renamed to ${name}.unreadable`);
    };
    const account = await files.read(states.accountFile);
    if (account !== null) {
      states.account = readAccount(account);
      if (states.account === null) await unreadable(states.accountFile);
    }
    const names = (await files.list()).filter((name) => ENTRY_FILE.test(name)).slice(0, MOST_FILES);
    for (const name of names) {
      const state = readEntryState((await files.read(name)) ?? '');
      if (state === null) await unreadable(name);
      else if (state.directory === directory) states.states.set(entryKey(directory, state.names), state);
    }
    return states;
  }

  async saveAccount(account: AccountState): Promise<AccountState> {
    await this.files.write(this.accountFile, writeAccount(account));
    this.account = account;
    return account;
  }

  entry(names: readonly string[]): EntryState {
    return this.states.get(entryKey(this.directory, names)) ?? newEntryState(this.directory, names);
  }

  async saveEntry(state: EntryState): Promise<void> {
    const key = entryKey(this.directory, state.names);
    await this.files.write(`entry-${key}.json`, writeEntryState(state));
    this.states.set(key, state);
  }

  all(): readonly EntryState[] {
    return [...this.states.values()];
  }

  async lease(): Promise<Lease> {
    return { signal: new AbortController().signal, release: async () => {} };
  }

  private get accountFile(): string {
    return `account-${directoryKey(this.directory)}.json`;
  }
}

export function writeAccount(account: AccountState): string {
  return `${JSON.stringify({ v: 1, ...account })}\n`;
}

/** Null if the text is not an account that this version understands. */
export function readAccount(json: string): AccountState | null {
  try {
    const { v, key, url } = fields(JSON.parse(json));
    return v === 1 && text(key) !== '' ? { key: text(key), url: text(url) || null } : null;
  } catch {
    return null;
  }
}
