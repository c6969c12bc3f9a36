// A process that obtains a certificate and ends, or is killed before a given call of the file system or request. Its argument
// is a JSON object: directory, root (PEM), path, names, port (of its HTTP listener; 0 for none), killAt (0 for never). Writes
// JSON of the number of calls, those of them that are requests, and the certificate that it has installed.
import { createServer } from 'node:http';
import { acmeFetch } from '../../dist/modules/daemon/acme/acme-fetch.js';
import { AcmeManager } from '../../dist/modules/daemon/acme/acme-manager.js';
import { ChallengeBoard } from '../../dist/modules/daemon/acme/challenge-board.js';
import { LocalStates } from '../../dist/modules/daemon/acme/local-states.js';
import { realFiles, StateDirectory } from '../../dist/modules/daemon/acme/state-directory.js';

const { directory, root, path, names, port, killAt } = JSON.parse(process.argv[2]);
let calls = 0;
const requests = [];

/** The same function, which may be the last thing that is not called. */
function mortal(call) {
  return (...args) => {
    if (++calls === killAt) process.kill(process.pid, 'SIGKILL');
    return call(...args);
  };
}

let challenges = { http: {} };
if (port !== 0)
  createServer((request, response) => {
    const answer = challenges.http[request.url.split('/').at(-1)];
    response.statusCode = answer === undefined ? 404 : 200;
    response.end(answer);
  }).listen(port, '127.0.0.1');

const files = Object.fromEntries(Object.entries(realFiles).map(([name, call]) => [name, mortal(call)]));
const states = await LocalStates.open(directory, await StateDirectory.open(path, files), (text) =>
  process.stderr.write(`${text}\n`),
);
const board = new ChallengeBoard(async (wanted) => {
  challenges = wanted;
});
const exchange = acmeFetch(root);
const manager = new AcmeManager({
  settings: { directory, contact: null, external: null, userAgent: 'test' },
  wanted: [{ id: null, frontend: null, names }],
  states,
  answers: board,
  host: {
    async install({ chain }) {
      process.stdout.write(`${JSON.stringify({ calls, requests, chain })}\n`);
      process.exit(0);
    },
    challengeTypes: () => ['http-01'],
    isServing: () => true,
    happened: (text) => process.stderr.write(`${text}\n`),
  },
  time: {
    now: Date.now,
    random: () => 0,
    after: (ms, run) => {
      // Nobody waits for an authority on this machine.
      const timer = setTimeout(run, Math.min(ms, 20));
      return () => clearTimeout(timer);
    },
  },
  fetch: mortal((request) => {
    requests.push(calls);
    return exchange(request);
  }),
});
await manager.restore();
manager.start();
