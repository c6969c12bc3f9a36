// The commands that list a fleet, over as many nodes, messages and programs as a node keeps, without a bus. Gives rows of
// {shown, ms}.

import { FleetLog } from '../../../dist/modules/daemon/fleet/fleet-log.js';
import { NodeRegistry } from '../../../dist/modules/daemon/fleet/node-registry.js';
import { FLEET_COMMANDS } from '../../../dist/modules/daemon/manager/commands/fleet-commands.js';

const NODES = 4096;
const MESSAGES = 256;
const PROGRAMS = 32;

export function fleetLists() {
  const roll = new NodeRegistry(
    'self',
    () => performance.now(),
    () => '',
  );
  const state = {
    ...{ version: '0.1.0', current: true, lag: 0, lag_seconds: 0, program: 'boot', requests: 1.5 },
    ...{ hit_rate: 0.5, threads: 2, worker: 'running', console: 'https://node.example.com:6083' },
  };
  // None of them has come so far as the messages: the most names are sorted.
  for (let i = 0; i < NODES; i++) roll.beat(`node-${i}`, { ...state, applied: 0 }, 0);
  const log = new FleetLog();
  for (let i = 1; i <= MESSAGES; i++)
    log.add(i, Date.now(), 'node-1', {
      ...{ kind: 'ban', soft: false, subject: 'x'.repeat(1000), words: [], origin: 'admin', count: null },
    });
  const problems = Array.from({ length: NODES }, (_, i) => ({ node: `node-${i}`, problem: 'not yet' }));
  const program = {
    ...{ name: 'program', status: 'available', on: null, id: 'x', by: 'node-1', at: 0, bytes: 1000 },
    ...{ files: [], loaded: 0, nodes: NODES, missing: problems, problem: null },
  };
  const fleet = {
    nodes: () => roll.list(),
    log: (count) => log.last(count).map((received) => ({ ...received, reach: roll.reach(received.seq) })),
    programs: { list: () => Array.from({ length: PROGRAMS }, () => program) },
  };
  return ['fleet.nodes', 'fleet.log 256', 'fleet.list'].flatMap((line) =>
    [false, true].map((json) => {
      const [name, ...args] = line.split(' ');
      const words = json ? [name, '-j', ...args] : [name, ...args];
      const began = performance.now();
      FLEET_COMMANDS[name]({ fleet }, { name, words, options: json ? 'j' : '', json, args });
      return { shown: words.join(' '), ms: performance.now() - began };
    }),
  );
}
