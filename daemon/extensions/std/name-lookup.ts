// Host and service names for std.ip. The machine's tables are read once; other host names are asked of the
// resolver without waiting: the first call with a name finds nothing, later ones, of whichever thread, find the answer. A
// request never waits for a name server, and however many names requests bring, few are kept and few asked for at once.

import { lookup } from 'node:dns';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { SharedState, SharedTable } from '../../contract/shared-state.ts';
import type { Names } from './ip-text.ts';

/** Milliseconds an answer is used; a name that was not found counts as an answer too. */
const KEEP = 60_000;
const MAX_NAMES = 1000;
const MAX_PENDING = 16;

/** Asks the system's resolver; null when it does not know. */
export type Resolve = (name: string, answer: (address: string | null) => void) => void;

const systemResolve: Resolve = (name, answer) =>
  lookup(name, (error, address) => answer(error === null ? address : null));

function table(path: string): string[][] {
  try {
    const lines = readFileSync(path, 'latin1').split('\n');
    return lines.map((l) => l.replace(/#.*/, '').trim().split(/\s+/)).filter((words) => words.length > 1);
  } catch {
    return [];
  }
}

export class NameLookup implements Names {
  #hosts: Map<string, string> | null = null;
  #services: Map<string, number> | null = null;
  /** By name: an address or null, and until when it is used, in milliseconds since 1970. */
  readonly #answers: SharedTable;
  readonly #resolve: Resolve;
  #pending = 0;

  constructor(state: SharedState, resolve = systemResolve) {
    this.#answers = state.table('std.names', { numbers: 1, entries: MAX_NAMES, forgetsOldest: true });
    this.#resolve = resolve;
  }

  host(name: string): string | null {
    if (!/^[0-9A-Za-z_.-]{1,253}$/.test(name)) return null;
    const key = name.toLowerCase();
    this.#hosts ??= readHosts();
    const known = this.#hosts.get(key);
    if (known !== undefined) return known;
    const answer = this.#answers.read(key);
    if (answer === null || (answer.numbers[0] as number) < Date.now()) this.#ask(key);
    return answer?.text ?? null;
  }

  service(name: string): number | null {
    this.#services ??= readServices();
    return this.#services.get(name) ?? null;
  }

  #ask(key: string): void {
    if (this.#pending >= MAX_PENDING) return;
    this.#pending++;
    this.#resolve(key, (address) => {
      this.#pending--;
      this.#answers.update(key, (answer) => {
        answer.numbers[0] = Date.now() + KEEP;
        answer.text = address;
      });
    });
  }
}

function readHosts(): Map<string, string> {
  // What every machine means by it, table or not.
  const hosts = new Map<string, string>();
  for (const [address = '', ...names] of table('/etc/hosts')) {
    if (isIP(address) === 0) continue;
    for (const n of names) if (!hosts.has(n.toLowerCase())) hosts.set(n.toLowerCase(), address);
  }
  if (!hosts.has('localhost')) hosts.set('localhost', '127.0.0.1');
  return hosts;
}

function readServices(): Map<string, number> {
  const services = new Map([
    ['http', 80],
    ['https', 443],
  ]);
  for (const [name = '', port = '', ...aliases] of table('/etc/services')) {
    const m = /^(\d+)\/tcp$/.exec(port);
    if (m !== null) for (const n of [name, ...aliases]) services.set(n, Number(m[1]));
  }
  return services;
}
