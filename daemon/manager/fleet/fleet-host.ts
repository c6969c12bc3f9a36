// Connects the fleet node to the manager: reads its files, loads the bus client, and gives it access to the worker. Loaded
// only with --fleet. Status reports never contain a secret: every client of the bus can read them.

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { readSecretFile } from '../../../protocol/files/secret-file.ts';
import type { CommandReply, CounterInfo } from '../../../protocol/messages.ts';
import { systemText } from '../../../protocol/system-text.ts';
import type { KeptPlace, StreamPlace } from '../../fleet/fleet-cache.ts';
import { isName } from '../../fleet/fleet-names.ts';
import { type FleetHost, FleetNode } from '../../fleet/fleet-node.ts';
import type { BusSettings } from '../../fleet/nats-bus.ts';
import type { NodeFigures } from '../../fleet/node-messages.ts';
import { sourceOf } from '../../fleet/program-bundle.ts';
import type { ProgramHost } from '../../fleet/program-follower.ts';
import type { FleetRefusal, ListenerAddress, WorkerCall } from '../../link.ts';
import type { Params } from '../../params/parameter-set.ts';
import type { FleetOptions } from '../options/fleet-option.ts';
import { OptionError } from '../options/option-error.ts';
import type { ListenerSet } from '../process/listeners.ts';
import type { Supervisor } from '../process/supervisor.ts';
import type { Programs } from '../programs/programs.ts';

/** The parts of the manager that the fleet node uses. */
export interface FleetParts {
  readonly params: Params;
  readonly supervisor: Supervisor;
  readonly programs: Programs;
  readonly listeners: ListenerSet;
  /** Whether the cache outlives the worker. */
  readonly hasDisk: boolean;
  /** Resolves when the programs of the command line are loaded. */
  booted(): Promise<void>;
  /** Reports a change of programs to consoles. */
  programsChanged(text: string): void;
  /** The TCP address of the console protocol; null without one. */
  console(): { readonly host: string; readonly port: number } | null;
  counters(): Promise<Counters>;
  log(level: 'info' | 'warning', text: string): void;
  /** Reports a problem as an event for operators. */
  trouble(text: string): void;
}

const OK = 200;
/** The reply of fleet.place when the place is lost. */
const UNKNOWN = 300;
/** Fraction of cli_timeout that fleet operations of the worker may take: beyond cli_timeout it would count as hung. */
const TIMEOUT_SHARE = 0.8;
/** Milliseconds that fleet.load and fleet.use wait for nodes (chosen): compiling a program takes much less. */
const PROGRAM_TIMEOUT = 10_000;

/** Creates the fleet node, not yet started. Rejects with an OptionError. */
export async function makeFleet(
  options: FleetOptions,
  version: string,
  parts: FleetParts,
): Promise<FleetNode> {
  const node = options.node ?? ownName();
  const settings = busSettings(options, node, (text) => parts.log('warning', text));
  // In a separate module, because it loads the client library.
  const { NatsBus } = await import('../../fleet/nats-bus.ts');
  return new FleetNode(
    node,
    version,
    (listener) => new NatsBus(settings, listener),
    fleetHost(parts, options),
  );
}

function fleetHost(parts: FleetParts, { accept }: FleetOptions): FleetHost {
  const { params, supervisor } = parts;
  const call = async (what: WorkerCall): Promise<CommandReply | null> => {
    await supervisor.settled();
    if (parts.hasDisk) {
      const reply = await supervisor.call(what);
      if (reply.status !== OK && what.op !== 'fleet.place') throw new Error(reply.body);
      return reply;
    }
    // Without a worker there is no cache to change, and a dying worker takes its cache with it.
    return supervisor.cacheSince === null ? null : supervisor.call(what);
  };
  const limit = (): number => params.num('cli_timeout') * TIMEOUT_SHARE;
  return {
    timeout: () => Math.min(params.num('fleet_timeout'), limit()) * 1000,
    wait: () => Math.max(0, Math.min(params.num('fleet_wait'), limit() - params.num('fleet_timeout'))) * 1000,
    figures: figuresOf(parts),
    programs: accept === 'invalidate' ? null : programHost(parts),
    programTimeout: () => Math.min(PROGRAM_TIMEOUT, limit() * 1000),
    catchUp: () => (params.text('fleet_gap') === 'serve' ? null : params.num('fleet_catch_up') * 1000),
    log: (level, text) => {
      parts.log(level, text);
      if (level === 'warning') parts.trouble(text);
    },
    cache: {
      since: () => supervisor.cacheSince,
      apply: async (events) => {
        const reply = await call({ op: 'fleet.apply', events });
        return reply?.status === OK ? (JSON.parse(reply.body) as FleetRefusal[]) : [];
      },
      hold: async (on) => void (await call({ op: 'fleet.hold', on })),
      flush: async (why) => void (await call({ op: 'fleet.flush', why })),
      kept: parts.hasDisk ? keptPlace(call) : null,
    },
  };
}

function keptPlace(call: (what: WorkerCall) => Promise<CommandReply | null>): KeptPlace {
  return {
    read: async () => {
      const reply = await call({ op: 'fleet.place' });
      if (reply === null || (reply.status !== OK && reply.status !== UNKNOWN))
        throw new Error(reply?.body ?? 'no worker');
      if (reply.status === UNKNOWN) return null;
      return reply.body === '' ? 'new' : (JSON.parse(reply.body) as StreamPlace);
    },
    write: async ({ created, seq, at }) =>
      void (await call({ op: 'fleet.keep', place: JSON.stringify({ created, seq, at }) })),
  };
}

/** The local programs as the fleet node uses them. Never rejects: the caller continues with the next program. */
function programHost({ programs, booted, programsChanged }: FleetParts): ProgramHost {
  const attempt = async (what: string, run: () => Promise<CommandReply>): Promise<string | null> => {
    try {
      const { status, body } = await run();
      if (status !== OK) return body;
      programsChanged(what);
      return null;
    } catch (cause) {
      return (cause as Error).message;
    }
  };
  return {
    load: (name, bundle) =>
      attempt(`loaded ${name}`, async () => {
        // Programs of the command line are loaded first, and keep their names.
        await booted();
        const { name: file, text } = sourceOf(bundle);
        return programs.load(name, { name: file, text, bundle });
      }),
    use: (name) => attempt(`using ${name}`, () => programs.use(name)),
    discard: (name) => attempt(`discarded ${name}`, () => programs.discard([name])),
    has: (name) => programs.has(name),
    active: () => programs.activeName(),
  };
}

function figuresOf(parts: FleetParts): (seen: string | null) => Promise<NodeFigures> {
  const traffic = new TrafficRates();
  return async (seen) => {
    const counters = await parts.counters();
    traffic.take(counters, performance.now());
    const address = ownAddress(seen);
    const console = parts.console();
    return {
      worker: parts.supervisor.state,
      program: parts.programs.activeName(),
      ...traffic.rates,
      threads: threadsIn(counters),
      address,
      console: console === null ? null : reachedAt(console.host, console.port, address),
      listen: listening(parts.listeners.list(), address),
    };
  };
}

function busSettings(
  { servers, name: fleet, creds, user, ca }: FleetOptions,
  node: string,
  warn: (text: string) => void,
): BusSettings {
  const secret = (option: string, path: string): Buffer => {
    try {
      const { bytes, warning } = readSecretFile(path, true);
      if (warning !== '') warn(`${option} ${path}: ${warning}`);
      return bytes;
    } catch (cause) {
      throw new OptionError(`${option} ${path}: ${systemText(cause)}`, false);
    }
  };
  return {
    servers,
    fleet,
    node,
    creds: creds === null ? null : credentialsIn(creds, secret('--fleet-creds', creds)),
    user: user === null ? null : userIn(user, secret('--fleet-user', user)),
    ca: ca === null ? null : certificates(ca),
  };
}

/** A creds file holds a token and a key, each between two lines of dashes. The client library would report this only
 * on each connect. */
function credentialsIn(path: string, bytes: Buffer): Buffer {
  const marks = bytes.toString('latin1').match(/^\s*-{3,}.*-{3,}\s*$/gm);
  if ((marks?.length ?? 0) >= 4) return bytes;
  throw new OptionError(`--fleet-creds ${path}: not a creds file of NATS`, false);
}

/** `name:password` on the first line. */
function userIn(path: string, bytes: Buffer): { name: string; password: string } {
  const [line = ''] = bytes.toString('utf8').split(/\r?\n/, 1);
  const at = line.indexOf(':');
  if (at <= 0) throw new OptionError(`--fleet-user ${path}: its first line is not name:password`, false);
  return { name: line.slice(0, at), password: line.slice(at + 1) };
}

function certificates(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new OptionError(`--fleet-ca ${path}: ${systemText(cause)}`, false);
  }
}

/** The host name, converted to a valid word of a subject. */
function ownName(): string {
  const name = hostname()
    .replace(/[^A-Za-z0-9_-]/g, '-')
    .slice(0, 64);
  if (!isName(name)) throw new OptionError('The host name is not usable: name this node with --node', false);
  return name;
}

/** Milliseconds over which rates are averaged. */
const WINDOW = 10_000;

/** A reading of all counters. */
export interface Counters {
  readonly info: readonly CounterInfo[];
  readonly values: readonly bigint[];
}

interface Sample {
  readonly at: number;
  readonly requests: number;
  readonly hits: number;
  readonly misses: number;
}

/** Computes rates from periodic readings of the counters. */
export class TrafficRates {
  private samples: Sample[] = [];

  /** @param at time of the reading in milliseconds */
  take({ info, values }: Counters, at: number): void {
    const value = (name: string): number =>
      Number(values[info.findIndex((counter) => counter.name === name)] ?? 0n);
    const sample = {
      at,
      requests: value('MAIN.client_req'),
      hits: value('MAIN.cache_hit'),
      misses: value('MAIN.cache_miss'),
    };
    // The counters of a new worker start at zero.
    if (sample.requests < (this.samples.at(-1)?.requests ?? 0)) this.samples = [];
    this.samples.push(sample);
    while ((this.samples[1]?.at ?? at) <= at - WINDOW) this.samples.shift();
  }

  get rates(): Pick<NodeFigures, 'requests' | 'hit_rate'> {
    const [first] = this.samples;
    const last = this.samples.at(-1);
    if (first === undefined || last === undefined || last.at <= first.at)
      return { requests: 0, hit_rate: null };
    const hits = last.hits - first.hits;
    const lookups = hits + last.misses - first.misses;
    return {
      requests: rounded(((last.requests - first.requests) * 1000) / (last.at - first.at), 10),
      hit_rate: lookups === 0 ? null : rounded(hits / lookups, 10_000),
    };
  }
}

/** Number of worker threads; 0 without a worker. */
function threadsIn({ info }: Counters): number {
  return info.filter(({ name }) => /^THR\.\d+\.requests$/.test(name)).length;
}

function rounded(value: number, to: number): number {
  return Math.round(value * to) / to;
}

const ANY = new Set(['', '0.0.0.0', '::', '*']);

/** A name or address by which other machines may reach this one. @param seen address as seen by the bus */
export function ownAddress(seen: string | null): string {
  const local = seen === null || seen.startsWith('127.') || seen === '::1';
  return local ? hostname() : seen;
}

/** A wildcard listener is reachable at the machine's address. */
export function reachedAt(host: string, port: number, address: string): string {
  const at = ANY.has(host) ? address : host;
  return isIP(at) === 6 ? `[${at}]:${port}` : `${at}:${port}`;
}

/** The traffic listeners as text. */
export function listening(listeners: readonly ListenerAddress[], address: string): string[] {
  return listeners
    .slice(0, MOST_LISTENERS)
    .map(({ address: host, port, path }) =>
      path === undefined || path === '' ? reachedAt(host, port, address) : path,
    );
}

/** Listeners named in a heartbeat. */
const MOST_LISTENERS = 8;
