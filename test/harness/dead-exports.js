// Dead exports: a value used only in its own module needs no `export`, and an unused one is to be removed. A type may
// be exported for callers as long as something in its module uses it. Prints findings and exits 1; part of `npm run
// check`.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const root = new URL('../../', import.meta.url).pathname;
const PRODUCT = ['daemon', 'console', 'protocol', 'queries'];
/** Made by tools. */
const MADE = /\.(grammar|d)\.ts$/;
const EXPORT = /^export (?:async )?(?:abstract )?(const|let|function\*?|class|interface|type) (\w+)/gm;
/** Names imported from a module, in braces or as a whole. */
const IMPORT =
  /(?:import|export)\s+(?:type\s+)?(?:\w+\s*,\s*)?(\{[^}]*\}|\*(?:\s+as\s+\w+)?)\s*from\s*'(\.[^']+)'/g;
const DYNAMIC = /import\(\s*(?:new URL\()?'(\.[^']+|dist\/modules\/[^']+)'/g;

const texts = new Map();
for (const folder of [...PRODUCT, 'test']) {
  for (const entry of readdirSync(join(root, folder), { recursive: true })) {
    const file = join(folder, entry);
    if (/\.(tsx?|js)$/.test(file)) texts.set(file, readFileSync(join(root, file), 'utf8'));
  }
}

/** Names that are taken of a module, from anywhere. */
const taken = new Map();
const take = (file, name) => taken.set(file, (taken.get(file) ?? new Set()).add(name));
for (const [file, text] of texts) {
  for (const [, what, from] of text.matchAll(IMPORT)) {
    const names = what.startsWith('*') ? ['*'] : what.slice(1, -1).split(',');
    for (const name of names)
      take(
        source(file, from),
        name
          .replace(/\btype\s/, '')
          .split(' as ')[0]
          .trim(),
      );
  }
  // For dynamic imports, the names are in the same file.
  for (const [, from] of text.matchAll(DYNAMIC)) {
    const to = source(file, from);
    for (const [, , name] of (texts.get(to) ?? '').matchAll(EXPORT)) {
      if (new RegExp(`\\b${name}\\b`).test(text)) take(to, name);
    }
  }
}

/** The module in the source tree that a specifier means; benches name what the compiler made of it. */
function source(file, from) {
  const path = from.startsWith('.') ? normalize(join(dirname(file), from)) : from;
  const plain = path.replace(/^dist\/modules\//, '');
  return texts.has(plain) ? plain : plain.replace(/\.js$/, '.ts');
}

const dead = [];
for (const [file, text] of texts) {
  if (MADE.test(file) || !PRODUCT.some((folder) => file.startsWith(`${folder}/`))) continue;
  const names = taken.get(file) ?? new Set();
  for (const [, kind, name] of text.matchAll(EXPORT)) {
    if (names.has(name) || names.has('*')) continue;
    const uses = text.match(new RegExp(`\\b${name}\\b`, 'g')).length - 1;
    const isType = kind === 'interface' || kind === 'type';
    if (uses === 0) dead.push(`${file}: ${name} is used nowhere: delete it`);
    else if (!isType) dead.push(`${file}: ${name} is used in this module alone: take its export away`);
  }
}
for (const line of dead) console.log(line);
if (dead.length > 0) {
  console.log(`${dead.length} dead exports`);
  process.exitCode = 1;
}
