// Addresses in program text: IP literals, acl entries and backend hosts. A name is resolved when the program
// is compiled, as in Varnish; the resolver is a parameter so that tests and offline checks need no network.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { Span } from '../diagnostics.ts';
import { MESSAGES } from '../error-texts.ts';
import { type Code, constant, helper } from '../typed-program.ts';
import type { ProgramModel } from './program-model.ts';

/** Addresses of a host name; empty if it has none. */
export type HostResolver = (name: string) => string[];

/** /etc/hosts first, then the system's resolver through getent(1). Blocks; only used while compiling. */
export function systemResolver(): HostResolver {
  return (name) => {
    const fromFile = hostsFile(name);
    if (fromFile.length > 0) return fromFile;
    if (!/^[A-Za-z0-9._-]+$/.test(name) || name.startsWith('-')) return [];
    try {
      const out = execFileSync('getent', ['ahosts', name], {
        encoding: 'utf8',
        timeout: 10_000,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      return [...new Set(out.split('\n').flatMap((l) => (l === '' ? [] : [l.split(/\s+/)[0] as string])))];
    } catch {
      return [];
    }
  };
}

function hostsFile(name: string): string[] {
  try {
    const lower = name.toLowerCase();
    const out: string[] = [];
    for (const line of readFileSync('/etc/hosts', 'utf8').split('\n')) {
      const words = line.replace(/#.*/, '').trim().split(/\s+/);
      if (words.slice(1).some((w) => w.toLowerCase() === lower) && isIP(words[0] ?? '') > 0) {
        out.push(words[0] as string);
      }
    }
    return out;
  } catch {
    return [];
  }
}

/** Splits "host", "host:port", "[v6]:port" and "host port"; port is null if absent. */
export function splitHostPort(text: string): { host: string; port: string | null } {
  const v6 = /^\[([^\]]*)\](?:[: ](.*))?$/.exec(text);
  if (v6 !== null) return { host: v6[1] as string, port: v6[2] ?? null };
  if (isIP(text) === 6) return { host: text, port: null };
  const m = /^([^: ]*)[: ](.*)$/.exec(text);
  if (m !== null && isIP(text) === 0) return { host: m[1] as string, port: m[2] as string };
  return { host: text, port: null };
}

/** Code of an IP constant. */
export function resolveIpLiteral(model: ProgramModel, text: string, span: Span): Code {
  const { host, port } = splitHostPort(text);
  const address = isIP(host) > 0 ? host : model.resolveHost(host)[0];
  if (address === undefined) {
    model.reporter.fail(MESSAGES.noAddress(text), span);
  }
  return model.hoist('ip', helper('ipFrom', constant(address), constant(Number(port ?? 80) || 80)));
}

/** Whether a port name is known to this system. */
export function knownService(name: string): boolean {
  if (name === 'http' || name === 'https') return true;
  try {
    return new RegExp(`^${name.replace(/[^A-Za-z0-9]/g, '\\$&')}\\s`, 'm').test(
      readFileSync('/etc/services', 'utf8'),
    );
  } catch {
    return false;
  }
}
