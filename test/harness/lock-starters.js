// Processes that all want one lock at the same moment, again and again: `node lock-starters.js ROUNDS` prints how many
// had it in each kind of round, as JSON. One word: what there is before a round.
import { fork } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const STARTERS = 4;
const DEAD = '4194303 123\n';

if (process.send !== undefined) {
  const { takeLock } = await import('../../dist/modules/protocol/files/lock-file.js');
  let taken = null;
  process.on('message', ({ path, at }) => {
    if (path === undefined) {
      taken?.release?.();
      process.send('released');
      return;
    }
    while (Date.now() < at);
    taken = takeLock(path);
    process.send(taken.release !== undefined);
  });
} else {
  const directory = mkdtempSync(join(tmpdir(), 'lock-starters-'));
  const path = join(directory, 'lock');
  const children = Array.from({ length: STARTERS }, () => fork(process.argv[1]));
  const ask = (message) =>
    Promise.all(
      children.map(
        (child) =>
          new Promise((resolve) => {
            child.once('message', resolve);
            child.send(message);
          }),
      ),
    );
  const owners = {};
  const left = new Set();
  for (const before of ['nothing', 'dead', 'empty']) {
    owners[before] = {};
    for (let i = 0; i < Number(process.argv[2]); i++) {
      if (before !== 'nothing') writeFileSync(path, before === 'dead' ? DEAD : '');
      const had = (await ask({ path, at: Date.now() + 3 })).filter(Boolean).length;
      owners[before][had] = (owners[before][had] ?? 0) + 1;
      await ask({});
      for (const name of readdirSync(directory)) left.add(name);
      for (const name of left) rmSync(join(directory, name), { force: true });
    }
  }
  for (const child of children) child.kill();
  rmSync(directory, { recursive: true });
  process.stdout.write(`${JSON.stringify({ owners, left: [...left] })}\n`);
}
