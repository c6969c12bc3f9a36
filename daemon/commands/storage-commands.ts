// The commands storage.check and storage.drop, of a storage on disk.

import type { CommandReply } from '../../protocol/messages.ts';
import { bad, cannot, ok } from './reply.ts';
import type { DiskService, WorkerHandler, WorkerHandlers, WorkerServices } from './worker-services.ts';

/** Runs a command on the storage that is named. */
async function onDisk(
  worker: WorkerServices,
  name: string,
  run: (disk: DiskService) => Promise<CommandReply>,
): Promise<CommandReply> {
  const { disk } = worker;
  if (disk === null || disk.name !== name) return bad(`There is no storage ${name} on disk.\n`);
  return run(disk);
}

const check: WorkerHandler = (worker, { args: [name = ''] }) =>
  onDisk(worker, name, async (disk) => {
    const report = await disk.check();
    if (report === null) return cannot(`Storage ${name} could not be opened.\n`);
    const { objects, bytes, damaged, unreadable } = report;
    const text = `${objects} objects, ${bytes} bytes: ${damaged} damaged, which are not used any more, and ${unreadable} that could not be read.\n`;
    return damaged + unreadable === 0
      ? ok(`${objects} objects, ${bytes} bytes: all as they were written.\n`)
      : cannot(text);
  });

const drop: WorkerHandler = (worker, { args: [name = ''] }) =>
  onDisk(worker, name, async (disk) =>
    (await disk.empty())
      ? ok()
      : cannot(`Storage ${name} is off, but its files could not be removed: do so before the next start.\n`),
  );

export const STORAGE_COMMANDS = {
  'storage.check': check,
  'storage.drop': drop,
} satisfies Partial<WorkerHandlers>;
