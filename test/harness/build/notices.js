// The licences of the libraries that are packed into dist/: their text has to go with every copy.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @param libraries folders of packages, below `root` */
export function notices(root, libraries) {
  const parts = libraries.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? '' : `\n${readFileSync(join(root, folder, file), 'utf8').trim()}\n`;
    return `## ${name} ${version}\n\nLicence: ${licenceName(license)}\n${text}`;
  });
  return `# Libraries in this package\n\n${parts.join('\n')}`;
}

/** Old manifests have objects, or none. */
function licenceName(license) {
  if (typeof license === 'string') return license;
  return license?.type ?? 'see its text';
}
