// A ranking as text: once, in the format of proxytop -1, or as lines of a screen.

import type { Entry } from './ranking.ts';

/** All entries; latin1. */
export function rankingText(entries: readonly Entry[]): string {
  return entries.map((e) => `${e.count.toFixed(2).padStart(9)} ${e.tag} ${e.text}\n`).join('');
}

/** Lines of a screen: a title and as many entries as fit. Control characters are shown as dots. */
export function rankingScreen(
  entries: readonly Entry[],
  title: string,
  rows: number,
  columns: number,
): string[] {
  const head = `list length ${entries.length}`;
  const lines = [`${head}${title.padStart(Math.max(columns - head.length, title.length + 1))}`, ''];
  const shown = entries.slice(0, Math.max(rows - lines.length, 0));
  const width = Math.max(0, ...shown.map((e) => e.tag.length));
  for (const e of shown) lines.push(`${e.count.toFixed(2).padStart(9)} ${e.tag.padEnd(width)} ${e.text}`);
  return lines.map((line) => printable(line).slice(0, columns));
}

function printable(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, '.');
}
