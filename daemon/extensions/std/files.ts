// std functions on files and the environment. A file is read once and cached for as long as any program that has read
// it lives, as in Varnish: a change shows after the last of them is gone. Unreadable files, and those that are not
// regular files, are unset.
//
// The first content that any thread reads is used by all. A thread caches the texts that its programs have read.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { SharedStateFull } from '../../contract/bounded-table.ts';
import type { VclContext } from '../../contract/context.ts';
import { VclFailure } from '../../contract/failure.ts';
import { programPriv } from '../../contract/priv.ts';
import type { SharedTable } from '../../contract/shared-state.ts';
import { byName, row } from '../extension-rows.ts';

/** Most files, and their total size in bytes (chosen): names may come from requests. */
const FILES = 2 ** 20;
const LIMIT = 2 ** 30;

/** A file as seen by a program: all its bytes as a text, and values derived from it. */
interface Content {
  readonly whole: string;
  /** The text up to the first NUL. */
  readonly text: string;
  bytes: Buffer | null;
}

type Contents = Map<string, Content>;

const HELD = Object.freeze({});

/** The bytes of each file as a text, and the number of programs that hold it, per thread. */
function heldByAll(ctx: VclContext): SharedTable {
  return ctx.host.shared.table('std.files', { numbers: 1, entries: FILES, bytes: LIMIT });
}

/** The files that this program has read, by path. */
function heldBy(ctx: VclContext): Contents {
  const priv = programPriv(ctx, HELD);
  if (priv.value === undefined) {
    const all = heldByAll(ctx);
    priv.value = new Map();
    priv.end = (held) => {
      for (const path of (held as Contents).keys()) release(all, path);
    };
  }
  return priv.value as Contents;
}

function release(all: SharedTable, path: string): void {
  all.update(path, ({ numbers }) => {
    numbers[0] = (numbers[0] as number) - 1;
  });
  // Another thread may have acquired it since.
  all.remove(path, ({ numbers }) => numbers[0] === 0);
}

function read(path: string): string | null {
  try {
    return statSync(path).isFile() ? readFileSync(path, 'latin1') : null;
  } catch {
    return null;
  }
}

/** Acquires the content that all threads use; null if the file cannot be read. */
function hold(all: SharedTable, path: string): string | null {
  const first = all.read(path)?.text ?? read(path);
  if (first === null) return null;
  try {
    return all.update(path, (row) => {
      row.text ??= first;
      row.numbers[0] = (row.numbers[0] as number) + 1;
      return row.text;
    });
  } catch (error) {
    if (!(error instanceof SharedStateFull)) throw error;
    throw new VclFailure('std.fileread(): out of space for files');
  }
}

function content(ctx: VclContext, path: string | null): Content | null {
  if (path === null || path === '') return null;
  const held = heldBy(ctx);
  const known = held.get(path);
  if (known !== undefined) return known;
  const whole = hold(heldByAll(ctx), path);
  if (whole === null) return null;
  const end = whole.indexOf('\0');
  const found = { whole, text: end < 0 ? whole : whole.slice(0, end), bytes: null };
  held.set(path, found);
  return found;
}

function bytesOf(file: Content): Buffer {
  file.bytes ??= Buffer.from(file.whole, 'latin1');
  return file.bytes;
}

function blobread(ctx: VclContext, path: string | null): Uint8Array | null {
  const file = content(ctx, path);
  return file === null ? null : bytesOf(file);
}

function getenv(_ctx: VclContext, name: string | null, fallback: string | null): string | null {
  return name !== null && Object.hasOwn(process.env, name) ? (process.env[name] ?? fallback) : fallback;
}

// biome-ignore format: a row is a line
export const fileFunctions = byName(
  row('STRING fileread(STRING)', (ctx, path: string | null) => content(ctx, path)?.text ?? null,
    'The content of a file as a text up to its first zero byte; unset when it cannot be read. A change shows once no program lives that has read it. All threads have the same content.'),
  row('BLOB blobread(STRING)', blobread, 'As fileread(), as bytes.'),
  row('BOOL file_exists(STRING path)', (_c, path: string | null) => path !== null && existsSync(path), 'Whether there is such a file.'),
  row('STRING getenv(STRING name, STRING fallback=NULL)', getenv, 'A variable of the environment; the fallback when there is none.'),
);
