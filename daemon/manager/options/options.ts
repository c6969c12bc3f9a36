// The command line of proxyd: flags to a plain object; every mistake is an OptionError.
//
// Pure: opens no file and no socket. Flags of Varnish without a meaning here (-h, -W) are validated and otherwise ignored.

import { totalmem } from 'node:os';
import { readCommandLine } from '../../../protocol/command-line.ts';
import { PROXYD } from '../../../protocol/tables/proxyd-options.ts';
import type { DiskSpec, ListenerSpec, StorageSpec } from '../../link.ts';
import { parseBytes } from '../../params/value.ts';
import { type JailOption, parseJail } from '../process/jail.ts';
import { type AcmeOptions, parseAcme } from './acme-option.ts';
import { DISK_KINDS, parseDisk } from './disk-option.ts';
import { type FleetOptions, parseFleet } from './fleet-option.ts';
import { DEFAULT_LISTENER, parseListeners } from './listener-option.ts';
import { OptionError } from './option-error.ts';
import { setTlsOption, type TlsOptions } from './tls-option.ts';

/** Characters that a token cannot have (RFC 9110 section 5.6.2). */
export const NO_TOKEN = /[^!#$%&'*+\-.^_`|~0-9A-Za-z]/g;

export interface Options {
  mode: 'daemon' | 'foreground' | 'debug';
  /** Empty where -A is given and -a is not. */
  listeners: ListenerSpec[];
  /** The argument of -b. */
  backend: string | null;
  /** The arguments of -f; [''] for `-f ''`. */
  programs: string[];
  /** -C: compile, print, exit. */
  compileOnly: boolean;
  dir: string | undefined;
  identity: string | null;
  params: { name: string; value: string }[];
  readOnly: string[];
  storages: StorageSpec[];
  /** Null without -s of kind disk. */
  disk: DiskSpec | null;
  secretFile: string | null;
  pidFile: string | null;
  initFile: string | null;
  /** -E: extensions without which it does not start. */
  extensions: string[];
  /** -T and -M: the text CLI, listening and connecting out. */
  cli: HostPort[];
  reverseCli: HostPort[];
  /** --console: WebSocket over TCP. */
  consoles: HostPort[];
  /** --allow-origin: Origin values that may open a console connection. */
  origins: string[];
  /** --allow-host: additional names and addresses of the --metrics and --console listeners. */
  hosts: string[];
  metrics: HostPort | null;
  /** -j; null if not given. */
  jail: JailOption | null;
  /** --log-file: destination of the daemon's own messages. */
  logFile: string | null;
  /** --read-group: a group with read access to log and counters. */
  readGroup: string | null;
  /** --fleet and related options; null without --fleet. */
  fleet: FleetOptions | null;
  /** --cert, -A and related options. */
  tls: TlsOptions;
  /** --acme and related options; null without --acme. */
  acme: AcmeOptions | null;
}

/** The address of an endpoint, and its original text. */
export interface HostPort {
  text: string;
  host: string;
  port: number;
}

export type Request =
  | { kind: 'run'; options: Options }
  | { kind: 'version' }
  | { kind: 'usage' }
  | { kind: 'document'; what: string };

const DOCUMENTS = ['builtin', 'cli', 'lint', 'optstring', 'parameter', 'vsl'];

const ALONE = ['help', 'version', 'x'];

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** Parses the arguments after the program's name. Throws OptionError. */
export function parseOptions(argv: readonly string[]): Request {
  const o: Options = {
    mode: 'daemon',
    listeners: [],
    backend: null,
    programs: [],
    compileOnly: false,
    dir: undefined,
    identity: null,
    params: [],
    readOnly: [],
    storages: [],
    disk: null,
    secretFile: null,
    pidFile: null,
    initFile: null,
    extensions: [],
    cli: [],
    reverseCli: [],
    consoles: [],
    origins: [],
    hosts: [],
    metrics: null,
    jail: null,
    logFile: null,
    readGroup: null,
    fleet: null,
    tls: { certificates: [], auto: [], file: null, insecure: false },
    acme: null,
  };
  const fleet = new Map<string, string>();
  const acme = new Map<string, string>();
  const listeners: string[] = [];
  const storages: string[] = [];
  const { options, words, end } = readCommandLine(PROXYD, argv, '');
  // Options that must stand alone report that themselves.
  if (!options.some(([name]) => ALONE.includes(name))) {
    if (end?.kind === 'mistake') throw new OptionError(end.message);
    if (words.length > 0) throw new OptionError(`Too many arguments (${words[0]}...)`);
  }
  for (const [name, value] of options) {
    switch (name) {
      case 'help':
        return { kind: 'usage' };
      case 'version':
      case 'x':
        if (name === 'x' && !DOCUMENTS.includes(value)) throw new OptionError('Invalid -x argument');
        if (options.length + words.length > 1 || end !== null)
          throw new OptionError(`Too many arguments for -${name === 'x' ? 'x' : 'V'}`);
        return name === 'x' ? { kind: 'document', what: value } : { kind: 'version' };
      case 'a':
        listeners.push(value);
        break;
      case 's':
        storages.push(value);
        break;
      case 'node':
      case 'fleet':
      case 'fleet-name':
      case 'fleet-creds':
      case 'fleet-user':
      case 'fleet-ca':
      case 'fleet-secret':
      case 'fleet-accept':
        if (fleet.has(name)) throw new OptionError(`Only one --${name} can be specified`);
        fleet.set(name, value);
        break;
      case 'acme':
      case 'acme-directory':
      case 'acme-eab':
      case 'acme-ca':
        if (acme.has(name)) throw new OptionError(`Only one --${name} can be specified`);
        acme.set(name, value);
        break;
      default:
        setOption(o, name, value);
    }
  }
  checkCombinations(o);
  o.fleet = parseFleet(fleet);
  o.acme = parseAcme(acme);
  // A file of -A may have listeners: with one, the default is added once it has been read.
  o.listeners = parseListeners(
    listeners.length === 0 && o.tls.file === null ? [DEFAULT_LISTENER] : listeners,
  );
  const specs = storages.map(parseStorage);
  const disks = specs.flatMap((spec) => ('path' in spec ? [spec] : []));
  o.storages = withDefaults(
    specs.flatMap((spec) => ('path' in spec ? [] : [spec])),
    disks[0]?.name,
  );
  if (disks.length > 1) throw new OptionError('Only one -s of kind disk can be specified');
  o.disk = disks[0] ?? null;
  if (o.storages.some(({ name }) => name === o.disk?.name))
    throw new OptionError(`Storage name "${o.disk?.name}" is used twice`);
  return { kind: 'run', options: o };
}

function setOption(o: Options, name: string, value: string): void {
  switch (name) {
    case 'b':
      if (o.backend !== null) throw new OptionError('Only one -b can be specified');
      o.backend = value;
      return;
    case 'C':
      o.compileOnly = true;
      return;
    case 'd':
    case 'F': {
      const mode = name === 'd' ? 'debug' : 'foreground';
      if (o.mode !== 'daemon' && o.mode !== mode)
        throw new OptionError('Only one of -d or -F can be specified');
      o.mode = mode;
      return;
    }
    case 'f':
      o.programs.push(value);
      return;
    case 'h':
    case 'W':
      checkUnused(name, value);
      return;
    case 'i': {
      const wrong = value.match(NO_TOKEN)?.[0];
      if (value === '' || wrong !== undefined)
        throw new OptionError(
          `${wrong === undefined ? 'Nothing' : `Invalid character '${wrong}'`} for -i, which is a token (Via)`,
        );
      o.identity = value;
      return;
    }
    case 'I':
      if (o.initFile !== null) throw new OptionError('\tOnly one -I allowed');
      o.initFile = value;
      return;
    case 'E':
      if (value === '') throw new OptionError('-E argument is empty');
      o.extensions.push(value);
      return;
    case 'j':
      o.jail = parseJail(value);
      return;
    case 'l':
      o.params.push({ name: 'vsl_space', value });
      return;
    case 'M':
      o.reverseCli.push(hostPort('-M', value));
      return;
    case 'n':
      o.dir = value;
      return;
    case 'P':
      o.pidFile = value;
      return;
    case 'p': {
      const [param, setting] = splitOnce(value, '=');
      if (setting === undefined) throw new OptionError("\t-p lacks '='");
      o.params.push({ name: param, value: setting });
      return;
    }
    case 'r':
      // An empty name between two commas is reported as unknown.
      if (value.trim() !== '') o.readOnly.push(...value.trim().split(/\s*,\s*|\s+/));
      return;
    case 'S':
      o.secretFile = value;
      return;
    case 'T':
      if (value !== 'none') o.cli.push(hostPort('-T', value, 0));
      return;
    case 't':
      o.params.push({ name: 'default_ttl', value });
      return;
    case 'console':
      o.consoles.push(hostPort('--console', value));
      return;
    case 'allow-origin':
      o.origins.push(value);
      return;
    case 'allow-host':
      if (!/^[^\s/@]+$/.test(value))
        throw new OptionError(`--allow-host: "${value}" is not host or host:port`);
      o.hosts.push(value.toLowerCase());
      return;
    case 'metrics':
      o.metrics = hostPort('--metrics', value);
      return;
    case 'log-file':
      if (value === '') throw new OptionError('--log-file needs the name of a file');
      o.logFile = value;
      return;
    case 'read-group':
      o.readGroup = value;
      return;
    case 'A':
    case 'cert':
    case 'insecure-tls':
      setTlsOption(o.tls, name, value);
      return;
  }
}

/** Options without effect are validated all the same: a typo in them is an error, whatever the unit was written for. */
const WAITERS = ['epoll', 'poll'];
/** Number of arguments by hash method. */
const HASHES: Readonly<Record<string, number>> = { critbit: 0, simple_list: 0, classic: 1 };

function checkUnused(name: string, value: string): void {
  if (name === 'W') {
    if (!WAITERS.includes(value)) throw new OptionError(`Unknown waiter method "${value}"`);
    return;
  }
  if (value === '') throw new OptionError('-h argument is empty');
  const [method = '', ...rest] = value.split(',');
  if (!Object.hasOwn(HASHES, method)) throw new OptionError(`Unknown hash method "${method}"`);
  const takes = HASHES[method] as number;
  if (rest.length <= takes) return;
  throw new OptionError(
    takes === 0 ? `Hash method "${method}" takes no arguments` : `(-h${method}) too many arguments`,
  );
}

/** `port` is the default port; without it the address must have one. */
function hostPort(flag: string, text: string, port?: number): HostPort {
  const m = /^(?:\[([^\]]+)\]|([^:\s]*))(?:[:\s](\d{1,5}))?$/.exec(text);
  const number = m?.[3] === undefined ? port : Number(m[3]);
  if (text === '' || m === null || number === undefined || number > 65535) {
    throw new OptionError(`${flag}: "${text}" is not addr:port`);
  }
  return { text, host: (m[1] ?? m[2]) || '0.0.0.0', port: number };
}

function checkCombinations(o: Options): void {
  if (o.backend !== null && o.programs.length > 0)
    throw new OptionError('Only one of -b or -f can be specified');
  if (o.consoles.length > 0 && o.secretFile === 'none')
    throw new OptionError('--console needs a secret: not -S none');
  if (o.compileOnly) {
    if (o.mode !== 'daemon') {
      throw new OptionError(`-${o.mode === 'debug' ? 'd' : 'F'} makes no sense with -C`);
    }
    if (o.backend === null && o.programs.length === 0) {
      throw new OptionError('-C needs either -b <backend> or -f <vcl_file>');
    }
    return;
  }
  if (o.backend === null && o.programs.length === 0 && o.mode !== 'debug') {
    throw new OptionError("Neither -b nor -f given. (use -f '' to override)");
  }
}

/** Whether the worker starts without a command: not in debug mode, without a program, or with -I. */
export function startsWorkerAtOnce(o: Options): boolean {
  const { programs } = o;
  const none = programs.length > 0 && programs.every((file) => file === '');
  return o.mode !== 'debug' && !none && o.initFile === null;
}

const MALLOC_KINDS = ['malloc', 'default', 'umem'];
/** Storage kinds of Varnish that are not implemented. */
const FOREIGN_KINDS = ['deprecated_persistent', 'persistent', 'debug'];
const DEFAULT_SIZE = 100 << 20;
const SMALLEST = 1 << 20;

/** Parses one argument; `index` makes the default name (s0, s1 …). Throws OptionError. */
function parseStorage(text: string, index: number): StorageSpec | DiskSpec {
  if (text === '') throw new OptionError('-s argument lacks strategy {malloc, file, ...}');
  const named = /^([^=,]*)=(.*)$/s.exec(text);
  const name = named?.[1] ?? `s${index}`;
  const [kind = '', size, ...rest] = (named?.[2] ?? text).split(',');
  if (!/^[A-Za-z][A-Za-z0-9_-]*$/.test(name)) throw new OptionError(`invalid -s name "${name}"=[...]`);
  if (named !== null && kind === '') throw new OptionError(`Empty named -s argument "${text}"`);
  if (DISK_KINDS.includes(kind)) return parseDisk(name, kind, [size ?? '', ...rest]);
  if (FOREIGN_KINDS.includes(kind)) {
    throw new OptionError(
      `Storage method "${kind}" is not supported (supported: malloc, default, umem, disk, file)`,
    );
  }
  if (!MALLOC_KINDS.includes(kind)) throw new OptionError(`Unknown storage method "${kind}"`);
  if (rest.length > 0) throw new OptionError(`(-s${kind}) too many arguments`);
  if (size === undefined || size === '') {
    return { name, kind: 'malloc', size: name === 'Transient' ? 0 : unsized() };
  }
  const bytes = parseBytes(size);
  if (typeof bytes !== 'number') throw new OptionError(`(-s${kind}) size "${size}": ${bytes.text}`);
  if (bytes < SMALLEST)
    throw new OptionError(`(-s${kind}) size "${size}": too small, did you forget to specify M or G?`);
  return { name, kind: 'malloc', size: bytes };
}

/** `-s malloc` without a size is limited to half of the machine's memory: unlimited would end in the OOM killer. */
function unsized(): number {
  return Math.floor(totalmem() / 2);
}

/** Adds the default storage in memory (100 MB) if none is given, and Transient. Throws OptionError.
 * @param disk name of the storage on disk; the only -s, it may be s0 */
function withDefaults(given: readonly StorageSpec[], disk?: string): StorageSpec[] {
  const out = [...given];
  const names = new Set<string>();
  for (const { name } of out) {
    if (names.has(name)) throw new OptionError(`Storage name "${name}" is used twice`);
    names.add(name);
  }
  if (!out.some((s) => s.name !== 'Transient'))
    out.unshift({ name: disk === 's0' ? 's1' : 's0', kind: 'malloc', size: DEFAULT_SIZE });
  if (!names.has('Transient')) out.push({ name: 'Transient', kind: 'malloc', size: 0 });
  return out;
}
