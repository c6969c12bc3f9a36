// The guarantees of a fleet, at full size, each with a real nats-server. Usage (after a build):
// node test/harness/fleet/prove.js load [--clients 64] [--objects 1000] [--edits 1000] [--pause 20]
// node test/harness/fleet/prove.js faults [--seconds 120] [--clients 64] [--objects 1000] [--every 5] [--pause 20]
// node test/harness/fleet/prove.js flood [--seconds 20] [--rate 5000]
// node test/harness/fleet/prove.js noise [--seconds 60]
// load: no client gets an older body after an acknowledged purge. faults: nor while the leader of three servers is
// killed, a node is cut off for a quarter of the time, a manager and a worker are killed. flood: invalidations in
// order, and hits beside them. noise: invalid messages have no effect. Exits with status 1 if a guarantee is broken.
// Small versions are system tests.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { tsImport } from 'tsx/esm/api';

const tsconfig = fileURLToPath(new URL('../../../.tsconfig.base.json', import.meta.url));
const number = { type: 'string' };
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    clients: number,
    objects: number,
    edits: number,
    pause: number,
    seconds: number,
    every: number,
    rate: number,
  },
});
const given = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, Number(text)]));
const { PROOFS } = await tsImport('./proofs.ts', { parentURL: import.meta.url, tsconfig });
const proof = PROOFS[positionals[0]];
if (proof === undefined) {
  console.error(`Usage: prove.js ${Object.keys(PROOFS).join(' | ')}`);
  process.exit(2);
}
const { facts, broken } = await proof(given);
for (const fact of facts) console.log(fact);
for (const promise of broken.slice(0, 20)) console.log(`BROKEN: ${promise}`);
process.exit(broken.length === 0 ? 0 : 1);
