// proxyd_VERSION_amd64.deb: the tree below /usr, the configuration in /etc, and scripts that make users and start the
// service (Debian Policy chapters 5, 6 and 10).
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { configuration, copy, MAINTAINER, put, settle } from './tree.js';

const SCRIPTS = ['postinst', 'prerm', 'postrm'];

export function debian({ root, work, version, date, tree }, out) {
  const place = join(work, 'deb');
  cpSync(tree, join(place, 'usr'), { recursive: true, verbatimSymlinks: true });
  const settings = configuration(root);
  for (const [path, content] of settings) put(join(place, 'etc', path), content);
  const own = join(root, 'daemon/packaging/debian');
  copy(join(own, 'lintian-overrides'), join(place, 'usr/share/lintian/overrides/proxyd'));
  const files = filesOf(place);
  const kib = Math.ceil(files.reduce((sum, path) => sum + statSync(join(place, path)).size, 0) / 1024);
  const control = readFileSync(join(own, 'control'), 'utf8');
  const facts = { VERSION: version, KIB: String(kib), MAINTAINER };
  put(
    join(place, 'DEBIAN/control'),
    control.replace(/@(\w+)@/g, (_, name) => facts[name]),
  );
  put(join(place, 'DEBIAN/conffiles'), settings.map(([path]) => `/etc/${path}\n`).join(''));
  put(
    join(place, 'DEBIAN/md5sums'),
    files
      .filter((path) => !path.startsWith('etc/'))
      .map(sum)
      .join(''),
  );
  for (const script of SCRIPTS) copy(join(own, script), join(place, 'DEBIAN', script), 0o755);
  settle(place, date);
  mkdirSync(out, { recursive: true });
  const file = join(out, `proxyd_${version}_amd64.deb`);
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(date) };
  try {
    execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '-z1', '--build', place, file], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  } catch (cause) {
    if (cause.code !== 'ENOENT') throw cause;
    throw new Error(
      'there is no dpkg-deb here: install dpkg, or leave the Debian package out with --only tar,oci',
    );
  }
  return file;

  function sum(path) {
    const md5 = createHash('md5')
      .update(readFileSync(join(place, path)))
      .digest('hex');
    return `${md5}  ${path}\n`;
  }
}

/** Paths of files below a directory, sorted. */
function filesOf(directory) {
  return readdirSync(directory, { recursive: true })
    .filter((path) => lstatSync(join(directory, path)).isFile())
    .sort();
}
