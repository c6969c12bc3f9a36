// Entry of the process of `proxyd --test-extension`: describes an extension as the daemon would, opens it, and runs
// the tests of the file beside it. Prints one line per test in TAP format, so that other tools can read the result.
//
// Arguments: file of the extension, and as JSON the account to become first (null: none).
//
// Exit codes: 0 all tests passed, 1 one failed, 2 the extension or its tests cannot be used.

import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Extension } from '../../contract/extension.ts';
import { type Account, becomeUser } from '../../privileges.ts';
import { describerCode, ModuleDescriber } from '../load/describe.ts';
import type { ExtensionTest } from '../load/interface.ts';
import { ModuleCache } from '../load/module-cache.ts';
import { runTest, testFault } from './run-tests.ts';

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The import name of the file. Throws if it is not a valid name in a program. */
function importName(file: string): string {
  const name = basename(file)
    .replace(/\.(?:m?js|cjs|node|so)$/, '')
    .replace(/^libvmod_/, '');
  if (!/^[A-Za-z]\w*$/.test(name))
    throw new Error(`'${name}' is not a valid name for an import: letters, digits and _, a letter first`);
  return name;
}

/** Functions and methods without help, which an operator would find undocumented. */
function withoutHelp({ functions, objects = {} }: Extension): string[] {
  const rows = [
    ...Object.entries(functions),
    ...Object.entries(objects),
    ...Object.entries(objects).flatMap(([o, { methods }]) =>
      Object.entries(methods).map(([m, row]) => [`${o}.${m}`, row] as const),
    ),
  ];
  return rows.filter(([, { help }]) => help === '').map(([name]) => name);
}

/** The tests of `FILE.test.mjs` beside `FILE.mjs`: its default export, or its export `tests`. */
async function readTests(file: string): Promise<ExtensionTest[]> {
  const path = testFile(file);
  if (!existsSync(path)) return [];
  const module = (await import(pathToFileURL(path).href)) as { tests?: unknown; default?: unknown };
  const tests = module.tests ?? module.default;
  if (!Array.isArray(tests)) throw new Error(`${path}: it exports neither a list 'tests' nor a default`);
  for (const [i, row] of tests.entries()) {
    const fault = testFault(row);
    if (fault !== null) throw new Error(`${path}: test ${i + 1}: ${fault}`);
  }
  return tests as ExtensionTest[];
}

function testFile(file: string): string {
  return join(dirname(file), basename(file).replace(/\.\w+$/, '.test.mjs'));
}

async function main(file: string, account: Account | null): Promise<number> {
  const child = describerCode();
  if (account !== null) becomeUser(account);
  const name = importName(file);
  const cache = { directory: null, inUse: () => [], account: null };
  const described = await new ModuleDescriber().describe({ name, from: file }, { path: [], cache, child });
  if (described.problem !== undefined) throw new Error(described.problem);
  const opened = (await new ModuleCache().lookup([described.module]))(name) as Extension;
  print(`# ${name}: ${described.module.file}`);
  for (const row of withoutHelp(opened)) print(`# ${name}.${row} has no help`);
  const tests = await readTests(file);
  if (tests.length === 0) print(`# no tests: they belong in ${testFile(file)}`);
  print(`1..${tests.length}`);
  let failed = 0;
  for (const [i, test] of tests.entries()) {
    const faults = await runTest(test, described, opened);
    if (faults.length > 0) failed++;
    print(`${faults.length === 0 ? 'ok' : 'not ok'} ${i + 1} - ${test.name}`);
    for (const line of faults) print(`  # ${line}`);
  }
  return failed === 0 ? 0 : 1;
}

const [file = '', who = 'null'] = process.argv.slice(2);
let isOver = false;

function end(code: number): never {
  isOver = true;
  process.exit(code);
}

function giveUp(error: unknown): never {
  process.stderr.write(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
  return end(2);
}

// An extension may exit the process or throw from a timer: that is a failure even if all tests passed so far.
process.on('exit', () => {
  if (isOver) return;
  process.stderr.write('Error: the extension ended the process\n');
  process.exitCode = 2;
});
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack ?? error}\n`);
  end(2);
});
main(file, JSON.parse(who) as Account | null).then(end, giveUp);
