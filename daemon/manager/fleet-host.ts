// Joins the fleet to the manager: reads its files, loads what speaks to the bus, and lets it reach the worker. Loaded only
// with --fleet.

import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { readSecretFile } from '../../protocol/files/secret-file.ts';
import type { CommandReply } from '../../protocol/messages.ts';
import { systemText } from '../../protocol/system-text.ts';
import { sourceOf } from '../fleet/bundled-files.ts';
import { isName } from '../fleet/fleet-names.ts';
import { Fleet, type FleetHost } from '../fleet/fleet-node.ts';
import type { BusSettings } from '../fleet/nats-bus.ts';
import type { NodeFigures } from '../fleet/node-messages.ts';
import type { ProgramHost } from '../fleet/program-follower.ts';
import type { FleetRefusal, ListenerAddress, WorkerCall, WorkerState } from '../link.ts';
import type { Params } from '../params/parameter-set.ts';
import type { FleetOptions } from './fleet-option.ts';
import { type Counters, listening, ownAddress, reachedAt, TrafficRates, threadsIn } from './node-figures.ts';
import { OptionError } from './option-error.ts';
import type { Programs } from './programs.ts';

/** What the fleet needs of the manager. */
export interface FleetManager {
  readonly params: Params;
  /** When the worker's cache began to fill, in milliseconds since 1970; null while there is none. */
  cacheSince(): number | null;
  /** Resolves when no start of a worker is under way. */
  settled(): Promise<void>;
  call(call: WorkerCall): Promise<CommandReply>;
  workerState(): WorkerState;
  readonly programs: Programs;
  /** Resolves when the programs of the command line are loaded. */
  booted(): Promise<void>;
  /** Reports to consoles that programs changed. */
  programsChanged(text: string): void;
  listeners(): readonly ListenerAddress[];
  /** Where the console protocol is spoken over TCP; null where it is not. */
  console(): { readonly host: string; readonly port: number } | null;
  counters(): Promise<Counters>;
  log(level: 'info' | 'warning', text: string): void;
  /** Something that operators should see wherever they look. */
  trouble(text: string): void;
}

const OK = 200;
/** Of cli_timeout, after which a worker that waits counts as hung. */
const PATIENCE = 0.8;
/** How long fleet.load and fleet.use wait for nodes, in milliseconds (chosen): a program compiles in much less. */
const PROGRAM_WAIT = 10_000;

/** The fleet, not yet started. Rejects with an OptionError. */
export async function makeFleet(
  options: FleetOptions,
  version: string,
  manager: FleetManager,
): Promise<Fleet> {
  const node = options.node ?? ownName();
  const settings = busSettings(options, node, (text) => manager.log('warning', text));
  // A file of its own, with the client's library.
  const { NatsBus } = await import('../fleet/nats-bus.ts');
  return new Fleet(node, version, (listener) => new NatsBus(settings, listener), fleetHost(manager, options));
}

function fleetHost(manager: FleetManager, { accept }: FleetOptions): FleetHost {
  const { params } = manager;
  const call = async (what: WorkerCall): Promise<CommandReply | null> => {
    await manager.settled();
    // Without a cache there is nothing to do, and a worker that dies takes it along.
    return manager.cacheSince() === null ? null : manager.call(what);
  };
  const most = (): number => params.num('cli_timeout') * PATIENCE;
  return {
    timeout: () => Math.min(params.num('fleet_timeout'), most()) * 1000,
    wait: () => Math.max(0, Math.min(params.num('fleet_wait'), most() - params.num('fleet_timeout'))) * 1000,
    figures: figuresOf(manager),
    programs: accept === 'invalidate' ? null : programHost(manager),
    patience: () => Math.min(PROGRAM_WAIT, most() * 1000),
    catchUp: () => (params.text('fleet_gap') === 'serve' ? null : params.num('fleet_catch_up') * 1000),
    log: (level, text) => {
      manager.log(level, text);
      if (level === 'warning') manager.trouble(text);
    },
    cache: {
      since: () => manager.cacheSince(),
      apply: async (events) => {
        const reply = await call({ op: 'fleet.apply', events });
        return reply?.status === OK ? (JSON.parse(reply.body) as FleetRefusal[]) : [];
      },
      hold: async (on) => void (await call({ op: 'fleet.hold', on })),
      flush: async (why) => void (await call({ op: 'fleet.flush', why })),
    },
  };
}

/** The fleet's programs among those of this proxy. Never rejects: whoever asks goes on with the next program. */
function programHost({ programs, booted, programsChanged }: FleetManager): ProgramHost {
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
        // Those of the command line come first, and take their names.
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

function figuresOf(manager: FleetManager): (seen: string | null) => Promise<NodeFigures> {
  const traffic = new TrafficRates();
  return async (seen) => {
    const counters = await manager.counters();
    traffic.take(counters, performance.now());
    const address = ownAddress(seen);
    const console = manager.console();
    return {
      worker: manager.workerState(),
      program: manager.programs.activeName(),
      ...traffic.rates,
      threads: threadsIn(counters),
      address,
      console: console === null ? null : reachedAt(console.host, console.port, address),
      listen: listening(manager.listeners(), address),
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

/** A token and a key, each between two lines of dashes. The client's library would find that out with each try. */
function credentialsIn(path: string, bytes: Buffer): Buffer {
  const marks = bytes.toString('latin1').match(/^\s*-{3,}.*-{3,}\s*$/gm);
  if ((marks?.length ?? 0) >= 4) return bytes;
  throw new OptionError(`--fleet-creds ${path}: it is no creds file of NATS`, false);
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

/** The machine's name, as far as it may stand in a subject. */
function ownName(): string {
  const name = hostname()
    .replace(/[^A-Za-z0-9_-]/g, '-')
    .slice(0, 64);
  if (!isName(name)) throw new OptionError('The machine has no name: give this node one with --node', false);
  return name;
}
