// Refuses comments that begin with "What" or "Who" as a noun, or use "told" in the passive. Prints each with its place
// and exits 1; part of `npm run check`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('../../', import.meta.url).pathname;
/** Folders whose comments are held to this. */
const FOLDERS = [
  'console/views',
  'console/bin',
  'console/demo',
  'console/documents',
  'console/gather',
  'console/varnish',
  'console/process',
  'console/ncsa',
  'console/histogram',
  'console/ranking',
  'console/format',
  'console/setup',
  'daemon/differences',
  'daemon/esi',
  'daemon/extensions',
  'daemon/vcl',
  'protocol',
  'queries',
  'test/bench',
  'test/conformance',
  'test/console',
  'test/daemon',
  'test/differential',
  'test/extensions',
  'test/fuzz',
  'test/harness',
  'test/protocol',
  'test/queries',
  'test/smoke',
  'test/structure',
  'test/system',
  'daemon/commands',
  'daemon/contract',
  'daemon/edge',
  'daemon/fleet',
  'daemon/manager',
  'daemon/params',
  'daemon/backend',
  'daemon/http1',
  'daemon/http2',
  'daemon/log',
  'daemon/stats',
  'daemon/throttle',
  'daemon/turns',
  'daemon/worker',
];
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
