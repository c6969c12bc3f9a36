// The commands storage.check and storage.drop, of a storage on disk, and storage.largest, of the objects in memory.

import type { CommandReply } from '../../protocol/messages.ts';
import type { SizedObject } from '../cache/largest-objects.ts';
import { turns } from '../turns/turns.ts';
import { bad, cannot, columns, jsonReply, ok } from './reply.ts';
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

/** Objects listed without a number, and at most (chosen). */
const LISTED = 20;
const MOST_LISTED = 100;

/** Searches in steps, one per turn of the event loop, so that traffic is served meanwhile. */
const largest: WorkerHandler = async ({ cache, clock, active }, call) => {
  const [word = String(LISTED)] = call.args;
  const limit = /^\d{1,3}$/.test(word) ? Number(word) : 0;
  if (limit < 1 || limit > MOST_LISTED) return bad(`A number from 1 to ${MOST_LISTED}, not ${word}.\n`);
  const search = cache.facts.largest(limit, clock.now());
  while (!search.step()) await turns.next();
  const named = search.found.map((object) => ({ ...object, ...nameOf(object, active?.plainHash === true) }));
  if (call.json) {
    const items = named.map(({ bytes, hits, age, ttl, storage, url, host }) =>
      JSON.stringify({ bytes, hits, age: Math.floor(age), ttl: Math.floor(ttl), storage, host, url }),
    );
    return jsonReply(call, items.map((item) => `\n  ${item}`).join(','));
  }
  const rows = named.map(({ bytes, hits, age, ttl, storage, url, host }) => [
    `${bytes}`,
    `${hits}`,
    `${Math.floor(age)}`,
    `${Math.floor(ttl)}`,
    storage,
    printable(host + url),
  ]);
  return ok(columns([['Bytes', 'Hits', 'Age', 'TTL', 'Storage', 'Object'], ...rows]));
};

/** URL and host of a key of the builtin vcl_hash; of any other key its text is the URL, and the host is empty. */
function nameOf({ key }: SizedObject, plainHash: boolean): { url: string; host: string } {
  const [url = '', host = '', ...rest] = key.split('\0');
  return plainHash && rest.length === 1 && rest[0] === ''
    ? { url, host }
    : { url: key.replaceAll('\0', ' ').trim(), host: '' };
}

function printable(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, (char) => encodeURIComponent(char));
}

export const STORAGE_COMMANDS = {
  'storage.check': check,
  'storage.drop': drop,
  'storage.largest': largest,
} satisfies Partial<WorkerHandlers>;
