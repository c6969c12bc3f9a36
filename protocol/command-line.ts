// Parses the command line of a tool by its table with commander, which also makes the help text and errors. The
// behaviour seen by scripts is getopt(3)'s, as in Varnish's tools: options take effect in order up to the first
// error, -nNAME is -n NAME, a value may begin with a dash, and `--` ends the options. Nothing is printed and the
// process does not exit here. Special case: commander reads everything before it reports an error, and takes -5 for a
// word. Therefore it stops at the first word; if words do not end the options, parsing continues after it.

import { Command, CommanderError, type Help, Option } from 'commander';
import type { OptionRow, ToolRow } from './tables/tool-row.ts';

/** Help, version and the like, which are the complete output; or a mistake. */
export type Ending =
  | { kind: 'answer'; text: string; stream: 'stdout' | 'stderr' }
  | { kind: 'mistake'; message: string };

export interface CommandLine {
  /** [letter or long name, argument or ''], in order. */
  options: [string, string][];
  words: string[];
  /** End of parsing: everything in `options` came before it. */
  end: Ending | null;
}

/** The release whose command lines, log, counters and commands these are. */
const COMPATIBLE = 'varnish-7.1.1';

/** The output of -V. Programs that read Varnish's tools, among them netdata and the Datadog agent, search for
 * varnish-N.N.N to determine available flags and counters: those of that release are. */
export function versionLine(name: string, version: string): string {
  return `${name} (proxyd-${version}, compatible with ${COMPATIBLE})`;
}

/** @param version of the package */
export function readCommandLine(tool: ToolRow, argv: readonly string[], version: string): CommandLine {
  const line: CommandLine = { options: [], words: [], end: null };
  let text = '';
  const command = makeCommand(tool, version, (name, value) => line.options.push([name, value]));
  command.configureOutput({
    writeOut: (more) => {
      text += more;
    },
    outputError: () => undefined,
  });
  let rest = argv;
  try {
    for (;;) {
      command.parse(rest, { from: 'user' });
      const words = command.args;
      if (words.length === 0) break;
      const quoted = rest[rest.length - words.length - 1] === '--';
      const [word = ''] = words;
      if (!quoted && word.length > 1 && word.startsWith('-')) command.error('', { code: UNKNOWN });
      if (quoted || tool.wordsEndOptions === true) {
        line.words.push(...words);
        break;
      }
      line.words.push(word);
      rest = words.slice(1);
    }
  } catch (cause) {
    if (!(cause instanceof CommanderError)) throw cause;
    const stream = cause.code === 'commander.optstring' ? 'stdout' : tool.answersOn;
    line.end =
      cause.exitCode === 0
        ? { kind: 'answer', text, stream }
        : { kind: 'mistake', message: mistake(cause, command.args[0], rest.at(-1) ?? '') };
  }
  return line;
}

const UNKNOWN = 'commander.unknownOption';

/** Varnish's text for short options; commander's, with its suggestion, for long names. */
function mistake(cause: CommanderError, unknown: string | undefined, last: string): string {
  const missing = cause.code === 'commander.optionMissingArgument';
  const arg = (missing ? last : unknown) ?? '';
  const letter = missing ? arg.at(-1) : arg[1];
  if (arg.startsWith('--')) {
    return missing
      ? `option requires an argument -- '${arg.slice(2)}'`
      : cause.message.replace(/^error: /, '');
  }
  return missing ? `option requires an argument -- '${letter}'` : `invalid option -- '${letter}'`;
}

/** The text of -h. */
export function helpText(tool: ToolRow): string {
  return makeCommand(tool, '', () => {}).helpInformation();
}

/** The option string of getopt(3), for wrapper scripts. */
export function optstring(options: readonly OptionRow[]): string {
  const short = options.filter((o) => /^-[^-]/.test(o.flags));
  return short.map((o) => o.flags[1] + (o.argument === undefined ? '' : ':')).join('');
}

function makeCommand(tool: ToolRow, version: string, take: (name: string, value: string) => void): Command {
  const command = new Command(tool.name)
    .usage(tool.usage)
    .description(tool.prose ?? '')
    .helpOption(false)
    .passThroughOptions()
    .allowExcessArguments()
    .exitOverride()
    .configureHelp(layout(tool));
  for (const row of tool.options) {
    // Commander only needs to know whether there is an argument; its name is shown to users.
    const argument = row.argument === undefined ? '' : row.optional === true ? ' [value]' : ' <value>';
    const option = new Option(row.flags + argument, row.help).hideHelp(row.hidden === true);
    if (row.group !== undefined) option.helpGroup(`${row.group}:`);
    command.addOption(option);
    const name = option.name();
    command.on(`option:${name}`, (value?: string | null) => {
      if (row.answer === 'help') command.help();
      if (row.answer !== undefined) {
        const text = row.answer === 'version' ? versionLine(tool.name, version) : optstring(tool.options);
        command.configureOutput().writeOut?.(`${text}\n`);
        throw new CommanderError(0, `commander.${row.answer}`, text);
      }
      take(name, value ?? '');
    });
  }
  return command;
}

const COLUMNS = 110;

/** Varnish's tools put options in brackets, which scripts parse. */
function layout(tool: ToolRow): Partial<Help> {
  const { bracketed = false } = tool;
  const indent = bracketed ? 1 : 2;
  const rows = new Map(tool.options.map((row) => [row.flags, row]));
  return {
    helpWidth: COLUMNS,
    optionTerm({ short, long, flags }) {
      const row = rows.get(flags.replace(/ [<[]value[>\]]$/, ''));
      const name = bracketed ? (short ?? long) : row?.flags;
      const term = row?.argument === undefined ? name : `${name} <${row.argument}>`;
      return bracketed ? `[${term}]` : (term ?? '');
    },
    padWidth: () => (bracketed ? 25 : (tool.column ?? 18)),
    formatItem(term, width, description, helper) {
      const margin = `\n${' '.repeat(indent + width + 1)}`;
      const help = helper.boxWrap(description, COLUMNS - indent - width - 1).replaceAll('\n', margin);
      const gap = term.length <= width ? ' '.repeat(width - term.length + 1) : bracketed ? ' ' : margin;
      return `${' '.repeat(indent)}${term}${gap}${help}`;
    },
  };
}
