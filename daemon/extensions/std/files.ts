// std functions that look at files and the environment. A file is read once and then kept for as long as any
// program lives that has asked for it, as in Varnish: a change shows after the last of them is gone. What cannot
// be read, and what is no regular file, is unset.

import { existsSync, readFileSync, statSync } from 'node:fs';
import type { VclContext, VclHost } from '../../contract/context.ts';
import type { ExtensionFunction } from '../../contract/extension.ts';
import { programPriv } from '../../contract/priv.ts';

/** A file's bytes, the string they are (it ends at a zero byte), and how many programs hold it. */
interface Content {
  bytes: Buffer;
  text: string;
  holders: number;
}

type Files = Map<string, Content>;

const HELD = Object.freeze({});
const filesByHost = new WeakMap<VclHost, Files>();

function filesOf(host: VclHost): Files {
  let files = filesByHost.get(host);
  if (files === undefined) {
    files = new Map();
    filesByHost.set(host, files);
  }
  return files;
}

/** What this program has read, by path. */
function heldBy(ctx: VclContext): Files {
  const priv = programPriv(ctx, HELD);
  if (priv.value === undefined) {
    const all = filesOf(ctx.host);
    priv.value = new Map();
    priv.end = (held) => {
      for (const [path, content] of held as Files) {
        content.holders--;
        if (content.holders === 0 && all.get(path) === content) all.delete(path);
      }
    };
  }
  return priv.value as Files;
}

function read(path: string): Content | null {
  try {
    if (!statSync(path).isFile()) return null;
    const bytes = readFileSync(path);
    const end = bytes.indexOf(0);
    return { bytes, text: bytes.toString('latin1', 0, end < 0 ? bytes.length : end), holders: 0 };
  } catch {
    return null;
  }
}

function content(ctx: VclContext, path: string | null): Content | null {
  if (path === null || path === '') return null;
  const held = heldBy(ctx);
  let file = held.get(path);
  if (file !== undefined) return file;
  const all = filesOf(ctx.host);
  file = all.get(path) ?? read(path) ?? undefined;
  if (file === undefined) return null;
  file.holders++;
  all.set(path, file);
  held.set(path, file);
  return file;
}

export const fileFunctions: Record<string, ExtensionFunction> = {
  fileread: {
    signature: 'STRING fileread(STRING)',
    help: 'The content of a file as a text up to its first zero byte; unset when it cannot be read. A change shows once no program lives that has read it.',
    call: (ctx, path: string | null) => content(ctx, path)?.text ?? null,
  },
  blobread: {
    signature: 'BLOB blobread(STRING)',
    help: 'As fileread(), as bytes.',
    call: (ctx, path: string | null) => content(ctx, path)?.bytes ?? null,
  },
  file_exists: {
    signature: 'BOOL file_exists(STRING path)',
    help: 'Whether there is such a file.',
    call: (_c, path: string | null) => path !== null && existsSync(path),
  },
  getenv: {
    signature: 'STRING getenv(STRING name)',
    help: 'A variable of the environment; unset when there is none.',
    call: (_c, name: string | null) =>
      name !== null && Object.hasOwn(process.env, name) ? (process.env[name] ?? null) : null,
  },
};
