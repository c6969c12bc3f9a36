// The operator's file on disk: $XDG_CONFIG_HOME/proxyd/console.json. Read once at the start; saved queries go back
// into it, and nothing else of it is touched.

import { mkdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { writeOwn } from '../../protocol/files/own-file.ts';
import { systemText } from '../../protocol/system-text.ts';
import { type CheckedConfig, type ConfigTables, DEFAULT_CONFIG, parseConfig } from '../model/ui/config.ts';
import { checkQuery } from '../model/ui/query-parser.ts';
import type { SavedQueries } from '../model/ui/saved-queries.ts';

export function configPath(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'proxyd', 'console.json');
}

/** Reads the file once, and checks it by these tables; by none as long as they are not loaded. */
export type ConfigFile = (tables: Omit<ConfigTables, 'checkQuery'> | null) => CheckedConfig;

/** A file that is not there is no problem, one that cannot be read is. */
export function readConfig(path: string): ConfigFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    return () => ({ config: DEFAULT_CONFIG, problems: missing ? [] : [systemText(cause)] });
  }
  return (tables) => parseConfig(text, tables === null ? null : { ...tables, checkQuery: wrongWith });
}

/** What is wrong with a query, or null. */
function wrongWith(query: string): string | null {
  const check = checkQuery(query);
  return check.ok ? null : `${check.message} at ${check.from + 1}`;
}

export class QueryFile implements SavedQueries {
  private readonly path: string;
  private kept: Record<string, string>;

  constructor(path: string, initial: Readonly<Record<string, string>>) {
    this.path = path;
    this.kept = { ...initial };
  }

  all(): Readonly<Record<string, string>> {
    return this.kept;
  }

  async save(name: string, query: string | null): Promise<void> {
    const { [name]: _former, ...rest } = this.kept;
    this.kept = query === null ? rest : { ...rest, [name]: query };
    try {
      const file = this.readFile();
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
      // Through another name: a console that is killed meanwhile leaves the former file whole.
      const next = `${this.path}.${process.pid}`;
      writeOwn(next, `${JSON.stringify({ ...file, queries: this.kept }, null, 2)}\n`, 0o600);
      renameSync(next, this.path);
    } catch (cause) {
      throw new Error(cause instanceof SyntaxError ? 'the file is not JSON' : systemText(cause), { cause });
    }
  }

  private readFile(): object {
    try {
      return JSON.parse(readFileSync(this.path, 'utf8')) as object;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
      throw cause;
    }
  }
}
