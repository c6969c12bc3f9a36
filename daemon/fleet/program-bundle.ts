// A program with every file that it includes, as the bus keeps it: JSON with a version, a hash of each file (as sha256sum
// gives it) and one of the whole. What comes from the bus is input like any other: readBundle() takes nothing on trust.

import { createHash } from 'node:crypto';
import { byteString } from '../vcl/source-text.ts';
import { isProgramName, LONGEST_BUNDLE } from './fleet-names.ts';

const VERSION = 1;
const MOST_FILES = 256;
const LONGEST_PATH = 1024;
const LONGEST_BY = 100;

export interface BundledFile {
  /** Full name, on the machine that it was loaded from. */
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
  /** Whether it is one of those that come with proxyd, and what it is included by. */
  readonly shipped: string | null;
}

export interface Bundle {
  readonly name: string;
  /** Of the name, the path and the files. */
  readonly id: string;
  /** vcl_path, by which relative names were found. */
  readonly path: readonly string[];
  /** The main one first. */
  readonly files: readonly BundledFile[];
  /** The node that stored it, and when, in epoch seconds. */
  readonly by: string;
  readonly at: number;
}

/** @param files the main one first; one that is included twice may be there twice */
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

/** The program, or why it is none. @param name as its key has it */
export function readBundle(name: string, data: Uint8Array): Bundle | string {
  if (data.length > LONGEST_BUNDLE) return `longer than ${LONGEST_BUNDLE} bytes`;
  const value = objectIn(data);
  if (value === null) return 'not a program of version 1';
  const { id, path, files, by, at } = value;
  if (value.name !== name || !isProgramName(name)) return 'its name is another';
  if (typeof by !== 'string' || typeof at !== 'number' || !Number.isFinite(at))
    return 'not said who stored it, and when';
  if (!Array.isArray(path) || path.length > MOST_FILES || !path.every(isPath))
    return 'path is no list of directories';
  if (!Array.isArray(files) || files.length === 0 || files.length > MOST_FILES)
    return `it has no list of 1 to ${MOST_FILES} files`;
  const read: BundledFile[] = [];
  for (const each of files as unknown[]) {
    const file = readFile(each);
    if (file === null) return 'a file of it is none';
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

/** @param bytes a character each */
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
