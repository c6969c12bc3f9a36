// The tokens of a program for the parser, with includes expanded in place.
//
// `include` is not a statement but works on tokens, as in Varnish: it may stand anywhere, also within an expression.
// It cannot recurse: a file already open on the include chain is an error. Names: absolute ones as they are, "./x"
// beside the including file, anything else along vcl_path. `include +glob` includes all matches in name order.

import { CompileStop, type Reporter, SourceFile, type Span } from './diagnostics.ts';
import { MESSAGES } from './error-texts.ts';
import { globSync, type PathReader } from './include-path.ts';
import { spanOf, type Token, tokenize } from './lexer.ts';
import { INCLUDE_FLAGS, LIMITS } from './tables/language.ts';

export class TokenStream {
  readonly reporter: Reporter;
  readonly files: SourceFile[] = [];
  /** Language version of the program, 40 or 41; 0 before the main file's `vcl` line. */
  topSyntax = 0;
  /** Parameter vcc_unsafe_path: names of included files may contain a "/". */
  unsafePath = true;
  /** Whether a path of +glob has to begin with a slash or a dot. */
  rootedGlobs = false;
  /** Paths of +glob that do not. */
  readonly looseGlobs: Span[] = [];
  #tokens: Token[] = [];
  #at = 0;
  readonly #reader: PathReader;

  constructor(reporter: Reporter, reader: PathReader) {
    this.reporter = reporter;
    this.#reader = reader;
  }

  /** Starts a file; remaining tokens of the previous one are dropped. */
  open(name: string, text: string): SourceFile {
    const file = new SourceFile(name, text, this.files.length, null);
    this.files.push(file);
    const out: Token[] = [];
    this.#expand(tokenize(file, this.reporter), out);
    this.#tokens = out;
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

  /** The last token read. */
  last(): Token {
    return this.#tokens[Math.max(0, this.#at - 1)] as Token;
  }

  /** Appends the tokens of a file to `out`, with included files in place. */
  #expand(tokens: readonly Token[], out: Token[]): void {
    let i = 0;
    while (i < tokens.length) {
      const t = tokens[i] as Token;
      if (t.kind === 'id' && t.text === 'include') {
        try {
          i = this.#include(tokens, i, out);
        } catch (e) {
          if (!(e instanceof CompileStop)) throw e;
          while (i < tokens.length - 1 && (tokens[i] as Token).text !== ';') i++;
          if ((tokens[i] as Token).kind !== 'eof') i++;
        }
        continue;
      }
      if (t.kind !== 'eof' || t.file.parent === null) out.push(t);
      i++;
    }
  }

  /** Reads the include at `at`; returns the index after its semicolon. */
  #include(tokens: readonly Token[], at: number, out: Token[]): number {
    const token = (i: number): Token => tokens[Math.min(i, tokens.length - 1)] as Token;
    const start = token(at);
    let i = at + 1;
    let glob = false;
    for (let sign = token(i); sign.text === '+' || sign.text === '-'; sign = token(i)) {
      const flag = token(i + 1);
      if (flag.kind !== 'id' || flag.start !== sign.end) {
        this.reporter.fail(MESSAGES.includeFlag(), spanOf(sign));
      }
      if (!INCLUDE_FLAGS.some((row) => row.flag === flag.text)) {
        const hint = "Only '+glob' exists.";
        this.reporter.fail(MESSAGES.unknownIncludeFlag(flag.text), spanOf(flag), hint);
      }
      glob = sign.text === '+';
      i += 2;
    }
    const path = token(i++);
    if (path.kind !== 'string') {
      this.reporter.fail(MESSAGES.includeWithoutPath(), spanOf(path));
    }
    const semi = token(i++);
    if (semi.text !== ';') {
      this.reporter.fail(MESSAGES.includeWithoutSemicolon(), spanOf(semi));
    }
    if (glob && !/^\.?\//.test(path.value)) {
      if (this.rootedGlobs) this.reporter.fail(MESSAGES.looseGlob(), spanOf(path));
      this.looseGlobs.push(spanOf(path));
    }
    const names = glob ? globSync(path.value, start.file.name, this.#reader) : [path.value];
    if (names.length === 0) {
      this.reporter.fail(MESSAGES.emptyGlob(), spanOf(path));
    }
    for (const name of names) this.#file(name, start, path, out);
    return i;
  }

  #file(name: string, start: Token, path: Token, out: Token[]): void {
    const span = spanOf(path);
    if (!this.unsafePath && name.includes('/')) {
      const full = name.startsWith('./') ? `${this.#reader.base(start.file.name)}${name.slice(1)}` : name;
      const hint =
        'The parameter vcc_unsafe_path allows a "/" in the name; without one vcl_path is searched.';
      this.reporter.fail(MESSAGES.unsafeFile(full), span, hint);
    }
    const found = this.#reader.resolve(name, start.file.name);
    if (typeof found !== 'object') {
      this.reporter.fail(MESSAGES.unreadable(name, found), span);
    }
    for (let p: SourceFile | undefined = start.file; p !== undefined; p = p.parent?.file) {
      if (p.name === found.name) {
        this.reporter.fail(MESSAGES.includeLoop(found.name), span);
      }
    }
    if (this.files.length >= LIMITS.files.value) this.reporter.fail(MESSAGES.tooManyFiles(), span);
    const file = new SourceFile(found.name, found.text, this.files.length, span);
    this.files.push(file);
    this.#expand(tokenize(file, this.reporter), out);
  }
}
