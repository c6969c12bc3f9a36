// A process that obtains certificates, one after another, and ends, or is killed before a given call of the file system or
// request. Its argument is a JSON object: directory, root (PEM), port (of its HTTP listener), and jobs: each has a path, names
// and killAt (0 for never). For each that it has obtained it writes a line of JSON: the number of calls, those of them that are
// requests, and the certificate that it has installed.
import { createServer } from 'node:http';
import { acmeFetch } from '../../dist/modules/daemon/acme/acme-fetch.js';
import { AcmeManager } from '../../dist/modules/daemon/acme/acme-manager.js';
import { ChallengeBoard } from '../../dist/modules/daemon/acme/challenge-board.js';
import { LocalStates } from '../../dist/modules/daemon/acme/local-states.js';
import { realFiles, StateDirectory } from '../../dist/modules/daemon/acme/state-directory.js';

const { directory, root, port, jobs } = JSON.parse(process.argv[2]);

let challenges = { http: {} };
createServer((request, response) => {
  const answer = challenges.http[request.url.split('/').at(-1)];
  response.statusCode = answer === undefined ? 404 : 200;
  response.end(answer);
}).listen(port, '127.0.0.1');
const board = new ChallengeBoard(async (wanted) => {
  challenges = wanted;
});
const exchange = acmeFetch(root);
const complain = (text) => process.stderr.write(`${text}\n`);

/** Resolves when the certificate is installed. */
async function obtain({ path, names, killAt }) {
  let calls = 0;
  const requests = [];
  /** The same function, which may be the last thing that is not called. */
  const mortal =
    (call) =>
    (...args) => {
      if (++calls === killAt) process.kill(process.pid, 'SIGKILL');
      return call(...args);
    };
  const files = Object.fromEntries(Object.entries(realFiles).map(([name, call]) => [name, mortal(call)]));
  const directoryOfState = await StateDirectory.open(path, files);
  const states = await LocalStates.open(directory, directoryOfState, complain);
  let installed;
  const done = new Promise((resolve) => {
    installed = resolve;
  });
  const manager = new AcmeManager({
    settings: { directory, contact: `ops@${names[0]}`, external: null, userAgent: 'test' },
    wanted: [{ id: null, frontend: null, names }],
    states,
    answers: board,
    host: {
      async install({ chain }) {
        process.stdout.write(`${JSON.stringify({ calls, requests, chain })}\n`);
        installed();
      },
      challengeTypes: () => ['http-01'],
      isServing: () => true,
      happened: complain,
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
  await done;
  await manager.close();
  await directoryOfState.close();
}

for (const job of jobs) await obtain(job);
process.exit(0);
