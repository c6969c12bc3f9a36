// The tree that all packages share, below one prefix: commands, the files of the npm package and Node beside them, manual
// pages, completion, units, and what goes into /etc.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

export const MAINTAINER = 'The proxyd authors <maintainers@proxyd.dev>';
/** Section of the pages of extensions: Varnish's packages have pages of the same names in section 3. */
const EXTENSIONS_SECTION = '3proxyd';
/** Completions: file of the build, folder where the shell looks, and the name of a command's file there. */
const COMPLETIONS = [
  ['proxyd.bash', 'share/bash-completion/completions', (name) => name],
  ['_proxyd', 'share/zsh/vendor-completions', (name) => `_${name}`],
  ['proxyd.fish', 'share/fish/vendor_completions.d', (name) => `${name}.fish`],
];

export function put(path, content, mode = 0o644) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
}

export function copy(from, to, mode = 0o644) {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  chmodSync(to, mode);
}

/** Bytes that gzip makes of a file without a name and a time. */
const gzipped = (content) => gzipSync(content, { level: 9 });

/** Gives everything below a directory, and links themselves, the same times, and directories modes that do not depend on the umask.
 * Sorts nothing: archives do. */
export function settle(directory, date) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) settle(path, date);
    else lutimesSync(path, date, date);
  }
  chmodSync(directory, 0o755);
  utimesSync(directory, date, date);
}

/** A unit of the source tree as a package installs it: without the notes on how to copy it, and with the package's paths. */
function packagedUnit(text) {
  return (
    text
      .replace(/^(#.*\n)+\n/, '')
      .replace(/\/usr\/bin\/env (proxy\w+)/g, '/usr/bin/$1')
      // The port of /etc/default/proxyd.
      .replace(/^(ListenStream=.*):80$/gm, '$1:6085')
      .replace(/^(Environment=.*\n)/m, '$1# What an operator sets.\nEnvironmentFile=-/etc/default/proxyd\n')
  );
}

/** Libraries of C that an archive brings, below its prefix. */
export const LIBRARIES = 'lib/proxyd/libraries';

/** A command finds its Node, its libraries and its code from where it lies itself, so that the tree may lie anywhere. */
const launcher = (target) => `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
if [ -d "$here/../${LIBRARIES}" ]; then
  export LD_LIBRARY_PATH="$here/../${LIBRARIES}\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
exec "$here/../lib/proxyd/node" "$here/../lib/proxyd/${target}" "$@"
`;

export function layOut({ root, work, version, date, runtime, tree }) {
  const day = new Date(date * 1000).toISOString().slice(0, 10);
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const lib = join(tree, 'lib/proxyd');
  unpackOwn(root, work, lib);
  copy(runtime.binary, join(lib, 'node'), 0o755);
  copy(runtime.licence, join(lib, 'node.LICENSE'));
  put(join(lib, 'node.sha256'), `${runtime.sha256}  node\n`);
  for (const [name, target] of Object.entries(manifest.bin))
    put(join(tree, 'bin', name), launcher(target), 0o755);
  for (const page of manifest.man) {
    const [name, section] = basename(page).split(/\.(?=\d$)/);
    const shown = section === '3' ? EXTENSIONS_SECTION : section;
    const text = readFileSync(join(root, page), 'utf8');
    // The day it was built on is another in each run.
    const head = /^\.TH (\S+) "?\d"? "[\d-]+"/m;
    if (!head.test(text)) throw new Error(`${page} does not begin with a title, a section and a day`);
    const titled = text.replace(head, `.TH $1 ${shown} "${day}"`);
    put(join(tree, `share/man/man${section}/${name}.${shown}.gz`), gzipped(titled));
  }
  for (const [from, folder, nameOf] of COMPLETIONS) {
    copy(join(root, 'dist/completion', from), join(tree, folder, nameOf('proxyd')));
    // One file has all commands; a shell looks for that of the command it completes.
    for (const name of Object.keys(manifest.bin).filter((each) => each !== 'proxyd'))
      symlinkSync(nameOf('proxyd'), join(tree, folder, nameOf(name)));
  }
  const units = join(tree, 'lib/systemd/system');
  for (const unit of ['daemon/proxyd.service', 'daemon/proxyd.socket', 'console/ncsa/proxyncsa.service'])
    put(join(units, basename(unit)), packagedUnit(readFileSync(join(root, unit), 'utf8')));
  copy(join(root, 'daemon/proxyd.sysusers'), join(tree, 'lib/sysusers.d/proxyd.conf'));
  copy(join(root, 'daemon/packaging/tmpfiles.conf'), join(tree, 'lib/tmpfiles.d/proxyd.conf'));
  const doc = join(tree, 'share/doc/proxyd');
  put(join(doc, 'copyright'), copyright(root, runtime));
  put(join(doc, 'changelog.gz'), gzipped(changelog(version, date)));
}

/** The files of the npm package. Scripts of Node are not executable by themselves: Node is not where their first lines look for it. */
function unpackOwn(root, work, lib) {
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', work];
  const file = execFileSync('npm', args, { cwd: root, encoding: 'utf8' }).trim().split('\n').at(-1);
  mkdirSync(lib, { recursive: true });
  execFileSync('tar', ['-xzf', join(work, file), '-C', lib, '--strip-components=1']);
  for (const name of readdirSync(lib, { recursive: true })) {
    const path = join(lib, name);
    if (!statSync(path).isFile()) continue;
    const isShellScript = readFileSync(path, 'latin1').startsWith('#!/bin/sh\n');
    chmodSync(path, isShellScript ? 0o755 : 0o644);
  }
}

/** In Debian's format (deb-changelog(5)); what changed is in a file of its own. */
function changelog(version, date) {
  const entry = '  * What users can do: /usr/lib/proxyd/CHANGELOG.md.';
  const when = new Date(date * 1000).toUTCString().replace('GMT', '+0000');
  return `proxyd (${version}) unstable; urgency=medium\n\n${entry}\n\n -- ${MAINTAINER}  ${when}\n`;
}

/** Files in /etc: path below it, and content. */
export function configuration(root) {
  const text = (path) => readFileSync(join(root, path), 'utf8');
  return [
    ['default/proxyd', text('daemon/packaging/default')],
    ['proxyd/default.vcl', text('daemon/packaging/default.vcl')],
    ['logrotate.d/proxyncsa', text('console/ncsa/proxyncsa.logrotate')],
  ];
}

function copyright(root, runtime) {
  const own = readFileSync(join(root, 'LICENSE'), 'utf8');
  return `proxyd

${own}
The libraries in it, with their licences: /usr/lib/proxyd/dist/THIRD-PARTY.md

Node ${runtime.version}, with what it holds, and their licences: /usr/lib/proxyd/node.LICENSE
`;
}
