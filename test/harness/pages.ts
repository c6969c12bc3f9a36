// The pages of the repository as data: which there are, their headings and links, and their fenced and indented blocks.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './proxy.ts';

export interface Block {
  readonly page: string;
  /** Of its first line, from 1. */
  readonly line: number;
  /** Word after the fence; 'indented' for four blanks. */
  readonly kind: string;
  readonly lines: readonly string[];
}

const NO_PAGES = new Set(['.git', 'node_modules', 'dist', 'coverage', 'screenshots']);
/** Cases of parsers are in Markdown, too. */
const CASES = /^test\/.*\/cases\//;

/** Paths below the root, in order. */
export function pages(): string[] {
  const found: string[] = [];
  const look = (folder: string): void => {
    for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && !NO_PAGES.has(entry.name)) look(path);
      else if (entry.isFile() && path.endsWith('.md') && !CASES.test(path)) found.push(path);
    }
  };
  look('');
  return found.sort();
}

export const pageText = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** A page without the lines between its fences. */
export const prose = (page: string): string => pageText(page).replace(/^```[\s\S]*?^```/gm, '');

/** Anchors of the headings, as links name them; the second of the same name ends with -1. */
export function anchors(page: string): string[] {
  const seen = new Map<string, number>();
  return [...prose(page).matchAll(/^#+ +(.*)$/gm)].map(([, heading = '']) => {
    const plain = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(plain) ?? 0;
    seen.set(plain, count + 1);
    return count === 0 ? plain : `${plain}-${count}`;
  });
}

/** Targets of the links and pictures of a page that lead to files of the repository. */
export function links(page: string): string[] {
  const targets = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map((m) => m[1] as string);
  return targets.filter((target) => !/^[a-z]+:/i.test(target));
}

/** Blocks of a page in their order. */
export function blocks(page: string): Block[] {
  const found: Block[] = [];
  let open: { line: number; kind: string; lines: string[] } | null = null;
  const close = (): void => {
    if (open !== null && open.lines.length > 0) found.push({ page, ...open });
    open = null;
  };
  let previous = '';
  for (const [i, line] of pageText(page).split('\n').entries()) {
    const fence = /^```(.*)$/.exec(line);
    if (fence !== null) {
      const begins = open === null || open.kind === 'indented';
      close();
      if (begins) open = { line: i + 2, kind: (fence[1] ?? '').trim() || 'plain', lines: [] };
    } else if (open !== null && open.kind !== 'indented') {
      open.lines.push(line);
    } else if (/^ {4}\S/.test(line) && (open !== null || previous === '')) {
      open ??= { line: i + 1, kind: 'indented', lines: [] };
      open.lines.push(line.slice(4));
    } else if (open?.kind === 'indented' && line.startsWith('    ')) {
      open.lines.push(line.slice(4));
    } else close();
    previous = line;
  }
  close();
  return found;
}
