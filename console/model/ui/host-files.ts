// What the console asks of the machine it runs on: files to read and write, and the linter. Handed in, so that the
// model runs anywhere and tests own the disk.

export interface LintFinding {
  severity: string;
  message: string;
  file: string;
  line: number;
  /** In characters from 1; the last one that is meant. */
  column: number;
  endColumn: number;
  /** The line itself. */
  source: string;
  /** The includes that lead to the file, the innermost first. */
  includedFrom: readonly { file: string; line: number }[];
  rule: string;
}

export interface HostFiles {
  /** Rejects with a plain sentence. */
  read(path: string): Promise<string>;
  write(path: string, text: string): Promise<void>;
  /** A file of its own with this text, that nobody else can read; resolves with its path. */
  copy(name: string, text: string): Promise<string>;
  /** Such a file goes; it may be gone already. */
  remove(path: string): Promise<void>;
  exists(path: string): boolean;
  /** Paths that begin with this text, folders with a final slash; [] when there are none. */
  complete(prefix: string): string[];
  /** An absolute path for what the operator typed. */
  absolute(path: string): string;
  /** Findings of the program check; rejects when it cannot be run. */
  lint(path: string): Promise<LintFinding[]>;
}
