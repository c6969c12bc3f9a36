// The extension fleet: what a program says and hears of the other proxies of its fleet. All that it invalidates goes to them
// by itself, where proxyd was started with --fleet.

import type { Extension } from '../../contract/extension.ts';

export const fleet: Extension = {
  name: 'fleet',
  help: 'invalidation on all proxies of a fleet',
  functions: {
    joined: {
      signature: 'BOOL joined()',
      help: 'Whether this proxy is one of a fleet: started with --fleet. It says nothing of whether the bus is there.',
      call: (ctx) => ctx.host.fleet !== null,
    },
    local_only: {
      signature: 'VOID local_only()',
      help: 'What the rest of the task invalidates stays on this proxy.',
      call: (ctx) => {
        ctx.thisNodeOnly = true;
      },
    },
    reply: {
      signature: 'STRING reply()',
      help: 'What the fleet has of the last invalidation of the task, in words, in a state after the one that asked for it: "stored 4711, applied by 2 of 3 nodes, not yet by c"; empty when there was none.',
      call: (ctx) => ctx.fleetReply,
    },
  },
};
