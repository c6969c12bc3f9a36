// Makes what operators install, from a clean checkout: a Debian package, an archive to unpack anywhere, and an image in the
// layout of OCI, all three with the same tree and a Node of its own. Two runs of one checkout write the same bytes.
//   npm run package [-- --out DIRECTORY] [-- --only deb,tar,oci]
// Needs Linux on x64, GNU tar, and dpkg-deb for the Debian package; fetches Node from npm's registry, or its cache.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { archive } from './archive.js';
import { debian } from './debian.js';
import { image } from './image.js';
import { fetchRuntime } from './runtime.js';
import { layOut } from './tree.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const KINDS = { deb: debian, tar: archive, oci: image };

function chosen() {
  const { values } = parseArgs({
    options: {
      out: { type: 'string', default: join(root, 'dist/packages') },
      only: { type: 'string', default: Object.keys(KINDS).join(',') },
    },
  });
  const kinds = values.only.split(',');
  const unknown = kinds.filter((kind) => !Object.hasOwn(KINDS, kind));
  if (unknown.length > 0)
    throw new Error(`--only ${unknown.join(',')}: is none of ${Object.keys(KINDS).join(', ')}`);
  return { out: values.out, kinds };
}

/** Seconds since 1970 that all files bear: SOURCE_DATE_EPOCH (reproducible-builds.org), or when the commit was made. */
function sourceDate() {
  const epoch = process.env.SOURCE_DATE_EPOCH;
  if (epoch !== undefined && /^\d+$/.test(epoch)) return Number(epoch);
  try {
    return Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).trim());
  } catch {
    throw new Error(
      'not in a git checkout: set SOURCE_DATE_EPOCH to the seconds since 1970 that files are to bear',
    );
  }
}

async function main() {
  const { out, kinds } = chosen();
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(
      `packages are made on Linux on x64 alone, and this is ${process.platform} on ${process.arch}`,
    );
  execFileSync('npm', ['run', '-s', 'build', '--', '--if-older'], { cwd: root, stdio: 'inherit' });
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const work = mkdtempSync(join(tmpdir(), 'proxyd-package-'));
  try {
    const runtime = fetchRuntime(work);
    const made = { root, work, version, runtime, date: sourceDate(), tree: join(work, 'tree') };
    layOut(made);
    mkdirSync(out, { recursive: true });
    for (const kind of kinds) {
      const path = KINDS[kind](made, out);
      const bytes = statSync(path).isDirectory() ? sizeOf(path) : statSync(path).size;
      console.log(`${path}  ${(bytes / 1e6).toFixed(1)} MB`);
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function sizeOf(directory) {
  return Number(execFileSync('du', ['-sb', directory], { encoding: 'utf8' }).split('\t')[0]);
}

try {
  await main();
} catch (error) {
  console.error(`npm run package: ${error.message}`);
  process.exitCode = 1;
}
