// The directors extension: the directors of vmod_directors(3) of 7.1, and our own least_conn(). Each object is a
// director of its program: it can be looked up by name and is in backend.list.

import type { Director, VclContext } from '../../contract/context.ts';
import type { Extension, ExtensionObject } from '../../contract/extension.ts';
import { ExtensionError } from '../../contract/failure.ts';
import { byName, row } from '../extension-rows.ts';
import { shard } from './shard.ts';
import { inInit, shardParam } from './shard-param.ts';
import { fallback, hash, leastConn, random, roundRobin } from './simple-directors.ts';

/** Registers the object with its program as a director. */
function inProgram(object: ExtensionObject): ExtensionObject {
  return {
    ...object,
    create: (ctx: VclContext, name: string, ...args: unknown[]) => {
      const director = object.create(ctx, name, ...args) as Director;
      ctx.vcl.directors.set(name, director);
      return director;
    },
  };
}

function lookup(ctx: VclContext, name: string | null): Director | null {
  if (!inInit(ctx)) throw new ExtensionError('lookup() may only be called from vcl_init / vcl_fini');
  const found = name === null ? undefined : ctx.vcl.directors.get(name);
  // A backend declared as `none` is not in backend.list.
  return found === undefined || found.listed === null ? null : found;
}

export const directors: Extension = {
  name: 'directors',
  help: 'choosing among backends',
  // biome-ignore format: a row is a line
  functions: byName(
    row('BACKEND lookup(STRING)', lookup, 'The backend or director of this name, in vcl_init and vcl_fini.', { newerPlaces: 'init fini' }),
  ),
  objects: {
    round_robin: inProgram(roundRobin),
    fallback: inProgram(fallback),
    random: inProgram(random),
    hash: inProgram(hash),
    shard: inProgram(shard),
    shard_param: shardParam,
    least_conn: inProgram(leastConn),
  },
};
