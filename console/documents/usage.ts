// What a tool's own usage text says, as a table: manual pages and completion are made of that, so that neither can
// drift from what the tool prints. Knows the two layouts that the tools have and nothing of any tool.

export interface UsageOption {
  /** -n or --json. */
  flag: string;
  /** What it takes, without brackets; '' for nothing. */
  argument: string;
  help: string;
}

export interface Usage {
  /** The lines behind `Usage:`. */
  synopsis: string[];
  /** Text between synopsis and options. */
  prose: string;
  options: UsageOption[];
}

/** ` [-f <glob>]               help`, also with --long. */
const BRACKETED = /^ \[(--?[\w?-]+)(?: (.+?))?\]\s+(\S.*)$/;
/** `  -f <file>   help` and `  -f file   # help`; two flags stand as `-h | -V`. */
const PLAIN = /^ {2}(--?[\w?-]+(?: \| --?[\w?-]+)*)(?: (\S.*?))??(?:\s{2,}#? ?|\s+# )(\S.*)$/;
/** The rest of the option above. */
const MORE = /^ {4,}(?:(\S.*?)\s+)?#\s+(\S.*)$/;

export function parseUsage(text: string): Usage {
  const usage: Usage = { synopsis: [], prose: '', options: [] };
  let at: 'synopsis' | 'prose' | 'options' = 'synopsis';
  for (const line of text.split('\n')) {
    const option = BRACKETED.exec(line) ?? PLAIN.exec(line);
    if (option !== null) {
      at = 'options';
      addOptions(usage.options, option as unknown as [string, string, string | undefined, string]);
      continue;
    }
    const more = MORE.exec(line);
    const last = usage.options.at(-1);
    if (at === 'options' && more !== null && last !== undefined) {
      last.argument += more[1] ?? '';
      last.help += ` ${more[2]?.trim()}`;
    } else if (at === 'synopsis' && (/^Usage:/i.test(line) || line.startsWith('   '))) {
      usage.synopsis.push(line.replace(/^Usage:/i, '').trim());
    } else if (at !== 'options' && !/^(Options|Basic options):$/.test(line)) {
      at = 'prose';
      usage.prose += `${line}\n`;
    }
  }
  usage.prose = usage.prose.trim();
  return usage;
}

function addOptions(options: UsageOption[], match: [string, string, string | undefined, string]): void {
  const [, flags, argument = '', help] = match;
  const bare = argument.replace(/^<(.*)>$/, '$1');
  for (const flag of flags.split(' | ')) options.push({ flag, argument: bare, help: help.trim() });
}
