// The extension fleet: a program's view of its fleet. Invalidations reach the other proxies without a call, if proxyd
// was started with --fleet.

import type { VclContext } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { byName, row } from '../extension-rows.ts';

function localOnly(ctx: VclContext): void {
  ctx.thisNodeOnly = true;
}

export const fleet: Extension = {
  name: 'fleet',
  help: 'invalidation on all proxies of a fleet',
  // biome-ignore format: a row is a line
  functions: byName(
    row('BOOL joined()', (ctx) => ctx.host.fleet !== null,
      'Whether this proxy is one of a fleet: started with --fleet. It does not say whether the bus is reachable.'),
    row('VOID local_only()', localOnly, 'What the rest of the task invalidates stays on this proxy.'),
    row('STRING reply()', (ctx) => ctx.fleetReply,
      'Progress of the task’s last invalidation in the fleet, as a text, in a state after the one that requested it: "stored 4711, applied by 2 of 3 nodes, not yet by c"; empty when there was none.'),
  ),
};
