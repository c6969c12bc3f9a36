// The quick tier and the system tests, twice, while ten other processes keep the machine busy: a test that waits for an event
// passes, and one that waits for a time does not. The busy processes end with this one, however it ends.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const BUSY = 10;
const ROUNDS = 2;
const TIERS = ['quick', 'system'];

const spin = `const parent = ${process.pid}; while (process.ppid === parent);`;
const busy = Array.from({ length: BUSY }, () => spawn(process.execPath, ['-e', spin], { stdio: 'ignore' }));
process.on('exit', () => {
  for (const child of busy) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

const tier = fileURLToPath(new URL('tier.js', import.meta.url));
for (let round = 1; round <= ROUNDS; round++) {
  console.log(`== under load, round ${round} of ${ROUNDS}`);
  const code = await new Promise((resolve) => {
    const args = [tier, ...TIERS, ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])];
    const env = { ...process.env, PROXYD_SEED: process.env.PROXYD_SEED ?? 'random' };
    spawn(process.execPath, args, { stdio: 'inherit', env }).on('exit', resolve);
  });
  if (code !== 0) process.exitCode = 1;
}
process.exit();
