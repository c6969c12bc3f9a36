// Types of the command tables: one row per option, from which command line parsing, help, completion and manual pages
// are derived.

export interface OptionRow {
  /** A letter, a long name or both: `-n`, `--json`, `-h, --help`. */
  readonly flags: string;
  /** Its argument, as shown to users; absent for none. */
  readonly argument?: string;
  /** The argument is optional. */
  readonly optional?: true;
  /** Line breaks are kept. */
  readonly help: string;
  /** Its heading; `Options` by default. */
  readonly group?: string;
  /** The option ends parsing, like --help. */
  readonly answer?: 'help' | 'version' | 'optstring';
  /** Accepted, but not documented. */
  readonly hidden?: true;
}

/** @param argument empty for none */
export function option(
  flags: string,
  argument: string,
  help: string,
  more: Partial<OptionRow> = {},
): OptionRow {
  return { flags, ...(argument && { argument }), help, ...more };
}

export interface ToolRow {
  readonly name: string;
  /** One line, for whatis(1). */
  readonly summary: string;
  /** For the manual page. */
  readonly text: string;
  /** The text after `Usage: name`. */
  readonly usage: string;
  /** The text before the options in the help. */
  readonly prose?: string;
  /** The stream for help and version. */
  readonly answersOn: 'stdout' | 'stderr';
  /** The first word is a command, and the rest are its arguments. */
  readonly wordsEndOptions?: true;
  /** The help text has options in brackets, as in Varnish's tools. */
  readonly bracketed?: true;
  /** Width of the column of options. */
  readonly column?: number;
  readonly options: readonly OptionRow[];
}
