// Host and service names for std.ip. The machine's tables are read once; other host names are resolved without
// waiting: the first call with a name finds nothing, later ones, in any thread, find the answer. The number of cached
// names and of pending queries is bounded, because names may come from requests.

import { lookup } from 'node:dns';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { SharedState, SharedTable } from '../../contract/shared-state.ts';
import type { Names } from './ip-text.ts';

/** Lifetime of an answer in milliseconds; a failed lookup counts as an answer, too. */
const KEEP = 60_000;
const MAX_NAMES = 1000;
const MAX_PENDING = 16;

/** Asks the system's resolver; null if the name is unknown. */
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
  /** By name: an address or null, and its expiry in milliseconds since 1970. */
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
  // Defined on every machine, with or without a table.
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
