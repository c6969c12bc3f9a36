// directors.shard_param(): a reusable set of arguments of shard.backend(). Values set in vcl_init apply to the
// program; those set by a backend fetch (or vcl_pipe) apply to that fetch and take precedence.
//
// use() passes the object through the program as a BLOB that only a shard director understands.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../../contract/context.ts';
import type { ExtensionObject } from '../../contract/extension.ts';
import { ExtensionError } from '../../contract/failure.ts';
import { taskPriv } from '../../contract/priv.ts';
import { State } from '../../contract/program.ts';
import { byName, row } from '../extension-rows.ts';
import { blobKey, KEYS, lookupKey, stringKey } from './key.ts';
import type { Healthy } from './shard-pick.ts';

export type By = 'HASH' | 'URL' | 'KEY' | 'BLOB';

/** The given values; missing ones come from the underlying set. */
export interface ParamValues {
  by?: By;
  /** Used with by=KEY and by=BLOB. */
  key?: number;
  alt?: number;
  warmup?: number;
  rampup?: boolean;
  healthy?: Healthy;
}

export const DEFAULTS = Object.freeze({
  by: 'HASH',
  key: 0,
  alt: 0,
  warmup: -1,
  rampup: true,
  healthy: 'CHOSEN',
} as const satisfies Required<ParamValues>);

/** Whether a fetch is running or a request is being piped: it may have parameters of its own. */
export function inBackend(ctx: VclContext): boolean {
  return ctx.bo !== null;
}

export function inInit(ctx: VclContext): boolean {
  return ctx.state === State.init || ctx.state === State.fini;
}

/** The key selected by `by` in this context. */
export function keyBy(ctx: VclContext, by: By, key: number): number {
  if (by === 'KEY' || by === 'BLOB') return key;
  const { bo, req } = ctx;
  if (by === 'HASH' && bo !== null) return lookupKey(bo.hashKey);
  return stringKey(bo?.bereq.url ?? req?.http.url ?? '');
}

/**
 * Validates the arguments of set() and backend().
 * @param where the caller, for messages
 */
export function paramValues(
  ctx: VclContext,
  where: string,
  by: By | undefined,
  key: number | undefined,
  blob: Uint8Array | null | undefined,
  alt: number | undefined,
  warmup: number | undefined,
  rampup: boolean | undefined,
  healthy: Healthy | undefined,
): ParamValues {
  const bad = (text: string): never => {
    throw new ExtensionError(`${where} ${text}`);
  };
  const values: ParamValues = {};
  if (by !== undefined) values.by = by;
  switch (by ?? DEFAULTS.by) {
    case 'KEY':
      if (key === undefined) return bad('missing key argument with by=KEY');
      if (key < 0 || key >= KEYS) bad(`invalid key argument ${key} with by=KEY`);
      values.key = key;
      break;
    case 'BLOB': {
      if (blob === undefined) bad('missing key_blob argument with by=BLOB');
      const first = blobKey(blob);
      if (first === null) ctx.log.put(Tag.Error, `${where} by=BLOB but no or empty key_blob - using key 0`);
      values.key = first ?? 0;
      break;
    }
    default:
      if (key !== undefined || blob !== undefined) {
        bad(`key and key_blob arguments are invalid with by=${by ?? DEFAULTS.by}`);
      }
  }
  if (alt !== undefined) {
    if (alt < 0) bad(`invalid alt argument ${alt}`);
    values.alt = alt;
  }
  if (warmup !== undefined) {
    if (warmup !== -1 && !(warmup >= 0 && warmup <= 1)) bad(`invalid warmup argument ${warmup.toFixed(6)}`);
    values.warmup = warmup;
  }
  if (rampup !== undefined) values.rampup = rampup;
  if (healthy !== undefined) values.healthy = healthy;
  return values;
}

export class ShardParam {
  readonly name: string;
  /** Values set in vcl_init. */
  program: ParamValues = {};

  constructor(name: string) {
    this.name = name;
  }

  /** The values that apply to the task. */
  current(ctx: VclContext): ParamValues {
    const own = inBackend(ctx) ? (ctx.priv?.get(this)?.value as ParamValues | undefined) : undefined;
    return own === undefined ? this.program : { ...this.program, ...own };
  }

  set(ctx: VclContext, values: ParamValues): void {
    if (inInit(ctx)) this.program = values;
    else taskPriv(ctx, this).value = values;
  }

  /** Fails a call from client states. */
  demand(ctx: VclContext, method: string): void {
    if (inInit(ctx) || inBackend(ctx)) return;
    throw new ExtensionError(
      `vmod_directors: shard ${this.name}: shard_param.${method}() may only be used in vcl_init and in backend/pipe context`,
    );
  }
}

/** A parameter set as a BLOB. */
export class ParamBlob extends Uint8Array {
  readonly param: ShardParam;

  constructor(param: ShardParam) {
    super(0);
    this.param = param;
  }
}

/** States that set what a lookup uses. */
const CHANGING = { newerPlaces: 'pipe backend init fini' };

const values = (ctx: VclContext, self: ShardParam): Required<ParamValues> => ({
  ...DEFAULTS,
  ...self.current(ctx),
});

function clear(ctx: VclContext, self: ShardParam): void {
  self.demand(ctx, 'clear');
  self.set(ctx, {});
}

function set(
  ctx: VclContext,
  self: ShardParam,
  by?: By,
  key?: number,
  blob?: Uint8Array | null,
  alt?: number,
  warmup?: number,
  rampup?: boolean,
  healthy?: Healthy,
): void {
  self.demand(ctx, 'set');
  const where = `vmod_directors: shard ${self.name}: shard_param.set()`;
  self.set(ctx, paramValues(ctx, where, by, key, blob, alt, warmup, rampup, healthy));
}

function getKey(ctx: VclContext, self: ShardParam): number {
  const { by, key } = values(ctx, self);
  return keyBy(ctx, by, key);
}

export const shardParam: ExtensionObject = {
  signature: 'shard_param()',
  help: 'Parameters for a shard director, that several calls share.',
  create: (_ctx, name) => new ShardParam(name),
  // biome-ignore format: a row is a line
  methods: byName(
    row('VOID clear()', clear, 'Resets all values.', CHANGING),
    row('VOID set([ENUM {HASH, URL, KEY, BLOB} by], [INT key], [BLOB key_blob], [INT alt], [REAL warmup], [BOOL rampup], [ENUM {CHOSEN, IGNORE, ALL} healthy])', set,
      'Sets the arguments of lookups, with the meaning they have in backend() of a shard director.', CHANGING),
    row('STRING get_by()', (ctx, self: ShardParam) => values(ctx, self).by, 'The value of by.'),
    row('INT get_key()', getKey, 'The key that by gives here.'),
    row('INT get_alt()', (ctx, self: ShardParam) => values(ctx, self).alt, 'The value of alt.'),
    row('REAL get_warmup()', (ctx, self: ShardParam) => values(ctx, self).warmup, 'The value of warmup.'),
    row('BOOL get_rampup()', (ctx, self: ShardParam) => values(ctx, self).rampup, 'The value of rampup.'),
    row('STRING get_healthy()', (ctx, self: ShardParam) => values(ctx, self).healthy, 'The value of healthy.'),
    row('BLOB use()', (_ctx, self: ShardParam) => new ParamBlob(self), 'The value for the argument param of a shard director.', CHANGING),
  ),
};
