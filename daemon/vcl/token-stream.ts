// The tokens of a program as the parser reads them, with includes spliced in where they stand.
//
// An include cannot recurse: a file that is already open on the include chain is an error. Names: absolute as
// they are, "./x" beside the including file, anything else along vcl_path. `include +glob` takes all matches
// in name order; none is fine.

import { type Reporter, SourceFile } from './errors.ts';
import { globSync, type PathReader } from './include-path.ts';
import { spanOf, type Token, tokenize } from './lexer.ts';

const MAX_FILES = 1000;

export class TokenStream {
  readonly reporter: Reporter;
  readonly files: SourceFile[] = [];
  /** Language version of the main file; 0 before its `vcl` line. */
  topSyntax = 0;
  #tokens: Token[] = [];
  #at = 0;
  readonly #reader: PathReader;

  constructor(reporter: Reporter, reader: PathReader) {
    this.reporter = reporter;
    this.#reader = reader;
  }

  /** Starts on a file; what remains of the previous one is dropped. */
  open(name: string, text: string): SourceFile {
    const file = new SourceFile(name, text, this.files.length, null);
    this.files.push(file);
    this.#tokens = tokenize(file, this.reporter);
    this.#at = 0;
    return file;
  }

  peek(ahead = 0): Token {
    const i = Math.min(this.#at + ahead, this.#tokens.length - 1);
    return this.#tokens[i] as Token;
  }

  next(): Token {
    const t = this.peek();
    if (this.#at < this.#tokens.length - 1) this.#at++;
    return t;
  }

  /** The token read last. */
  last(): Token {
    return this.#tokens[Math.max(0, this.#at - 1)] as Token;
  }

  /** At the word `include`: reads the statement and splices the file's tokens in. */
  include(): void {
    const start = this.next();
    let glob = false;
    if (this.peek().kind === 'op' && this.peek().text === '+') {
      this.next();
      const flag = this.peek();
      if (flag.text !== 'glob') {
        this.reporter.fail(
          'include',
          `Unknown include flag: '${flag.text}'`,
          spanOf(flag),
          "Only '+glob' exists.",
        );
      }
      this.next();
      glob = true;
    }
    const path = this.peek();
    if (path.kind !== 'string') {
      this.reporter.fail('include', 'include not followed by string constant.', spanOf(path));
    }
    this.next();
    const semi = this.peek();
    if (semi.text !== ';') {
      this.reporter.fail('include', 'include <string> not followed by semicolon.', spanOf(semi));
    }
    this.next();
    const span = spanOf(path);
    const spliced: Token[] = [];
    const names = glob ? globSync(path.value, start.file.name, this.#reader) : [path.value];
    if (names.length === 0) this.reporter.fail('include', 'glob pattern matched no files.', span);
    for (const name of names) {
      const found = this.#reader.resolve(name, start.file.name);
      if (typeof found !== 'object') {
        this.reporter.fail('include', `Cannot read file '${name}' (${found})`, span);
      }
      for (let p: SourceFile | undefined = start.file; p !== undefined; p = p.parent?.file) {
        if (p.name === found.name) {
          this.reporter.fail('include-loop', `File '${found.name}' includes itself`, span);
        }
      }
      if (this.files.length >= MAX_FILES) this.reporter.fail('include', 'Too many files included', span);
      const file = new SourceFile(found.name, found.text, this.files.length, span);
      this.files.push(file);
      for (const t of tokenize(file, this.reporter)) if (t.kind !== 'eof') spliced.push(t);
    }
    this.#tokens.splice(this.#at, 0, ...spliced);
  }
}
