// The extension saintmode: backends that are sick for single objects. Follows vmod_saintmode(3) of the module
// collection.
//
// Each program has its own objects and lists, the same in all threads; they end with the program and with the worker.
// Where a call crashes Varnish (status() of a program without objects, a backend `none`), this answers or refuses.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { Director, VclContext, VclHost } from '../../contract/context.ts';
import type { Extension, ExtensionObject } from '../../contract/extension.ts';
import { ExtensionError } from '../../contract/failure.ts';
import { programPriv } from '../../contract/priv.ts';
import { State } from '../../contract/program.ts';
import { byName, row } from '../extension-rows.ts';
import { Saint } from './saint.ts';
import { SaintmodeEvents } from './saintmode-events.ts';

const EVENTS = new WeakMap<VclHost, SaintmodeEvents>();

function eventsOf({ host }: VclContext): SaintmodeEvents {
  let events = EVENTS.get(host);
  if (events === undefined) {
    events = new SaintmodeEvents(host.shared);
    EVENTS.set(host, events);
  }
  return events;
}

/** Key of the private data with a program's objects. */
const OBJECTS = {};

function saintsOf(ctx: VclContext): Saint[] {
  const cell = programPriv(ctx, OBJECTS);
  if (cell.value === undefined) {
    const events = eventsOf(ctx);
    cell.value = [];
    cell.end = (saints) => {
      for (const one of saints as Saint[]) events.leave(one);
    };
  }
  return cell.value as Saint[];
}

function blacklist(ctx: VclContext, seconds: number): void {
  const { bo } = ctx;
  if (bo === null || ctx.state !== State.backend_response) {
    ctx.log.put(Tag.VCL_Error, 'saintmode.blacklist() called outside of vcl_backend_response');
    return;
  }
  const saint = saintsOf(ctx).find((s) => s.backend === bo.respBackend);
  if (saint === undefined) {
    const text = 'Error: saintmode.blacklist(): Saintmode not configured for this backend.';
    ctx.log.put(Tag.VCL_Error, text);
    return;
  }
  ctx.log.put(
    Tag.VCL_Log,
    `saintmode: object put on blacklist for backend ${saint.backend.vclName} for ${seconds.toFixed(2)} seconds`,
  );
  saint.blacklist(bo.hashKey, seconds, ctx.now);
}

function status(ctx: VclContext): string {
  const rows = saintsOf(ctx).map(
    (s) =>
      `\t\t{ "name": "${s.vclName}", "backend": "${s.backend.vclName}", "count": "${s.count}", "threshold": "${s.threshold}" }`,
  );
  return `{\n\t"saintmode": [\n${rows.join(',\n')}\n\t]\n}\n`;
}

const saint: ExtensionObject = {
  signature: 'saintmode(BACKEND backend, INT threshold)',
  help: 'A backend that is sick for single objects; for all once the threshold is passed (0: never).',
  create: (ctx, name, backend: Director | null, threshold: number) => {
    if (backend === null) {
      throw new ExtensionError(
        `${name}: None backend cannot have a list of objects: give saintmode.saintmode() a backend or a director`,
      );
    }
    const events = eventsOf(ctx);
    const made = new Saint(ctx.vcl.name, name, backend, threshold, events, ctx.now);
    events.join(made);
    saintsOf(ctx).push(made);
    ctx.vcl.directors.set(name, made);
    return made;
  },
  // biome-ignore format: a row is a line
  methods: byName(
    row('BACKEND backend()', (_ctx, self: Saint) => self, 'The director, for req.backend_hint or bereq.backend.'),
    row('INT blacklist_count()', (_ctx, self: Saint) => self.count, 'Number of objects for which it is sick.'),
    row('INT denylist_count()', (_ctx, self: Saint) => self.count, 'The same by its newer name.'),
    row('BOOL is_healthy()', (ctx, self: Saint) => self.isHealthy(ctx), 'Whether it is healthy for the object of the transaction.'),
  ),
};

export const saintmode: Extension = {
  name: 'saintmode',
  help: 'backends that are sick for single objects',
  // biome-ignore format: a row is a line
  functions: byName(
    row('VOID blacklist(DURATION expires)', blacklist, 'In vcl_backend_response: the backend that answered is sick for this object, for this long.'),
    row('VOID denylist(DURATION expires)', blacklist, 'The same by its newer name.'),
    row('STRING status()', status, 'All objects of the program, as JSON.'),
  ),
  objects: { saintmode: saint },
};
