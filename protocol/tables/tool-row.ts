// The shape of the tables of commands: one row an option, from which the command line is read, and help, completion and
// manual pages are made.

export interface OptionRow {
  /** A letter, a long name or both: `-n`, `--json`, `-h, --help`. */
  readonly flags: string;
  /** What it takes, as readers are to see it; absent for nothing. */
  readonly argument?: string;
  /** The argument may be left out. */
  readonly optional?: true;
  /** Lines are kept apart. */
  readonly help: string;
  /** Heading that it stands under; `Options` unless given. */
  readonly group?: string;
  /** It asks for nothing but this. */
  readonly answer?: 'help' | 'version' | 'optstring';
  /** Taken, and named nowhere. */
  readonly hidden?: true;
}

export interface ToolRow {
  readonly name: string;
  /** One line, for whatis(1). */
  readonly summary: string;
  /** For the manual page. */
  readonly text: string;
  /** What stands behind `Usage: name`. */
  readonly usage: string;
  /** Said by the help text before the options. */
  readonly prose?: string;
  /** Where help and version go. */
  readonly answersOn: 'stdout' | 'stderr';
  /** The first word is a command, and what follows is the command's. */
  readonly wordsEndOptions?: true;
  /** The help text stands options in brackets, as those of Varnish's tools do. */
  readonly bracketed?: true;
  /** Width of the column of options. */
  readonly column?: number;
  readonly options: readonly OptionRow[];
}
