// After tsc: copies what tsc does not (VCL sources), packs Ink into one file, makes the commands executable, links them
// into node_modules/.bin, where npx and scripts look for them (npm links the commands of dependencies only), and writes
// the manual pages and completion scripts.
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { packInk } from './pack-ink.js';

const root = new URL('../../', import.meta.url);
for (const file of ['daemon/vcl/builtin.vcl', 'daemon/vcl/builtin-rfc9111.vcl', 'daemon/vcl/recipes']) {
  if (existsSync(new URL(file, root)))
    cpSync(new URL(file, root), new URL(`dist/${file}`, root), { recursive: true });
}
await packInk(fileURLToPath(new URL('dist/console/tui/ink.js', root)));
const { bin } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const links = new URL('node_modules/.bin/', root);
mkdirSync(links, { recursive: true });
for (const [name, target] of Object.entries(bin)) {
  if (!existsSync(new URL(target, root))) continue;
  chmodSync(new URL(target, root), 0o755);
  const link = new URL(name, links);
  rmSync(link, { force: true });
  symlinkSync(`../../${target}`, link);
}

const { writeDocuments } = await import(new URL('dist/console/documents/write.js', root).href);
writeDocuments(root);
