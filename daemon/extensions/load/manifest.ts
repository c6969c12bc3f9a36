// What an extension from outside says of itself: names and signatures without code. Read from the exported object
// in the process that opened the module, sent as JSON, and checked again by the compiler, which trusts neither.

import { STATE_GROUPS } from '../../../protocol/tables/variables.ts';
import type {
  Extension,
  ExtensionFunction,
  ExtensionMethod,
  ExtensionObject,
} from '../../contract/extension.ts';
import { parseSignature, SignatureError } from '../../vcl/check/signature.ts';
import { ABI } from './interface.ts';

export interface FunctionManifest {
  signature: string;
  places?: string;
}

export interface ObjectManifest {
  signature: string;
  mayBeAbsent?: boolean;
  methods: Record<string, FunctionManifest>;
}

export interface Manifest {
  name: string;
  functions: Record<string, FunctionManifest>;
  objects: Record<string, ObjectManifest>;
}

/** Why an extension cannot be used; the message is for the operator. */
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

/** The exported object among a module's exports: `extension`, the default, or the exports themselves. */
export function exported(module: unknown): unknown {
  if (!isRow(module)) return undefined;
  for (const value of [module.extension, isRow(module.default) ? module.default.extension : undefined]) {
    if (value !== undefined) return value;
  }
  if (module.default !== undefined) return module.default;
  return 'abi' in module || 'functions' in module || 'objects' in module ? module : undefined;
}

const NAME = /^[A-Za-z]\w*$/;

function rows(value: unknown, what: string): [string, Row][] {
  if (value === undefined) return [];
  if (!isRow(value)) throw new ManifestError(`its ${what} are no object`);
  return Object.entries(value).map(([name, row]) => {
    if (!NAME.test(name)) throw new ManifestError(`'${name}' is no name for one of its ${what}`);
    if (!isRow(row)) throw new ManifestError(`${name} of its ${what} is no object`);
    return [name, row];
  });
}

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
  return out;
}

function collect(name: string, value: Row, withCode: boolean): Manifest {
  const out: Manifest = { name, functions: {}, objects: {} };
  for (const [f, row] of rows(value.functions, 'functions')) {
    out.functions[f] = functionManifest(f, `function ${f}`, row, withCode ? 'call' : null);
  }
  for (const [o, row] of rows(value.objects, 'objects')) {
    if (out.functions[o] !== undefined) throw new ManifestError(`${o} is a function and an object`);
    const made = functionManifest(o, `object ${o}`, row, withCode ? 'create' : null);
    const object: ObjectManifest = { signature: made.signature, methods: {} };
    if (row.mayBeAbsent === true) object.mayBeAbsent = true;
    for (const [m, method] of rows(row.methods, 'methods')) {
      object.methods[m] = functionManifest(m, `method ${o}.${m}`, method, withCode ? 'call' : null);
    }
    out.objects[o] = object;
  }
  if (Object.keys(out.functions).length + Object.keys(out.objects).length === 0) {
    throw new ManifestError('it has neither functions nor objects');
  }
  return out;
}

/** Reads the exports of a module that is imported as `name`. Throws ManifestError. */
export function readManifest(module: unknown, name: string): Manifest {
  const value = exported(module);
  if (!isRow(value)) throw new ManifestError("it exports neither 'extension' nor a default");
  if (value.abi === undefined) throw new ManifestError("it has no 'abi'");
  if (value.abi !== ABI) {
    throw new ManifestError(
      `it was written for version ${String(value.abi)} of the interface, this is ${ABI}`,
    );
  }
  if (value.name !== undefined && value.name !== name) {
    throw new ManifestError(`it calls itself '${String(value.name)}'`);
  }
  if (value.event !== undefined && typeof value.event !== 'function') {
    throw new ManifestError("its 'event' is no function");
  }
  return collect(name, value, true);
}

/** The same from JSON, which another process wrote. Throws ManifestError. */
export function checkManifest(json: unknown, name: string): Manifest {
  if (!isRow(json)) throw new ManifestError('its description is damaged');
  return collect(name, json, false);
}

/** The extension as the compiler sees it: nothing of it can be called. */
export function describedExtension(manifest: Manifest): Extension {
  const call = (): never => {
    throw new Error(`extension ${manifest.name} is only described here`);
  };
  const functions: Record<string, ExtensionFunction> = {};
  for (const [name, f] of Object.entries(manifest.functions)) functions[name] = { ...f, call };
  const objects: Record<string, ExtensionObject> = {};
  for (const [name, o] of Object.entries(manifest.objects)) {
    const methods: Record<string, ExtensionMethod> = {};
    for (const [m, f] of Object.entries(o.methods)) methods[m] = { ...f, call };
    objects[name] = { ...o, create: call, methods };
  }
  return { name: manifest.name, outside: true, functions, objects };
}
