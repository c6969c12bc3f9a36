// Builds dist/: nearley's grammar, tsc into dist/modules, and everything else by finish.js. A stamp in dist/ names the
// sources it was built from by their content, so that a checkout, an edit and a deleted file are all noticed, and a file
// that is merely newer is not.
//   node test/harness/build/build.js               builds
//   node test/harness/build/build.js --if-older    builds where the sources are others than those of the stamp
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const STAMP = join(root, 'dist/.sources');
const GRAMMAR = 'queries/vsl-query.grammar.ts';
/** Everything in these folders counts: programs and pages are read by the build, too. */
const SOURCES = [
  ...['protocol', 'queries', 'console', 'daemon', 'test/harness/build'],
  ...['.tsconfig.base.json', 'tsconfig.json', 'package.json', 'package-lock.json', 'README.md'],
];

/** Files below a path, in an order that does not depend on the file system. */
function filesOf(path) {
  const full = join(root, path);
  if (!existsSync(full)) return [];
  if (!statSync(full).isDirectory()) return [path];
  return readdirSync(full, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length))
    .sort();
}

function sources() {
  const hash = createHash('sha256');
  for (const file of SOURCES.flatMap(filesOf)) {
    if (file === GRAMMAR) continue;
    const content = readFileSync(join(root, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

function isBuiltFrom(wanted) {
  return (
    existsSync(join(root, GRAMMAR)) && existsSync(STAMP) && readFileSync(STAMP, 'utf8').trim() === wanted
  );
}

/** @param {{ ifOlder?: boolean }} options */
export function build({ ifOlder = false } = {}) {
  // Taken before: an edit while it builds leaves a stamp that does not match.
  const wanted = sources();
  if (ifOlder && isBuiltFrom(wanted)) return;
  if (ifOlder) console.log('dist/ is older than the sources: building it');
  rmSync(STAMP, { force: true });
  const run = (program, ...args) => execFileSync(program, args, { cwd: root, stdio: 'inherit' });
  const tool = (name, ...args) => run(join(root, 'node_modules/.bin', name), ...args);
  tool('nearleyc', 'queries/vsl-query.ne', '-o', GRAMMAR);
  tool('tsc', '-b');
  run(process.execPath, 'test/harness/build/finish.js');
  writeFileSync(STAMP, `${wanted}\n`);
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    build({ ifOlder: process.argv.includes('--if-older') });
  } catch (error) {
    // The tool has reported the error.
    if (error.status === undefined) throw error;
    process.exitCode = error.status ?? 1;
  }
}
