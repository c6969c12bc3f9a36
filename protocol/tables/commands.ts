// All admin commands, one row each: effect, options and words, and the process that runs it. The daemon parses lines
// by these rows (daemon/commands/read-command.ts) and generates `help` from them, as are completion and the manual
// pages. Error texts are Varnish's (varnish-cli(7)), with %s for the word.

import { CLI } from '../errors.ts';
import type { CommandRow, WordRow } from './command-row.ts';

const PARAM: WordRow = { name: '<param>', of: 'parameter' };
const CONFIGNAME: WordRow = { name: '<configname>' };
const PROGRAM: WordRow = { name: '<configname>', of: 'program' };
/** State of a program. */
export const STATE: WordRow = {
  name: '[auto|cold|warm]',
  oneOf: ['auto', 'cold', 'warm'],
  wrong: 'State must be one of auto, cold or warm.',
  checkedLate: true,
};
const CONDITIONS: readonly WordRow[] = [
  { name: '<field>', of: 'field' },
  { name: '<operator>', of: 'operator' },
  { name: '<arg>' },
  { name: '[&& <field> <oper> <arg> ...]', optional: true, repeated: true },
];

function row<const N extends string, const W extends CommandRow['where']>(
  name: N,
  where: W,
  facts: Omit<CommandRow, 'name' | 'where' | 'help'>,
  help: string,
): CommandRow & { readonly name: N; readonly where: W } {
  return { name, where, ...facts, help };
}

// biome-ignore format: a row is a line
const ROWS = [
  row('auth', 'manager', { words: [{ name: '<response>' }] }, 'Answer the authentication challenge of a new connection.'),
  row('backend.list', 'worker', { options: ['j', 'p'], words: [{ name: '<backend_pattern>', optional: true, of: 'backend' }], unknownOption: { status: CLI.PARAM, text: 'Invalid flag %s' }, surplus: { status: CLI.PARAM, text: 'Too many arguments' }, reads: true },
    'Backends with their health in the words of Varnish, healthy and sick; event.list and the metrics add up and down.'),
  row('backend.set_health', 'worker', { words: [{ name: '<backend_pattern>', of: 'backend' }, { name: '[auto|healthy|sick]', oneOf: ['auto', 'healthy', 'sick'], anyCase: true, wrong: 'Invalid state %s' }], destructive: true, event: 'health' },
    'Set the health of the matching backends, or return it to their probes.'),
  row('ban', 'worker', { words: CONDITIONS, conditions: true, destructive: true, event: 'ban' },
    'Invalidate all objects that match all conditions. With --local, only on this proxy: not on the edge network or the fleet. Status 300: banned here, but the edge network or the fleet could not be notified.'),
  row('ban.count', 'worker', { options: ['j'], words: CONDITIONS, conditions: true, reads: true },
    'Count the objects that a ban would hit, without banning them.'),
  row('ban.list', 'worker', { options: ['j'], reads: true }, 'Bans in force, newest first.'),
  row('ban.soft', 'worker', { words: CONDITIONS, conditions: true, destructive: true, event: 'ban' },
    'Make all objects that match all conditions stale: they are revalidated in the background during their grace.'),
  row('banner', 'manager', { waits: 'never', reads: true }, 'Print the greeting of a new connection.'),
  row('debug.fragfetch', 'worker', { words: [{ name: '<bytes>' }], hidden: true }, 'Accepted for compatibility with scripts; no effect.'),
  row('debug.listen_address', 'manager', { waits: 'briefly', reads: true, hidden: true }, 'Name, address and port of each listener.'),
  row('debug.panic.worker', 'worker', { hidden: true, destructive: true }, 'Make the worker panic.'),
  row('debug.srandom', 'worker', { words: [{ name: '<seed>', optional: true }], hidden: true },
    'Accepted for compatibility with scripts; no effect.'),
  row('debug.xid', 'worker', { words: [{ name: '<xid>', optional: true, least: 0, most: 2 ** 30 - 1, wrong: 'Not a transaction id' }, { name: '<cachesize>', optional: true }], hidden: true },
    'Show the last transaction id, or set the next one.'),
  row('edge.dead', 'worker', { options: ['j'], reads: true }, 'Purges that the edge network rejected: dead letters of the queue.'),
  row('edge.drop', 'worker', { words: [{ name: '<id>' }], destructive: true }, 'Drop a waiting purge or a dead letter.'),
  row('edge.dryrun', 'worker', { words: [{ name: '[on|off]', oneOf: ['on', 'off'], wrong: 'on or off, not %s' }] },
    'Dry run on or off: purges are written to the journal, but not sent.'),
  row('edge.pause', 'worker', {}, 'Stop sending purges to the edge network; they are queued.'),
  row('edge.queue', 'worker', { options: ['j'], reads: true }, 'Purges waiting for the edge network.'),
  row('edge.resume', 'worker', {}, 'Resume sending purges, also after rejected credentials.'),
  row('edge.retry', 'worker', { words: [{ name: '<id|all>' }] }, 'Retry one dead letter, or all.'),
  row('edge.show', 'worker', { words: [{ name: '<id>' }], reads: true }, 'Show the details of a queued purge.'),
  row('edge.status', 'worker', { options: ['j'], reads: true }, 'The edge connector: network, state, counters, settings without secrets.'),
  row('edge.test', 'worker', { reads: true }, 'Request the test object as the edge network would, and check every header.'),
  row('event.list', 'manager', { options: ['j'], waits: 'never', reads: true },
    'Recent events: workers, programs, parameters, health, bans, purges, hit rate. Newest last.'),
  row('fleet.discard', 'manager', { words: [{ name: '<name>' }], destructive: true },
    'Remove a program from the fleet, and discard it on every node.'),
  row('fleet.list', 'manager', { options: ['j'], waits: 'briefly', reads: true },
    'Programs of the fleet: who stored them and when, and which nodes have loaded them.'),
  row('fleet.load', 'manager', { words: [{ name: '<name>' }, { name: '<filename>' }] },
    'Compile a file, and load it with its includes on every node of the fleet under a name.'),
  row('fleet.log', 'manager', { options: ['j'], words: [{ name: '<count>', optional: true, least: 1, most: 256, wrong: 'Not a number from 1 to 256: %s' }], waits: 'briefly', reads: true },
    'The last invalidations of the fleet: who published them, and which nodes have not applied them yet.'),
  row('fleet.nodes', 'manager', { options: ['j'], waits: 'briefly', reads: true },
    'The nodes of the fleet: state, lag, program, requests, hit rate, version, address of the console.'),
  row('fleet.use', 'manager', { words: [{ name: '<name>' }, { name: '[--on <node>[,<node>...]] [--force]', optional: true, repeated: true, also: [{ text: '--on', help: 'Only on these nodes (comma-separated names)' }, { text: '--force', help: 'Even if some nodes have not loaded it' }] }], destructive: true },
    'Use this program for new requests on all nodes of the fleet, or with --on on some of them first. All must have loaded it, unless --force is given.'),
  row('help', 'manager', { syntax: 'help [-j|<command>]', options: ['j'], words: [{ name: '<command>', optional: true, of: 'command' }], waits: 'never', reads: true, open: true },
    'List the commands, or describe one.'),
  row('listen.list', 'manager', { options: ['j'], waits: 'briefly', reads: true },
    'Listeners with their bound addresses and ports, and HTTPS for those with TLS.'),
  row('panic.clear', 'manager', { options: ['z'], surplus: { status: CLI.PARAM, text: 'Unknown parameter "%s".' }, waits: 'briefly', destructive: true },
    'Clear the last panic; -z also resets the counter.'),
  row('panic.show', 'manager', { options: ['j'], waits: 'briefly', reads: true }, 'Show the last panic, if any.'),
  row('param.reset', 'manager', { options: ['j'], words: [PARAM], destructive: true }, 'Reset a parameter to its default.'),
  row('param.set', 'manager', { options: ['j'], words: [PARAM, { name: '<value>' }] }, 'Give a parameter a value.'),
  row('param.show', 'manager', { options: ['lj'], words: [{ name: '[<param>|changed|<text>]', optional: true, of: 'parameter', also: [{ text: 'changed', help: 'Only parameters that differ from their default' }] }], surplus: { status: CLI.TOO_MANY, text: 'Too many parameters', withOption: CLI.PARAM }, waits: 'briefly', reads: true },
    'Parameters with their values: one, the changed ones, those whose names contain a text, or all.'),
  row('pid', 'manager', { options: ['j'], waits: 'briefly', reads: true }, 'Process ids of the manager and, while it runs, the worker.'),
  row('ping', 'manager', { options: ['j'], words: [{ name: '<timestamp>', optional: true }], waits: 'never', reads: true, open: true },
    'Keep the connection alive.'),
  row('quit', 'manager', { waits: 'never', reads: true }, 'End this connection.'),
  row('start', 'manager', { waits: 'briefly' }, 'Start the worker.'),
  row('status', 'manager', { options: ['j'], waits: 'briefly', reads: true }, 'Show the state of the worker.'),
  row('stop', 'manager', { waits: 'briefly', destructive: true }, 'Stop the worker and thus all traffic.'),
  row('storage.check', 'worker', { words: [{ name: '<name>' }] },
    'Verify the checksums of all objects in a storage on disk. Damaged objects are no longer used; the reply has their number.'),
  row('storage.drop', 'worker', { words: [{ name: '<name>' }], destructive: true },
    'Permanently remove all objects from a storage on disk. Objects in memory remain.'),
  row('storage.largest', 'worker', { options: ['j'], words: [{ name: '<number>', optional: true }], reads: true },
    'The largest objects in memory, 20 or this many: bytes of the body as stored, hits, age, remaining time to live, storage, host and URL.'),
  row('storage.list', 'manager', { options: ['j'], waits: 'briefly', reads: true }, 'Storages and their kinds, and which one is the disk tier of the others.'),
  row('tls.acme.list', 'manager', { options: ['j'], waits: 'never', reads: true },
    'Automatically managed certificates: state, expiry, next attempt, last error.'),
  row('tls.acme.retry', 'manager', { words: [{ name: '<id|all>' }] },
    'Request a certificate now instead of at the next attempt; rate limits of the authority still apply.'),
  row('tls.cert.commit', 'manager', { destructive: true },
    'Activate all staged changes, or none if the worker refuses. No connection is dropped.'),
  row('tls.cert.discard', 'manager', { words: [{ name: '<id>' }] },
    'Drop a staged certificate, or stage the removal of an active one.'),
  row('tls.cert.list', 'manager', { options: ['j', 's'], valued: [], waits: 'briefly', reads: true },
    'Certificates of listeners that speak TLS: active ones, staged ones, and those that the next commit discards. -s: only what is staged.'),
  row('tls.cert.load', 'manager', {
    syntax: 'tls.cert.load [<id>] <filename> [-f <frontend>] [-k <keyfile>] [-p <protocols>] [-c <ciphers>] [-s <ciphersuites>] [-o] [-d]',
    options: ['o', 'd'], words: [{ name: '<id|filename>' }, { name: '<filename>', optional: true }],
    valued: [{ letter: 'f', value: '<frontend>' }, { letter: 'k', value: '<keyfile>' }, { letter: 'p', value: '<protocols>' }, { letter: 'c', value: '<ciphers>' }, { letter: 's', value: '<ciphersuites>' }],
    unknownOption: { status: CLI.CANT, text: 'Unknown TLS option: -%s' } },
    'Read a certificate (PEM) and stage it, under an id. -f: for one listener, otherwise for all; -k: the key is in another file; -p: TLS versions, comma-separated; -c and -s: ciphers of TLS 1.2, and cipher suites of TLS 1.3; -o: in the order here, not that of the client; -d: presented where no name matches.'),
  row('tls.cert.reload', 'manager', {},
    'Reload the files of all active certificates and activate them: all or, if one is invalid, none.'),
  row('tls.cert.rollback', 'manager', {}, 'Drop all staged changes.'),
  row('turn.list', 'manager', { options: ['j'], waits: 'never', reads: true },
    'The longest event loop turns of the last minute in threads and manager, and the work that blocked them. Longest first.'),
  row('vcl.deps', 'manager', { options: ['j'], reads: true }, 'Programs and their dependencies.'),
  row('vcl.discard', 'manager', { words: [{ name: '<name_pattern>...', repeated: true, of: 'program' }], destructive: true },
    'Discard the matching programs.'),
  row('vcl.inline', 'manager', { words: [CONFIGNAME, { name: '<quoted_VCLstring>' }, { ...STATE, optional: true }] },
    'Compile a program given as text and load it under a name.'),
  row('vcl.label', 'manager', { words: [{ name: '<label>' }, PROGRAM] }, 'Attach a label to a program.'),
  row('vcl.list', 'manager', { options: ['j'], reads: true },
    'Loaded programs with their states. The JSON has what Varnish has, and state_temperature, both in one word: auto/warm.'),
  row('vcl.load', 'manager', { words: [CONFIGNAME, { name: '<filename>' }, { ...STATE, optional: true }] },
    'Compile a file and load it under a name.'),
  row('vcl.show', 'manager', { options: ['v'], words: [{ ...PROGRAM, optional: true }], surplus: { status: CLI.PARAM, text: "Too many parameters: '%s'" }, reads: true },
    'The source of a program; -v shows the included files and the builtin program too.'),
  row('vcl.state', 'manager', { words: [PROGRAM, STATE] }, 'Keep a program warm or cold, or let the daemon decide.'),
  // Not for read-only clients: the daemon reads the file with rights of its own, and shows lines of it in errors.
  row('vcl.try', 'manager', { options: ['j'], words: [CONFIGNAME, { name: '<filename>' }], tries: true },
    'Try a program on the last requests of the log without loading it: which decisions differ from the active program.'),
  row('vcl.use', 'manager', { words: [{ name: '<configname|label>', of: 'program' }], destructive: true },
    'Use this program for new requests.'),
] as const satisfies readonly CommandRow[];

type Row = (typeof ROWS)[number];
export type CommandName = Row['name'];
export type ManagerCommand = Extract<Row, { where: 'manager' }>['name'];
export type WorkerCommand = Extract<Row, { where: 'worker' }>['name'];

/** A row with derived values. */
export interface Command extends CommandRow {
  readonly name: CommandName;
  readonly syntax: string;
  readonly options: readonly string[];
  readonly words: readonly WordRow[];
  /** Minimum and maximum number of options and words, without a leading -j; -1 is unlimited. */
  readonly min: number;
  readonly max: number;
  /** Does a leading -j request JSON? */
  readonly json: boolean;
}

function complete(row: CommandRow & { name: CommandName }): Command {
  const { options = [], words = [], valued } = row;
  const letters = options.join('').replace('j', '');
  return {
    ...row,
    options,
    words,
    syntax:
      row.syntax ?? [row.name, ...options.map(optionSyntax), wordsSyntax(words)].filter(Boolean).join(' '),
    min: words.filter((word) => word.optional !== true).length,
    max:
      words.at(-1)?.repeated === true
        ? -1
        : letters.length + words.length + (valued === undefined ? 0 : 1 + 2 * valued.length),
    json: options.join('').includes('j'),
  };
}

function optionSyntax(letters: string): string {
  return `[${[...letters].map((letter) => `-${letter}`).join('|')}]`;
}

/** Brackets around optional words and those that follow; words that list their choices have their own. */
function wordsSyntax([word, ...rest]: readonly WordRow[]): string {
  if (word === undefined) return '';
  const text = rest.length === 0 ? word.name : `${word.name} ${wordsSyntax(rest)}`;
  return word.optional === true && !word.name.startsWith('[') ? `[${text}]` : text;
}

export const COMMANDS: readonly Command[] = ROWS.map(complete);

const BY_NAME: ReadonlyMap<string, Command> = new Map(COMMANDS.map((row) => [row.name, row]));

export function commandRow(name: string): Command | undefined {
  return BY_NAME.get(name);
}
