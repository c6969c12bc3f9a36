// The reply of vcl.try.

import type { Comparison } from '../../program-tests/compare-programs.ts';

/** Rows of the table (chosen); the JSON has all. */
const MOST_ROWS = 40;
const LONGEST = 40;

function cut(text: string): string {
  const shown = text.replaceAll(/[^\x20-\x7e]/g, '?');
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST - 3)}...` : shown;
}

/** @param active name of the program that is in use @param name of the one that was tried */
export function comparisonText(
  { requests, changed, seconds, differences, leftOut }: Comparison,
  active: string,
  name: string,
): string {
  if (requests === 0) return 'The log holds no requests to try it on.\n';
  const span = `${requests} requests of the last ${Math.max(1, Math.round(seconds))} s`;
  if (changed === 0) return `${name} decides as ${active} does about ${span}.\n`;
  const head = `${name} decides otherwise than ${active} about ${changed} of ${span}:\n\n`;
  const rows = [
    ['Requests', 'What', active, name, 'Example'],
    ...differences
      .slice(0, MOST_ROWS)
      .map(({ requests: count, what, before, after, example }) => [
        String(count),
        cut(what),
        cut(before),
        cut(after),
        `${cut(`${example.method} ${example.url}`)} (${example.vxid})`,
      ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const table = rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padStart(widths[0] ?? 0) : cell.padEnd(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
  const more = Math.max(0, differences.length - MOST_ROWS) + leftOut;
  return `${head}${table}\n${more === 0 ? '' : `and ${more} more kinds; vcl.try -j has more of them\n`}`;
}
