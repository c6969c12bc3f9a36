// The machine that the console runs on: the terminal, files and the linter. Passed in, so that the model runs anywhere
// and tests own the disk.

/** Actions that only the terminal layer can do. */
export interface Host {
  quit(): void;
  redraw(): void;
  suspend(): void;
  /** Gives the terminal to the operator's editor; resolves with its status, or why it could not be run. */
  edit(path: string): Promise<number | string>;
  copy(text: string): void;
  mouse(on: boolean): void;
  bell(): void;
}

export interface LintFinding {
  severity: string;
  message: string;
  file: string;
  line: number;
  /** In characters from 1; the last one of the range. */
  column: number;
  endColumn: number;
  /** The line itself. */
  source: string;
  /** The includes that lead to the file, the innermost first. */
  includedFrom: readonly { file: string; line: number }[];
  rule: string;
}

export interface HostFiles {
  /** Rejects with a sentence for the operator. */
  read(path: string): Promise<string>;
  write(path: string, text: string): Promise<void>;
  /** Writes a private temporary file with this text; resolves with its path. */
  copy(name: string, text: string): Promise<string>;
  /** Removes such a file, if it is still there. */
  remove(path: string): Promise<void>;
  exists(path: string): boolean;
  /** Paths that begin with this text, folders with a final slash; [] when there are none. */
  complete(prefix: string): string[];
  /** The absolute path of one that the operator typed. */
  absolute(path: string): string;
  /** Findings of the program check; rejects when it cannot be run. */
  lint(path: string): Promise<LintFinding[]>;
}
