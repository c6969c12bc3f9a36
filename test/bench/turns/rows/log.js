// Readers of the log beside traffic: what they cost the manager, which has the commands to answer meanwhile.
import { spawn } from 'node:child_process';
import { ROOT, sleep } from '../../servers/start.js';

const SECONDS = 4;
const RATE = 20_000;

/** Requests of cached objects at a fixed rate: more of them would be a load of its own. */
function traffic(port) {
  const script = `${ROOT}test/bench/servers/paced-load.js`;
  const child = spawn(process.execPath, [script, port, RATE, SECONDS, 32], { stdio: 'ignore' });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', resolve);
  });
}

const terms = (n) => Array.from({ length: n }, (_, i) => `ReqURL ~ "^/some/place/${i}/[a-z]+$"`).join(' or ');

/** @type {import('../row.d.ts').Row[]} */
export default ['session', 'request', 'vxid'].map((grouping) => ({
  name: `proxylog -g ${grouping} beside traffic, terms of the query`,
  sizes: [2, 20, 200],
  aim: 50,
  manager: true,
  load: async ({ port, dir, n }) => {
    const reader = spawn(
      process.execPath,
      [`${ROOT}dist/console/bin/proxylog.js`, '-n', `${dir}/proxyd`, '-g', grouping, '-q', terms(n)],
      { stdio: 'ignore' },
    );
    await sleep(500);
    await traffic(port);
    reader.kill();
  },
}));
