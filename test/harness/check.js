// The static checks, side by side: Biome, exports that nothing imports, the words of comments, and the types of the
// product, then of the tests, which see the product as the compiler has declared it. Exits 1 when one finds something.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const bin = (name) => join(root, 'node_modules/.bin', name);

/** @returns whether it passed; its output is printed once it has ended, so that two do not mix */
function passes(program, ...args) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => output.push(bytes));
    child.on('error', (error) => output.push(Buffer.from(`${error.message}\n`)));
    child.on('close', (code) => {
      process.stdout.write(Buffer.concat(output));
      resolve(code === 0);
    });
  });
}

const results = await Promise.all([
  passes(bin('biome'), 'check', '.'),
  passes(process.execPath, 'test/harness/dead-exports.js'),
  passes(process.execPath, 'test/harness/comment-words.js'),
  passes(bin('tsc'), '-b').then((built) => built && passes(bin('tsc'), '-p', 'test', '--noEmit')),
]);
if (results.includes(false)) process.exitCode = 1;
