// A program with every file that it includes, as stored on the bus: JSON with a version, the SHA-256 of each file and of the
// whole. Data from the bus is untrusted input: readBundle() validates everything.
//
// A compiler given a bundle finds the same files on every node, by the same names and in the same order of directories, and
// never one of the node's own disk.

import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import type { ReaderOptions } from '../vcl/include-path.ts';
import { ownPrograms } from '../vcl/own-programs.ts';
import { byteString } from '../vcl/source-text.ts';
import { isProgramName, LONGEST_BUNDLE } from './fleet-names.ts';

const VERSION = 1;
const MOST_FILES = 256;
const LONGEST_PATH = 1024;
const LONGEST_BY = 100;

export interface BundledFile {
  /** Full name on the machine where it was loaded. */
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
  /** The include name, for files shipped with proxyd; else null. */
  readonly shipped: string | null;
}

export interface Bundle {
  readonly name: string;
  /** A hash of the name, the path and the files. */
  readonly id: string;
  /** vcl_path, in which relative names were found. */
  readonly path: readonly string[];
  /** The main file first. */
  readonly files: readonly BundledFile[];
  /** The node that stored it, and when, in epoch seconds. */
  readonly by: string;
  readonly at: number;
}

/** @param files the main one first; a file included twice may occur twice */
export function makeBundle(
  name: string,
  path: readonly string[],
  files: readonly Omit<BundledFile, 'sha256'>[],
  by: string,
  at: number,
): Bundle {
  const byName = new Map(
    files.map((file) => [file.name, { ...file, sha256: hashOf(byteString(file.text)) }]),
  );
  const hashed = [...byName.values()];
  return { name, id: idOf(name, path, hashed), path, files: hashed, by, at };
}

export function writeBundle(bundle: Bundle): Uint8Array {
  return Buffer.from(JSON.stringify({ v: VERSION, ...bundle }));
}

/** The program, or why it is invalid. @param name the name in its key */
export function readBundle(name: string, data: Uint8Array): Bundle | string {
  if (data.length > LONGEST_BUNDLE) return `longer than ${LONGEST_BUNDLE} bytes`;
  const value = objectIn(data);
  if (value === null) return 'not a program of version 1';
  const { id, path, files, by, at } = value;
  if (value.name !== name || !isProgramName(name)) return 'its name does not match its key';
  if (typeof by !== 'string' || typeof at !== 'number' || !Number.isFinite(at)) return 'by or at is missing';
  if (!Array.isArray(path) || path.length > MOST_FILES || !path.every(isPath))
    return 'path is not a list of directories';
  if (!Array.isArray(files) || files.length === 0 || files.length > MOST_FILES)
    return `files is not a list of 1 to ${MOST_FILES} files`;
  const read: BundledFile[] = [];
  for (const each of files as unknown[]) {
    const file = readFile(each);
    if (file === null) return 'a file is malformed';
    if (hashOf(byteString(file.text)) !== file.sha256)
      return `${file.name} does not have the hash that is stored with it`;
    read.push(file);
  }
  if (idOf(name, path, read) !== id) return 'the files do not have the hash that is stored with them';
  return { name, id, path, files: read, by: by.replace(/[^\x20-\x7e]/g, '?').slice(0, LONGEST_BY), at };
}

function readFile(value: unknown): BundledFile | null {
  if (typeof value !== 'object' || value === null) return null;
  const { name, text, sha256, shipped } = value as Record<string, unknown>;
  if (!isPath(name) || typeof text !== 'string' || typeof sha256 !== 'string') return null;
  return shipped === null || isPath(shipped) ? { name, text, sha256, shipped } : null;
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST_PATH && !/[\0\n\r]/.test(value);
}

function idOf(name: string, path: readonly string[], files: readonly BundledFile[]): string {
  return hashOf(byteString(JSON.stringify([name, path, files.map((f) => [f.name, f.sha256, f.shipped])])));
}

/** @param bytes one character per byte */
function hashOf(bytes: string): string {
  return createHash('sha256').update(bytes, 'latin1').digest('hex');
}

/** An object of this version; null for anything else. */
export function objectIn(data: Uint8Array): Record<string, unknown> | null {
  try {
    const value = JSON.parse(Buffer.from(data).toString('utf8')) as Record<string, unknown> | null;
    return value?.v === VERSION ? value : null;
  } catch {
    return null;
  }
}

/** A program as input of the compiler. */
export interface BundledSource {
  readonly name: string;
  readonly text: string;
  readonly reader: ReaderOptions;
}

/** The sources of a compiled program, as files of a bundle. */
export function filesOf(compiled: readonly { name: string; text: string }[]): Omit<BundledFile, 'sha256'>[] {
  const shipped = new Map([...ownPrograms().recipes].map(([include, { name }]) => [name, include]));
  // The builtin program is not bundled: it depends on the version and http_profile of each node.
  return compiled
    .filter(({ name }) => name !== '<builtin>')
    .map(({ name, text }) => {
      const include = shipped.get(name) ?? null;
      return { name: include === null ? name : `proxyd:${include}`, text, shipped: include };
    });
}

export function sourceOf({ path, files }: Bundle): BundledSource {
  const byName = new Map(files.map((file) => [file.name, file]));
  const [main] = files as [BundledFile];
  return {
    name: main.name,
    text: main.text,
    reader: {
      vclPath: path,
      readFile: (name) => {
        const file = byName.get(name);
        if (file === undefined) throw Object.assign(new Error('not in the bundle'), { code: 'ENOENT' });
        return file.text;
      },
      readDir: (directory) => entriesOf(byName.keys(), directory),
      shipped: (include) => files.find((file) => file.shipped === include),
    },
  };
}

/** Names of the bundle's entries in a directory. */
function entriesOf(names: Iterable<string>, directory: string): string[] {
  const found = new Set<string>();
  for (let name of names) {
    for (let parent = dirname(name); parent !== name; name = parent, parent = dirname(name)) {
      if (parent === directory) found.add(name.slice(name.lastIndexOf('/') + 1));
    }
  }
  return [...found];
}
