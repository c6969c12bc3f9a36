// directors.shard(): the methods of the shard director and what each refuses, with Varnish's messages.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { Director, VclContext } from '../../contract/context.ts';
import type { ExtensionMethod, ExtensionObject } from '../../contract/extension.ts';
import { ExtensionError } from '../../contract/failure.ts';
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

const setWarmup: ExtensionMethod = {
  signature: 'VOID set_warmup(REAL probability=0.0)',
  help: 'How often a request goes to the next member for its key, so that it knows the object: 0 to 1.',
  call: (ctx, self: ShardDirector, probability: number) => {
    if (probability >= 0 && probability < 1) self.warmup = probability;
    else ignored(ctx, self, `.set_warmup(${probability.toFixed(6)})`);
  },
};

const setRampup: ExtensionMethod = {
  signature: 'VOID set_rampup(DURATION duration=0)',
  help: 'How long a member that became healthy gets fewer requests.',
  call: (ctx, self: ShardDirector, duration: number) => {
    if (duration >= 0) self.rampup = duration;
    else ignored(ctx, self, `.set_rampup(${duration.toFixed(6)})`);
  },
};

const associate: ExtensionMethod = {
  signature: 'VOID associate([BLOB param])',
  help: 'Takes its parameters from a shard_param; none without one.',
  call: (_ctx, self: ShardDirector, param?: Uint8Array | null) => {
    self.associated = param === undefined ? null : paramOf(self, param, 'shard .associate param invalid');
  },
};

const addBackend: ExtensionMethod = {
  signature: 'BOOL add_backend(BACKEND backend, [STRING ident], [DURATION rampup], [REAL weight])',
  help: 'Adds a member, with a name on the ring of its own, a slower start, and a weight.',
  call: (
    ctx,
    self: ShardDirector,
    backend: Director | null,
    ident?: string | null,
    rampup?: number,
    weight?: number,
  ) => {
    if (backend === null) return fail(self, 'None backend cannot be added');
    let scale = 1;
    if (weight !== undefined) {
      if (weight >= 1) scale = weight;
      else ignored(ctx, self, `.add_backend(weight=${weight.toFixed(6)})`);
    }
    const host = { director: backend, ident: ident ?? null, rampup, weight: scale };
    self.change(ctx, { kind: 'add', host });
    return true;
  },
};

const removeBackend: ExtensionMethod = {
  signature: 'BOOL remove_backend([BACKEND backend], [STRING ident])',
  help: 'Removes members by backend, name or both.',
  call: (ctx, self: ShardDirector, backend?: Director | null, ident?: string | null) => {
    const director = backend ?? null;
    const name = ident ?? null;
    if (director === null && name === null) {
      return fail(self, '.remove_backend(): either backend or ident are required');
    }
    self.change(ctx, { kind: 'remove', director, ident: name });
    return true;
  },
};

const clear: ExtensionMethod = {
  signature: 'BOOL clear()',
  help: 'Removes all members.',
  call: (ctx, self: ShardDirector) => {
    self.change(ctx, { kind: 'clear' });
    return true;
  },
};

const reconfigure: ExtensionMethod = {
  signature: `BOOL reconfigure(INT replicas=${DEFAULT_REPLICAS})`,
  help: 'Does nothing but check its argument: the ring is made again by itself.',
  call: (ctx, self: ShardDirector, replicas: number) => {
    if (replicas > 0 && replicas < 2 ** 32) return self.reconfigure(ctx, replicas);
    ctx.log.put(Tag.Error, `${self.prefix} .reconfigure() invalid replicas argument ${replicas}`);
    return false;
  },
};

const backend: ExtensionMethod = {
  signature:
    'BACKEND backend([ENUM {HASH, URL, KEY, BLOB} by], [INT key], [BLOB key_blob], [INT alt], [REAL warmup], ' +
    '[BOOL rampup], [ENUM {CHOSEN, IGNORE, ALL} healthy], [BLOB param], [ENUM {NOW, LAZY} resolve])',
  help: 'The member for the key of the request, or of by; alt takes the following ones on the ring.',
  call: (
    ctx,
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
  ) => {
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
  },
};

export const shard: ExtensionObject = {
  signature: 'shard()',
  help: 'A director with consistent hashing: a key goes to the same member, and few keys move when members come and go.',
  create: (ctx, name) => new ShardDirector(name, ctx.now),
  prepare: (self: ShardDirector) => self.prepare(),
  methods: {
    set_warmup: setWarmup,
    set_rampup: setRampup,
    associate,
    add_backend: addBackend,
    remove_backend: removeBackend,
    clear,
    reconfigure,
    key: {
      signature: 'INT key(STRING)',
      help: 'The number that a text is on the ring.',
      call: (_ctx, _self: ShardDirector, text: string | null) => stringKey(text),
    },
    backend,
    debug: { signature: 'VOID debug(INT)', help: 'Does nothing.', call: () => undefined },
  },
};
