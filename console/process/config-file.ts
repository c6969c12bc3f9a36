// The operator's configuration file: $XDG_CONFIG_HOME/proxyd/console.json. Read once at start; only saved queries are
// written back.

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

/** Reads the file once and validates it by these tables; without validation as long as they are not loaded. */
export type ConfigFile = (tables: Omit<ConfigTables, 'checkQuery'> | null) => CheckedConfig;

/** A missing file is fine, an unreadable one is not. */
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

/** An error in the query, or null. */
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
      // Written to a temporary file first, so that a killed console leaves the former file intact.
      const next = `${this.path}.${process.pid}`;
      writeOwn(next, `${JSON.stringify({ ...file, queries: this.kept }, null, 2)}\n`, 0o600);
      renameSync(next, this.path);
    } catch (cause) {
      throw new Error(cause instanceof SyntaxError ? 'not a JSON file' : systemText(cause), { cause });
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
