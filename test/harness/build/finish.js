// After tsc: packs what it has compiled, makes the commands executable, links them into node_modules/.bin, where npx and
// scripts look for them (npm links the commands of dependencies only), and writes the manual pages, the completion
// scripts and the licences of the libraries that are packed.
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.js';
import { notices } from './notices.js';

const root = new URL('../../../', import.meta.url);
const { bin } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));

// Leftovers of an earlier build: names of shared files change with their content.
for (const name of readdirSync(new URL('dist/', root))) {
  if (name !== 'modules') rmSync(new URL(`dist/${name}`, root), { recursive: true });
}
const commands = [...Object.values(bin), 'dist/console/bin/demo.js']
  .filter((target) => target.startsWith('dist/console/'))
  .map((target) => target.replace(/^dist\/(.*)\.js$/, '$1'));
const libraries = await bundle(fileURLToPath(root), commands);
writeFileSync(new URL('dist/console/bin/package.json', root), '{ "type": "commonjs" }\n');
// The exports proxyd/extension and proxyd/throttle, in the folder structure of their relative imports.
const throttle = readdirSync(new URL('dist/modules/daemon/throttle/', root)).filter((name) =>
  /\.(js|d\.ts)$/.test(name),
);
for (const name of [
  'extensions/load/interface.js',
  'extensions/load/interface.d.ts',
  'contract/body-filter.d.ts',
  'contract/shared-state.d.ts',
  ...throttle.map((file) => `throttle/${file}`),
]) {
  const packed = new URL(`dist/author/${name}`, root);
  mkdirSync(new URL('./', packed), { recursive: true });
  copyFileSync(new URL(`dist/modules/daemon/${name}`, root), packed);
}
writeFileSync(new URL('dist/THIRD-PARTY.md', root), notices(fileURLToPath(root), libraries));

const links = new URL('node_modules/.bin/', root);
mkdirSync(links, { recursive: true });
for (const [name, target] of Object.entries(bin)) {
  chmodSync(new URL(target, root), 0o755);
  const link = new URL(name, links);
  rmSync(link, { force: true });
  symlinkSync(`../../${target}`, link);
}

const { writeDocuments } = await import(new URL('dist/modules/console/documents/write.js', root).href);
const { builtInExtensions } = await import(new URL('dist/modules/daemon/extensions/registry.js', root).href);
const { LANGUAGE } = await import(new URL('dist/modules/daemon/vcl/tables/language.js', root).href);
writeDocuments(root, builtInExtensions(), LANGUAGE);
const { exampleConfig } = await import(new URL('dist/modules/daemon/edge/conf-example.js', root).href);
writeFileSync(new URL('dist/edge-connector.conf.example', root), exampleConfig());
