// directors.shard(): the methods of the shard director and their argument checks, with Varnish's messages.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { Director, VclContext } from '../../contract/context.ts';
import type { ExtensionObject } from '../../contract/extension.ts';
import { ExtensionError } from '../../contract/failure.ts';
import { byName, row } from '../extension-rows.ts';
import { stringKey } from './key.ts';
import { DEFAULT_REPLICAS, ShardDirector } from './shard-director.ts';
import { type By, inBackend, inInit, ParamBlob, paramValues, type ShardParam } from './shard-param.ts';
import type { Healthy } from './shard-pick.ts';

function fail(self: ShardDirector, text: string): never {
  throw new ExtensionError(`${self.prefix} ${text}`);
}

function ignored(ctx: VclContext, self: ShardDirector, text: string): void {
  ctx.log.put(Tag.Notice, `${self.prefix} ${text} ignored`);
}

/** The parameter set in a BLOB that use() gave. */
function paramOf(self: ShardDirector, blob: Uint8Array | null, refusal: string): ShardParam {
  return blob instanceof ParamBlob ? blob.param : fail(self, refusal);
}

function setWarmup(ctx: VclContext, self: ShardDirector, probability: number): void {
  if (probability >= 0 && probability < 1) self.warmup = probability;
  else ignored(ctx, self, `.set_warmup(${probability.toFixed(6)})`);
}

function setRampup(ctx: VclContext, self: ShardDirector, duration: number): void {
  if (duration >= 0) self.rampup = duration;
  else ignored(ctx, self, `.set_rampup(${duration.toFixed(6)})`);
}

function associate(_ctx: VclContext, self: ShardDirector, param?: Uint8Array | null): void {
  self.associated = param === undefined ? null : paramOf(self, param, 'shard .associate param invalid');
}

function addBackend(
  ctx: VclContext,
  self: ShardDirector,
  backend: Director | null,
  ident?: string | null,
  rampup?: number,
  weight?: number,
): boolean {
  if (backend === null) return fail(self, 'None backend cannot be added');
  let scale = 1;
  if (weight !== undefined) {
    if (weight >= 1) scale = weight;
    else ignored(ctx, self, `.add_backend(weight=${weight.toFixed(6)})`);
  }
  const host = { director: backend, ident: ident ?? null, rampup, weight: scale };
  self.change(ctx, { kind: 'add', host });
  return true;
}

function removeBackend(
  ctx: VclContext,
  self: ShardDirector,
  backend?: Director | null,
  ident?: string | null,
): boolean {
  const director = backend ?? null;
  const name = ident ?? null;
  if (director === null && name === null) {
    return fail(self, '.remove_backend(): either backend or ident are required');
  }
  self.change(ctx, { kind: 'remove', director, ident: name });
  return true;
}

function clear(ctx: VclContext, self: ShardDirector): boolean {
  self.change(ctx, { kind: 'clear' });
  return true;
}

function reconfigure(ctx: VclContext, self: ShardDirector, replicas: number): boolean {
  if (replicas > 0 && replicas < 2 ** 32) return self.reconfigure(ctx, replicas);
  ctx.log.put(Tag.Error, `${self.prefix} .reconfigure() invalid replicas argument ${replicas}`);
  return false;
}

function backend(
  ctx: VclContext,
  self: ShardDirector,
  by?: By,
  key?: number,
  blob?: Uint8Array | null,
  alt?: number,
  warmup?: number,
  rampup?: boolean,
  healthy?: Healthy,
  param?: Uint8Array | null,
  resolve?: 'NOW' | 'LAZY',
): Director | null {
  const given = [by, key, blob, alt, warmup, rampup, healthy, param].some((a) => a !== undefined);
  const init = inInit(ctx);
  if (init && resolve === 'NOW') {
    return fail(self, '.backend(resolve=NOW) can not be used in vcl_init{}/vcl_fini{}');
  }
  const lazy = resolve === undefined ? init : resolve === 'LAZY';
  if (lazy && !given) return self;
  if (lazy && !inBackend(ctx)) {
    return fail(
      self,
      '.backend(resolve=LAZY) with other parameters can only be used in backend/pipe context',
    );
  }
  const set = param === undefined ? null : paramOf(self, param, '.backend(key_blob) param invalid');
  const where = `${self.prefix} shard.backend()`;
  const own = paramValues(ctx, where, by, key, blob, alt, warmup, rampup, healthy);
  if (!lazy)
    return self.choose(ctx, set === null ? self.keptWith(ctx, own) : { own, param: set, named: true });
  self.keep(ctx, { own, param: set ?? self.associated, named: set !== null });
  return self;
}

export const shard: ExtensionObject = {
  signature: 'shard()',
  help: 'A director with consistent hashing: a key goes to the same member, and few keys move when members come and go.',
  create: (ctx, name) => new ShardDirector(name, ctx.now),
  prepare: (self: ShardDirector) => self.prepare(),
  // biome-ignore format: a row is a line
  methods: byName(
    row('VOID set_warmup(REAL probability=0.0)', setWarmup,
      'Share of requests that go to the next member for their key, so that it caches the object: 0 to 1.'),
    row('VOID set_rampup(DURATION duration=0)', setRampup, 'How long a member that became healthy gets fewer requests.'),
    row('VOID associate([BLOB param])', associate, 'Takes its parameters from a shard_param; none without one.'),
    row('BOOL add_backend(BACKEND backend, [STRING ident], [DURATION rampup], [REAL weight])', addBackend,
      'Adds a member, with a name on the ring of its own, a slower start, and a weight.'),
    row('BOOL remove_backend([BACKEND backend], [STRING ident])', removeBackend, 'Removes members by backend, name or both.'),
    row('BOOL clear()', clear, 'Removes all members.'),
    row(`BOOL reconfigure(INT replicas=${DEFAULT_REPLICAS})`, reconfigure, 'Only checks its argument: the ring is rebuilt automatically.'),
    row('INT key(STRING)', (_ctx, _self: ShardDirector, text: string | null) => stringKey(text), 'The position of a text on the ring.'),
    row('BACKEND backend([ENUM {HASH, URL, KEY, BLOB} by], [INT key], [BLOB key_blob], [INT alt], [REAL warmup], [BOOL rampup], [ENUM {CHOSEN, IGNORE, ALL} healthy], [BLOB param], [ENUM {NOW, LAZY} resolve])', backend,
      'The member for the key of the request, or of by; alt takes the following ones on the ring.'),
    row('VOID debug(INT)', () => undefined, 'Does nothing.'),
  ),
};
