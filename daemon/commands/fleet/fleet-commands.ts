// The commands of the fleet: its nodes, and the last of its invalidations.

import type { CommandReply } from '../../../protocol/messages.ts';
import type { FleetOverview } from '../../fleet/fleet-overview.ts';
import type { CommandCall } from '../../link.ts';
import type { ManagerHandler, ManagerHandlers } from '../manager-services.ts';
import { cannot, jsonReply, ok } from '../reply.ts';
import { formatLog, formatNodes } from './fleet-list.ts';

/** A command that needs the fleet. */
function ofFleet(run: (fleet: FleetOverview, call: CommandCall) => CommandReply): ManagerHandler {
  return ({ fleet }, call) =>
    fleet === null
      ? cannot('This proxy belongs to no fleet: it was started without --fleet.')
      : run(fleet, call);
}

const USUAL = 20;

export const FLEET_COMMANDS = {
  'fleet.log': ofFleet((fleet, call) => {
    const rows = fleet.log(Number(call.args[0] ?? USUAL));
    return call.json ? jsonReply(call, elements(rows)) : ok(formatLog(rows));
  }),
  'fleet.nodes': ofFleet((fleet, call) => {
    const rows = fleet.nodes();
    return call.json ? jsonReply(call, elements(rows)) : ok(formatNodes(rows));
  }),
} satisfies Partial<ManagerHandlers>;

function elements(rows: readonly unknown[]): string {
  return rows.map((row) => `\n  ${JSON.stringify(row)}`).join(',');
}
