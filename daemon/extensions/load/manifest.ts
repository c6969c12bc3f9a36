// The manifest of an outside extension: names and signatures without code. Read from the exported object in the
// process that opened the module, sent as JSON, and checked again by the compiler, which trusts neither.

import { placesToStates, STATE_GROUPS } from '../../../protocol/tables/variables.ts';
import {
  FILTER_CHANGES,
  FILTER_SIDES,
  type FilterChanges,
  type FilterSide,
} from '../../contract/body-filter.ts';
import type {
  Extension,
  ExtensionFunction,
  ExtensionMethod,
  ExtensionObject,
} from '../../contract/extension.ts';
import { WAITING_PLACES } from '../../contract/waiting.ts';
import { parseSignature, SignatureError } from '../../vcl/check/signature.ts';
import { EXTENSION_INTERFACE } from './interface.ts';

export interface FunctionManifest {
  signature: string;
  places?: string;
  waits?: boolean;
  /** Seconds, with `waits` only. */
  timeout?: number;
}

export interface ObjectManifest {
  signature: string;
  mayBeAbsent?: boolean;
  methods: Record<string, FunctionManifest>;
}

export interface FilterManifest {
  side: FilterSide;
  changes: FilterChanges;
}

export interface Manifest {
  name: string;
  functions: Record<string, FunctionManifest>;
  objects: Record<string, ObjectManifest>;
  filters: Record<string, FilterManifest>;
}

/** An unusable extension; the message is for the operator. */
class ManifestError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ManifestError';
  }
}

type Row = Record<string, unknown>;

function isRow(value: unknown): value is Row {
  return (typeof value === 'object' || typeof value === 'function') && value !== null;
}

/** Finds the extension among a module's exports: `extension`, the default export, or the exports themselves. */
export function exported(module: unknown): unknown {
  if (!isRow(module)) return undefined;
  for (const value of [module.extension, isRow(module.default) ? module.default.extension : undefined]) {
    if (value !== undefined) return value;
  }
  if (module.default !== undefined) return module.default;
  return 'abi' in module || 'functions' in module || 'objects' in module || 'filters' in module
    ? module
    : undefined;
}

const NAME = /^[A-Za-z]\w*$/;

function rows(value: unknown, what: string): [string, Row][] {
  if (value === undefined) return [];
  if (!isRow(value)) throw new ManifestError(`its ${what} are not an object`);
  return Object.entries(value).map(([name, row]) => {
    if (!NAME.test(name)) throw new ManifestError(`'${name}' is not a valid name for one of its ${what}`);
    if (!isRow(row)) throw new ManifestError(`${name} of its ${what} is not an object`);
    return [name, row];
  });
}

/** Longest time in seconds that a call may wait. */
const LONGEST_WAIT = 3600;

const PLACES = new Set([...Object.keys(STATE_GROUPS), ...Object.values(STATE_GROUPS).flat()]);

function functionManifest(
  name: string,
  at: string,
  row: Row,
  code: 'call' | 'create' | null,
): FunctionManifest {
  const { signature, places } = row;
  if (typeof signature !== 'string') throw new ManifestError(`${at} has no signature`);
  try {
    const parsed = parseSignature(signature);
    if (parsed.name !== '' && parsed.name !== name) {
      throw new ManifestError(`${at} has the signature of '${parsed.name}'`);
    }
    if (code === 'create' && parsed.returns !== 'VOID') throw new ManifestError(`${at} returns something`);
  } catch (error) {
    if (error instanceof SignatureError) throw new ManifestError(`${at}: ${error.message}`);
    throw error;
  }
  if (code !== null && typeof row[code] !== 'function')
    throw new ManifestError(`${at} has no function '${code}'`);
  const out: FunctionManifest = { signature };
  if (places !== undefined) {
    const odd = typeof places === 'string' ? places.split(/\s+/).find((p) => !PLACES.has(p)) : String(places);
    if (odd !== undefined) throw new ManifestError(`${at}: there is no state '${odd}'`);
    out.places = places as string;
  }
  if (row.waits !== undefined && row.waits !== false) addWaiting(out, at, row);
  return out;
}

function addWaiting(out: FunctionManifest, at: string, { waits, timeout }: Row): void {
  if (waits !== true) throw new ManifestError(`${at}: 'waits' is neither true nor false`);
  const able = placesToStates(WAITING_PLACES);
  const odd = placesToStates(out.places ?? WAITING_PLACES).find((state) => !able.includes(state));
  if (odd !== undefined) throw new ManifestError(`${at}: nothing can wait in vcl_${odd}`);
  out.waits = true;
  if (timeout === undefined) return;
  if (typeof timeout !== 'number' || !(timeout > 0 && timeout <= LONGEST_WAIT)) {
    throw new ManifestError(`${at}: 'timeout' is not a number of seconds up to ${LONGEST_WAIT}`);
  }
  out.timeout = timeout;
}

function filterManifest(name: string, row: Row, withCode: boolean): FilterManifest {
  const side = FILTER_SIDES.find((s) => s === row.side);
  if (side === undefined)
    throw new ManifestError(`filter ${name}: its 'side' is not one of ${FILTER_SIDES.join(', ')}`);
  const changes = FILTER_CHANGES.find((c) => c === (row.changes ?? 'length'));
  if (changes === undefined) {
    throw new ManifestError(`filter ${name}: its 'changes' is not one of ${FILTER_CHANGES.join(', ')}`);
  }
  if (withCode && typeof row.open !== 'function')
    throw new ManifestError(`filter ${name} has no function 'open'`);
  return { side, changes };
}

function collect(name: string, value: Row, withCode: boolean): Manifest {
  const out: Manifest = { name, functions: {}, objects: {}, filters: {} };
  for (const [f, row] of rows(value.functions, 'functions')) {
    out.functions[f] = functionManifest(f, `function ${f}`, row, withCode ? 'call' : null);
  }
  for (const [o, row] of rows(value.objects, 'objects')) {
    if (out.functions[o] !== undefined) throw new ManifestError(`${o} is a function and an object`);
    if (row.waits === true) throw new ManifestError(`object ${o}: nothing can wait in vcl_init`);
    const made = functionManifest(o, `object ${o}`, row, withCode ? 'create' : null);
    const object: ObjectManifest = { signature: made.signature, methods: {} };
    if (row.mayBeAbsent === true) object.mayBeAbsent = true;
    for (const [m, method] of rows(row.methods, 'methods')) {
      object.methods[m] = functionManifest(m, `method ${o}.${m}`, method, withCode ? 'call' : null);
    }
    out.objects[o] = object;
  }
  for (const [f, row] of rows(value.filters, 'filters')) out.filters[f] = filterManifest(f, row, withCode);
  if (Object.keys({ ...out.functions, ...out.objects, ...out.filters }).length === 0) {
    throw new ManifestError('it has neither functions nor objects nor filters');
  }
  return out;
}

/** Reads the exports of a module imported as `name`. Throws ManifestError. */
export function readManifest(module: unknown, name: string): Manifest {
  const value = exported(module);
  if (!isRow(value)) throw new ManifestError("it exports neither 'extension' nor a default");
  if (value.abi === undefined) throw new ManifestError("it has no 'abi'");
  if (value.abi !== EXTENSION_INTERFACE) {
    throw new ManifestError(
      `it was written for version ${String(value.abi)} of the interface, this is ${EXTENSION_INTERFACE}`,
    );
  }
  if (value.name !== undefined && value.name !== name) {
    throw new ManifestError(`it calls itself '${String(value.name)}'`);
  }
  if (value.event !== undefined && typeof value.event !== 'function') {
    throw new ManifestError("its 'event' is not a function");
  }
  return collect(name, value, true);
}

/** Reads a manifest from the JSON of another process. Throws ManifestError. */
export function checkManifest(json: unknown, name: string): Manifest {
  if (!isRow(json)) throw new ManifestError('its description is damaged');
  return collect(name, json, false);
}

/** The extension for the compiler: its functions cannot be called. */
export function describedExtension(manifest: Manifest): Extension {
  const call = (): never => {
    throw new Error(`extension ${manifest.name} is only described here`);
  };
  const functions: Record<string, ExtensionFunction> = {};
  for (const [name, f] of Object.entries(manifest.functions)) functions[name] = { ...f, help: '', call };
  const objects: Record<string, ExtensionObject> = {};
  for (const [name, o] of Object.entries(manifest.objects)) {
    const methods: Record<string, ExtensionMethod> = {};
    for (const [m, f] of Object.entries(o.methods)) methods[m] = { ...f, help: '', call };
    objects[name] = { ...o, help: '', create: call, methods };
  }
  return { name: manifest.name, help: '', outside: true, functions, objects };
}
