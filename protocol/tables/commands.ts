// Every admin command, one row each: what it does, the options and words that it takes, which process carries it out.
//
// The daemon reads lines by these rows (daemon/commands/read-command.ts), and makes `help` of them; completion and the
// manual pages are made of them too. Texts of errors are those of Varnish (varnish-cli(7)), with %s for the word.

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

const ROWS = [
  {
    name: 'auth',
    help: 'Answer the challenge of a new connection.',
    words: [{ name: '<response>' }],
    where: 'manager',
  },
  {
    name: 'backend.list',
    help: 'Backends with their health in the words of Varnish, healthy and sick; event.list and the metrics add up and down.',
    options: ['j', 'p'],
    words: [{ name: '<backend_pattern>', optional: true, of: 'backend' }],
    unknownOption: { status: CLI.PARAM, text: 'Invalid flag %s' },
    surplus: { status: CLI.PARAM, text: 'Too many arguments' },
    where: 'worker',
    reads: true,
  },
  {
    name: 'backend.set_health',
    help: 'Decide the health of the matching backends, or leave it to their probes.',
    words: [
      { name: '<backend_pattern>', of: 'backend' },
      {
        name: '[auto|healthy|sick]',
        oneOf: ['auto', 'healthy', 'sick'],
        anyCase: true,
        wrong: 'Invalid state %s',
      },
    ],
    where: 'worker',
    destructive: true,
    event: 'health',
  },
  {
    name: 'ban',
    help: 'Make every object that matches all conditions obsolete. After --local neither the edge network nor the fleet is told. Status 300 where one of them should hear of it and does not: it is banned here all the same.',
    words: CONDITIONS,
    conditions: true,
    where: 'worker',
    destructive: true,
    event: 'ban',
  },
  {
    name: 'ban.count',
    help: 'How many objects a ban would hit, without banning them.',
    options: ['j'],
    words: CONDITIONS,
    conditions: true,
    where: 'worker',
    reads: true,
  },
  {
    name: 'ban.list',
    help: 'Bans in force, newest first.',
    options: ['j'],
    where: 'worker',
    reads: true,
  },
  {
    name: 'ban.soft',
    help: 'Make every object that matches all conditions stale: it is revalidated in the background while its grace lasts.',
    words: CONDITIONS,
    conditions: true,
    where: 'worker',
    destructive: true,
    event: 'ban',
  },
  {
    name: 'banner',
    help: 'The text that greets a new connection.',
    where: 'manager',
    waits: 'never',
    reads: true,
  },
  {
    name: 'debug.fragfetch',
    help: 'Taken for the sake of scripts; no effect here.',
    words: [{ name: '<bytes>' }],
    where: 'worker',
    hidden: true,
  },
  {
    name: 'debug.listen_address',
    help: 'Name, address and port of each listener.',
    where: 'manager',
    waits: 'briefly',
    reads: true,
    hidden: true,
  },
  {
    name: 'debug.panic.worker',
    help: 'Let the worker panic.',
    where: 'worker',
    hidden: true,
    destructive: true,
  },
  {
    name: 'debug.srandom',
    help: 'Taken for the sake of scripts; no effect here.',
    words: [{ name: '<seed>', optional: true }],
    where: 'worker',
    hidden: true,
  },
  {
    name: 'debug.xid',
    help: 'The last transaction id, or which id comes next.',
    words: [
      { name: '<xid>', optional: true, least: 0, most: 2 ** 30 - 1, wrong: 'Not a transaction id' },
      { name: '<cachesize>', optional: true },
    ],
    where: 'worker',
    hidden: true,
  },
  {
    name: 'edge.dead',
    help: 'Purges that the edge network would not take: dead letters of the queue.',
    options: ['j'],
    where: 'worker',
    reads: true,
  },
  {
    name: 'edge.drop',
    help: 'Forget a purge that waits or is a dead letter.',
    words: [{ name: '<id>' }],
    where: 'worker',
    destructive: true,
  },
  {
    name: 'edge.dryrun',
    help: 'Whether purges are written into the journal and sent nowhere.',
    words: [{ name: '[on|off]', oneOf: ['on', 'off'], wrong: 'on or off, not %s' }],
    where: 'worker',
  },
  {
    name: 'edge.pause',
    help: 'Send no purges to the edge network; they are kept.',
    where: 'worker',
  },
  {
    name: 'edge.queue',
    help: 'Purges that wait for the edge network.',
    options: ['j'],
    where: 'worker',
    reads: true,
  },
  {
    name: 'edge.resume',
    help: 'Send purges again, also after the network refused the credentials.',
    where: 'worker',
  },
  {
    name: 'edge.retry',
    help: 'Send a dead letter, or all of them, again.',
    words: [{ name: '<id|all>' }],
    where: 'worker',
  },
  {
    name: 'edge.show',
    help: 'All that is known of a purge in the queue.',
    words: [{ name: '<id>' }],
    where: 'worker',
    reads: true,
  },
  {
    name: 'edge.status',
    help: 'The edge connector: network, state, counters, settings without secrets.',
    options: ['j'],
    where: 'worker',
    reads: true,
  },
  {
    name: 'edge.test',
    help: 'Ask for the test object as the edge would, and check every header.',
    where: 'worker',
    reads: true,
  },
  {
    name: 'event.list',
    help: 'What happened lately: workers, programs, parameters, health, bans, purges, the hit rate. The newest last.',
    options: ['j'],
    where: 'manager',
    waits: 'never',
    reads: true,
  },
  {
    name: 'fleet.discard',
    help: 'Take a program away from the fleet, and unload it on every node.',
    words: [{ name: '<name>' }],
    where: 'manager',
    destructive: true,
  },
  {
    name: 'fleet.list',
    help: 'Programs of the fleet: who stored them and when, and which nodes have loaded them.',
    options: ['j'],
    where: 'manager',
    waits: 'briefly',
    reads: true,
  },
  {
    name: 'fleet.load',
    help: 'Compile a file, and give it with all that it includes to every node of the fleet, which loads it under a name.',
    words: [{ name: '<name>' }, { name: '<filename>' }],
    where: 'manager',
  },
  {
    name: 'fleet.log',
    help: 'The last invalidations of the fleet: who published them, and which nodes have not applied them yet.',
    options: ['j'],
    words: [
      { name: '<count>', optional: true, least: 1, most: 256, wrong: 'Not a number from 1 to 256: %s' },
    ],
    where: 'manager',
    waits: 'briefly',
    reads: true,
  },
  {
    name: 'fleet.nodes',
    help: 'The nodes of the fleet: state, lag, program, requests, hit rate, version, address of the console.',
    options: ['j'],
    where: 'manager',
    waits: 'briefly',
    reads: true,
  },
  {
    name: 'fleet.use',
    help: 'New requests run this program from now on, on all nodes of the fleet or, with --on, on some first. All of them have to have loaded it, unless --force is given.',
    words: [
      { name: '<name>' },
      {
        name: '[--on <node>[,<node>...]] [--force]',
        optional: true,
        repeated: true,
        also: [
          { text: '--on', help: 'Only on these nodes: their names with commas between them' },
          { text: '--force', help: 'Also where some nodes have not loaded it' },
        ],
      },
    ],
    where: 'manager',
    destructive: true,
  },
  {
    name: 'help',
    help: 'What there is to say here.',
    syntax: 'help [-j|<command>]',
    options: ['j'],
    words: [{ name: '<command>', optional: true, of: 'command' }],
    where: 'manager',
    waits: 'never',
    reads: true,
    open: true,
  },
  {
    name: 'listen.list',
    help: 'Listeners with the addresses and ports that they are bound to.',
    options: ['j'],
    where: 'manager',
    waits: 'briefly',
    reads: true,
  },
  {
    name: 'panic.clear',
    help: 'Forget the last panic; -z sets its counter to zero as well.',
    options: ['z'],
    surplus: { status: CLI.PARAM, text: 'Unknown parameter "%s".' },
    where: 'manager',
    waits: 'briefly',
    destructive: true,
  },
  {
    name: 'panic.show',
    help: 'The report of the last panic, if there was one.',
    options: ['j'],
    where: 'manager',
    waits: 'briefly',
    reads: true,
  },
  {
    name: 'param.reset',
    help: 'Give a parameter its default value.',
    words: [PARAM],
    where: 'manager',
    destructive: true,
  },
  {
    name: 'param.set',
    help: 'Give a parameter a value.',
    options: ['j'],
    words: [PARAM, { name: '<value>' }],
    where: 'manager',
  },
  {
    name: 'param.show',
    help: 'Parameters with their values: one, the changed ones, those whose names contain a text, or all.',
    options: ['lj'],
    words: [
      {
        name: '[<param>|changed|<text>]',
        optional: true,
        of: 'parameter',
        also: [{ text: 'changed', help: 'Only parameters that differ from their default' }],
      },
    ],
    surplus: { status: CLI.TOO_MANY, text: 'Too many parameters', withOption: CLI.PARAM },
    where: 'manager',
    waits: 'briefly',
    reads: true,
  },
  {
    name: 'pid',
    help: 'Process ids of the manager and, while it runs, the worker.',
    options: ['j'],
    where: 'manager',
    waits: 'briefly',
    reads: true,
  },
  {
    name: 'ping',
    help: 'A sign of life, which keeps the connection open.',
    options: ['j'],
    words: [{ name: '<timestamp>', optional: true }],
    where: 'manager',
    waits: 'never',
    reads: true,
    open: true,
  },
  {
    name: 'quit',
    help: 'End this connection.',
    where: 'manager',
    waits: 'never',
    reads: true,
  },
  {
    name: 'start',
    help: 'Start the worker.',
    where: 'manager',
    waits: 'briefly',
  },
  {
    name: 'status',
    help: 'Whether the worker runs.',
    options: ['j'],
    where: 'manager',
    waits: 'briefly',
    reads: true,
  },
  {
    name: 'stop',
    help: 'Stop the worker, and with it all traffic.',
    where: 'manager',
    waits: 'briefly',
    destructive: true,
  },
  {
    name: 'storage.list',
    help: 'Storages with their kinds.',
    options: ['j'],
    where: 'manager',
    waits: 'briefly',
    reads: true,
  },
  {
    name: 'turn.list',
    help: 'The longest turns of the last minute, of threads and manager, and the work that they were spent on: everybody else waited for it. The longest first.',
    options: ['j'],
    where: 'manager',
    waits: 'never',
    reads: true,
  },
  {
    name: 'vcl.deps',
    help: 'Programs and the programs that they need.',
    options: ['j'],
    where: 'manager',
    reads: true,
  },
  {
    name: 'vcl.discard',
    help: 'Unload the matching programs.',
    words: [{ name: '<name_pattern>...', repeated: true, of: 'program' }],
    where: 'manager',
    destructive: true,
  },
  {
    name: 'vcl.inline',
    help: 'Compile a program given as text and load it under a name.',
    words: [CONFIGNAME, { name: '<quoted_VCLstring>' }, { ...STATE, optional: true }],
    where: 'manager',
  },
  {
    name: 'vcl.label',
    help: 'Let a label stand for a program.',
    words: [{ name: '<label>' }, PROGRAM],
    where: 'manager',
  },
  {
    name: 'vcl.list',
    help: 'Loaded programs with their states. The JSON has what Varnish has, and state_temperature, both in one word: auto/warm.',
    options: ['j'],
    where: 'manager',
    reads: true,
  },
  {
    name: 'vcl.load',
    help: 'Compile a file and load it under a name.',
    words: [CONFIGNAME, { name: '<filename>' }, { ...STATE, optional: true }],
    where: 'manager',
  },
  {
    name: 'vcl.show',
    help: 'The source of a program; -v shows the included files and the builtin program too.',
    options: ['v'],
    words: [{ ...PROGRAM, optional: true }],
    surplus: { status: CLI.PARAM, text: "Too many parameters: '%s'" },
    where: 'manager',
    reads: true,
  },
  {
    name: 'vcl.state',
    help: 'Keep a program warm or cold, or leave that to the daemon.',
    words: [PROGRAM, STATE],
    where: 'manager',
  },
  {
    name: 'vcl.use',
    help: 'New requests run this program from now on.',
    words: [{ name: '<configname|label>', of: 'program' }],
    where: 'manager',
    destructive: true,
  },
] as const satisfies readonly CommandRow[];

type Row = (typeof ROWS)[number];
export type CommandName = Row['name'];
export type ManagerCommand = Extract<Row, { where: 'manager' }>['name'];
export type WorkerCommand = Extract<Row, { where: 'worker' }>['name'];

/** A row with what follows from it. */
export interface Command extends CommandRow {
  readonly name: CommandName;
  readonly syntax: string;
  readonly options: readonly string[];
  readonly words: readonly WordRow[];
  /** Least and largest number of options and words, a leading -j left out; -1 is any number. */
  readonly min: number;
  readonly max: number;
  /** Whether a leading -j asks for JSON. */
  readonly json: boolean;
}

function complete(row: CommandRow & { name: CommandName }): Command {
  const { options = [], words = [] } = row;
  const letters = options.join('').replace('j', '');
  return {
    ...row,
    options,
    words,
    syntax:
      row.syntax ?? [row.name, ...options.map(optionSyntax), wordsSyntax(words)].filter(Boolean).join(' '),
    min: words.filter((word) => word.optional !== true).length,
    max: words.at(-1)?.repeated === true ? -1 : letters.length + words.length,
    json: options.join('').includes('j'),
  };
}

function optionSyntax(letters: string): string {
  return `[${[...letters].map((letter) => `-${letter}`).join('|')}]`;
}

/** Brackets around what may be left out, with what follows it; names that show their choices have brackets of their
 * own. */
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
