// oci/: an image in the layout of OCI (image-spec 1.1), made without a daemon: one layer with the tree, the libraries of C that
// Node needs, from this machine, and nothing else: no shell, no package manager. It runs as a user without rights.
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tar } from './archive.js';
import { librariesOf } from './libraries.js';
import { configuration, copy, put, settle } from './tree.js';

/** User and group, as images without a distribution have them. */
const NOBODY = 65532;
const NODE = '/usr/lib/proxyd/node';
/** Its working directory. */
const OWN = 'run/proxyd';
/** Their licences, where Debian has them. */
const COPYRIGHTS = ['libatomic1', 'libc6', 'libgcc-s1', 'libstdc++6'];

export function image({ root, work, version, date, tree, runtime }, out) {
  const layer = layerOf({ root, work, date, tree, runtime });
  const oci = join(out, 'oci');
  rmSync(oci, { recursive: true, force: true });
  mkdirSync(join(oci, 'blobs/sha256'), { recursive: true });
  const packed = gzipSync(layer, { level: 6 });
  const created = new Date(date * 1000).toISOString().replace('.000', '');
  const config = {
    created,
    architecture: 'amd64',
    os: 'linux',
    config: {
      User: `${NOBODY}:${NOBODY}`,
      ExposedPorts: { '8080/tcp': {} },
      Env: ['PATH=/usr/bin'],
      Entrypoint: ['/usr/bin/proxyd'],
      Cmd: ['-F', '-n', '/run/proxyd', '-a', ':8080', '-f', '/etc/proxyd/default.vcl', '-s', 'malloc,256m'],
      WorkingDir: '/run/proxyd',
      StopSignal: 'SIGTERM',
      Labels: { 'org.opencontainers.image.version': version, 'org.opencontainers.image.title': 'proxyd' },
      // Of Docker's image format, whose readers take it from OCI's, too.
      Healthcheck: {
        Test: ['CMD', '/usr/bin/proxyadm', '-n', '/run/proxyd', 'ping'],
        Interval: 10e9,
        Timeout: 3e9,
        StartPeriod: 5e9,
        Retries: 3,
      },
    },
    rootfs: { type: 'layers', diff_ids: [digest(layer)] },
    history: [{ created, created_by: 'npm run package' }],
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: blob(oci, 'application/vnd.oci.image.config.v1+json', JSON.stringify(config)),
    layers: [blob(oci, 'application/vnd.oci.image.layer.v1.tar+gzip', packed)],
  };
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...blob(oci, manifest.mediaType, JSON.stringify(manifest)),
        annotations: { 'org.opencontainers.image.ref.name': version },
        platform: { architecture: 'amd64', os: 'linux' },
      },
    ],
  };
  writeFileSync(join(oci, 'index.json'), JSON.stringify(index));
  writeFileSync(join(oci, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  return oci;
}

const digest = (bytes) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

function blob(oci, mediaType, bytes) {
  const name = digest(bytes);
  writeFileSync(join(oci, 'blobs/sha256', name.slice('sha256:'.length)), bytes);
  return { mediaType, digest: name, size: Buffer.byteLength(bytes) };
}

/** The bytes of the layer's tar. */
function layerOf({ root, work, date, tree, runtime }) {
  const place = join(work, 'image');
  cpSync(tree, join(place, 'usr'), { recursive: true, verbatimSymlinks: true });
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  // There is no shell: a command is a module that its Node reads at once.
  for (const [name, target] of Object.entries(bin))
    put(join(place, 'usr/bin', name), `#!${NODE}\nimport '/usr/lib/proxyd/${target}';\n`, 0o755);
  for (const library of librariesOf(runtime.binary)) copy(library, join(place, library), 0o755);
  for (const name of COPYRIGHTS) {
    const from = `/usr/share/doc/${name}/copyright`;
    if (existsSync(from)) copy(from, join(place, from));
  }
  for (const [path, content] of configuration(root)) put(join(place, 'etc', path), content);
  put(
    join(place, 'etc/passwd'),
    `root:x:0:0:root:/:/none\nproxyd:x:${NOBODY}:${NOBODY}:proxyd:/run/proxyd:/none\n`,
  );
  put(join(place, 'etc/group'), `root:x:0:\nproxyd:x:${NOBODY}:\n`);
  put(join(place, 'etc/nsswitch.conf'), 'hosts: files dns\n');
  for (const directory of [OWN, 'tmp']) mkdirSync(join(place, directory), { recursive: true });
  settle(place, date);
  // Directories that its user writes to: the working directory is its own, in the second part of the layer.
  chmodSync(join(place, 'tmp'), 0o1777);
  const file = join(work, 'layer.tar');
  tar(place, ['.'], file, { exclude: [`./${OWN}`] });
  tar(place, [`./${OWN}`], file, { owner: NOBODY, append: true });
  const bytes = readFileSync(file);
  rmSync(place, { recursive: true });
  rmSync(file);
  return bytes;
}
