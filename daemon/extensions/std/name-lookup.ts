// Host and service names for std.ip. The machine's tables are read once; other host names are asked of the
// resolver without waiting: the first call with a name finds nothing, later ones find the answer. A request never
// waits for a name server, and however many names requests bring, few are kept and few asked for at once.

import { lookup } from 'node:dns';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { Names } from './ip-text.ts';

/** Milliseconds an answer is used; a name that was not found counts as an answer too. */
const KEEP = 60_000;
const MAX_NAMES = 1000;
const MAX_PENDING = 16;

interface Answer {
  address: string | null;
  until: number;
}

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
  readonly #answers = new Map<string, Answer>();
  #pending = 0;

  host(name: string): string | null {
    if (!/^[0-9A-Za-z_.-]{1,253}$/.test(name)) return null;
    const key = name.toLowerCase();
    this.#hosts ??= readHosts();
    const known = this.#hosts.get(key);
    if (known !== undefined) return known;
    const answer = this.#answers.get(key);
    if (answer === undefined || answer.until < Date.now()) this.#ask(key);
    return answer?.address ?? null;
  }

  service(name: string): number | null {
    this.#services ??= readServices();
    return this.#services.get(name) ?? null;
  }

  #ask(key: string): void {
    if (this.#pending >= MAX_PENDING) return;
    this.#pending++;
    lookup(key, (error, address) => {
      this.#pending--;
      this.#answers.delete(key);
      this.#answers.set(key, { address: error === null ? address : null, until: Date.now() + KEEP });
      if (this.#answers.size <= MAX_NAMES) return;
      for (const oldest of this.#answers.keys()) {
        this.#answers.delete(oldest);
        break;
      }
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
