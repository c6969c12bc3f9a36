// Refuses comments that begin with "What" or "Who" as a noun, or use "told" in the passive. Prints each with its place
// and exits 1; part of `npm run check`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('../../', import.meta.url).pathname;
const FOLDERS = ['console', 'daemon', 'protocol', 'queries', 'screenshots', 'test'];
/** A run of `//` lines, one `//` after code, or a block. */
const COMMENT = /^[ \t]*\/\/.*(?:\n[ \t]*\/\/.*)*|[ \t]\/\/ .*|\/\*[\s\S]*?\*\//gm;
const REFUSED = /^(?:What|Who)\b|\bis told\b/;

const found = [];
for (const folder of FOLDERS) {
  for (const entry of readdirSync(join(root, folder), { recursive: true })) {
    const file = join(folder, entry);
    if (!/\.(tsx?|[cm]?js)$/.test(file)) continue;
    const text = readFileSync(join(root, file), 'utf8');
    for (const { 0: comment, index } of text.matchAll(COMMENT)) {
      const words = comment
        .replaceAll(/\/\*+|\*+\/|^[ \t]*(?:\/\/|\*)/gm, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim();
      const refused = REFUSED.exec(words);
      if (refused === null) continue;
      const line = text.slice(0, index + comment.search(/\S/)).split('\n').length;
      found.push(
        `${file}:${line}: a comment ${refused.index === 0 ? 'begins with' : 'holds'} "${refused[0]}"\n`,
      );
    }
  }
}
process.stdout.write(found.join(''));
if (found.length > 0) process.exitCode = 1;
