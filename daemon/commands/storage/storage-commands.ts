// storage.list.

import type { ManagerHandler, ManagerHandlers } from '../manager-services.ts';
import { jsonReply, ok } from '../reply.ts';

const list: ManagerHandler = ({ storages }, call) => {
  if (call.json) {
    const items = storages.map(
      (s) => `\n  {\n    "name": ${JSON.stringify(s.name)},\n    "storage": ${JSON.stringify(s.kind)}\n}`,
    );
    return jsonReply(call, items.join(','));
  }
  return ok(`Storage devices:\n${storages.map((s) => `\tstorage.${s.name} = ${s.kind}\n`).join('')}`);
};

export const STORAGE_COMMANDS = { 'storage.list': list } satisfies Partial<ManagerHandlers>;
