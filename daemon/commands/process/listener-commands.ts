// listen.list, and its older name debug.listen_address.

import type { ManagerHandler, ManagerHandlers } from '../manager-services.ts';
import { jsonReply, ok } from '../reply.ts';

const list: ManagerHandler = ({ listeners }, call) => {
  const rows = listeners.list();
  if (call.json) {
    const items = rows.map(
      (l) =>
        `\n  {\n    "name": ${JSON.stringify(l.name)},\n    "address": ${JSON.stringify(l.address)},\n    "port": ${l.port},\n    "protocol": "${l.proto}"\n  }`,
    );
    return jsonReply(call, items.join(','));
  }
  return ok(rows.map((l) => `${l.name} ${l.address} ${l.port < 0 ? '-' : l.port}\n`).join(''));
};

export const LISTENER_COMMANDS = {
  'debug.listen_address': list,
  'listen.list': list,
} satisfies Partial<ManagerHandlers>;
