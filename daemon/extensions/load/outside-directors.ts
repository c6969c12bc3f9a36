// Backends and directors made by an outside extension. A backend belongs to the program, whatever the origin of its
// description; a director asks the extension for the backend of each fetch.

import { isIP } from 'node:net';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { Director, DirectorListing, VclContext } from '../../contract/context.ts';
import { ExtensionError } from '../../contract/failure.ts';
import { type ProbeDecl, type RunTimeDecl, State } from '../../contract/program.ts';
import { STANDS_FOR } from './handles.ts';
import type { OutsideContext, OutsideDirector } from './interface.ts';

const TEXTS = ['host', 'port', 'path', 'hostHeader'] as const;
const NUMBERS = ['connectTimeout', 'firstByteTimeout', 'betweenBytesTimeout', 'maxConnections'] as const;
const KNOWN: ReadonlySet<string> = new Set([...TEXTS, ...NUMBERS, 'probe']);

/** Finds or creates a backend of the program. Throws ExtensionError. */
export function backendAt({ vcl, state }: VclContext, description: unknown): Director {
  const decl = readDescription(description);
  if (vcl.makeBackend === null) throw new ExtensionError('backends cannot be created here');
  return vcl.makeBackend(decl, state === State.init);
}

function readDescription(description: unknown): RunTimeDecl {
  if (typeof description !== 'object' || description === null)
    throw new ExtensionError('a backend is an object');
  const given = description as Record<string, unknown>;
  const odd = Object.keys(given).find((key) => !KNOWN.has(key));
  if (odd !== undefined) throw new ExtensionError(`a backend has no '${odd}'`);
  const decl: RunTimeDecl = {};
  for (const key of TEXTS) {
    const value = key === 'port' && typeof given.port === 'number' ? String(given.port) : given[key];
    if (value === undefined) continue;
    // A Host must not be able to inject a header line.
    if (typeof value !== 'string' || /[^!-~]/.test(value))
      throw new ExtensionError(`'${key}' is not a text of visible ASCII characters`);
    decl[key] = value;
  }
  for (const key of NUMBERS) {
    const value = given[key];
    if (value === undefined) continue;
    if (typeof value !== 'number' || !(value >= 0 && Number.isFinite(value)))
      throw new ExtensionError(`'${key}' is not a number of 0 or more`);
    decl[key] = value;
  }
  if (given.probe !== undefined && given.probe !== null) {
    const probe = typeof given.probe === 'object' ? STANDS_FOR.get(given.probe) : undefined;
    if (probe === undefined) throw new ExtensionError("'probe' is not a PROBE of the program");
    decl.probe = probe as ProbeDecl;
  }
  if ((decl.path === undefined) === (decl.host === undefined))
    throw new ExtensionError("a backend has either a 'host' or a 'path'");
  if (decl.path !== undefined && !decl.path.startsWith('/'))
    throw new ExtensionError("'path' does not begin with a slash");
  if (decl.host !== undefined && isIP(decl.host) === 0)
    throw new ExtensionError(`"${decl.host}" is not a backend address`);
  return decl;
}

/** A director of the program; its choice may fail a fetch, never the worker. */
export class OwnDirector implements Director {
  readonly vclName: string;
  readonly listed: DirectorListing;
  /** Its backends are unknown. */
  readonly inUse = 0;
  private readonly theirs: OutsideDirector;
  private readonly called: (ctx: VclContext, call: (c: OutsideContext) => unknown) => unknown;

  /** @param called makes a call with a context of its own */
  constructor(name: string, theirs: OutsideDirector, now: number, called: OwnDirector['called']) {
    this.vclName = name;
    this.theirs = theirs;
    this.called = called;
    this.listed = {
      type: 'extension',
      admin: 'auto',
      changedAt: now,
      measured: (at) => this.measured(at),
      counts: () => null,
      text: () => [],
      json: () => null,
    };
  }

  setWarm(): void {
    // Its backends belong to the program, which sets their temperature itself.
  }

  healthy(now: number): boolean {
    const { admin } = this.listed;
    return admin === 'auto' ? this.measured(now) : admin === 'healthy';
  }

  resolve(ctx: VclContext): Director | null {
    try {
      const chosen = this.called(ctx, (c) => this.theirs.resolve(c));
      if (chosen === null || chosen === undefined) return null;
      const director = typeof chosen === 'object' ? STANDS_FOR.get(chosen) : undefined;
      if (typeof director === 'object' && director !== null && 'vclName' in director)
        return director as Director;
      throw new ExtensionError('resolve() returned no BACKEND');
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      ctx.log.put(Tag.VCL_Error, `Director ${this.vclName}: ${text}`);
      return null;
    }
  }

  private measured(now: number): boolean {
    try {
      return this.theirs.healthy === undefined || this.theirs.healthy(now) === true;
    } catch {
      // A failing health check means sick.
      return false;
    }
  }
}

/** Registers a director with the program. Throws ExtensionError. */
export function addDirector(
  ctx: VclContext,
  name: unknown,
  director: (name: string) => OwnDirector,
): OwnDirector {
  const { directors } = ctx.vcl;
  if (ctx.state !== State.init) throw new ExtensionError('directors are created in vcl_init');
  if (typeof name !== 'string' || !/^[A-Za-z][\w.-]*$/.test(name))
    throw new ExtensionError(`'${String(name)}' is not a valid director name`);
  if (directors.has(name)) throw new ExtensionError(`director ${name} exists already`);
  const made = director(name);
  directors.set(name, made);
  return made;
}
