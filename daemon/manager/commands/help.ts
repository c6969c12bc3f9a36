// help: the table of commands as text and JSON.

import { CLI } from '../../../protocol/errors.ts';
import { COMMANDS, type CommandRow, commandRow } from '../../../protocol/tables/commands.ts';
import { type Command, jsonReply, ok } from '../core.ts';

const ROWS: readonly CommandRow[] = COMMANDS;

export const help: Command = (_core, call) => {
  if (call.json) return jsonReply(call, ROWS.map(jsonRow).join(','));
  const [what] = call.args;
  if (what === undefined || what === '-a' || what === '-d') {
    const rows = ROWS.filter((r) => what === '-a' || (r.hidden === true) === (what === '-d'));
    return ok(rows.map((r) => `${r.syntax}\n`).join(''));
  }
  if (what.startsWith('-')) return { status: CLI.UNKNOWN, body: 'Unknown flag\n' };
  const row = commandRow(what);
  if (row === undefined)
    return { status: CLI.UNKNOWN, body: "Unknown request.\nType 'help' for more info.\n" };
  return ok(`${row.syntax}\n${row.help}\n`);
};

function jsonRow(r: CommandRow): string {
  const fields = [
    `"request": ${JSON.stringify(r.name)}`,
    `"syntax": ${JSON.stringify(r.syntax)}`,
    `"help": ${JSON.stringify(r.help)}`,
    `"minarg": ${r.min}`,
    `"maxarg": ${r.max}`,
    `"flags": "${r.hidden === true ? 'd' : r.open === true ? 'i' : ''}"`,
    `"json": ${r.json}`,
  ];
  return `\n  {\n    ${fields.join(',\n    ')}\n  }`;
}
