// Completion of the command line from tables and from names of the daemon, pure. An unknown word stays as typed, and
// the daemon reports what is wrong with it.

import type { WordRow } from '../../../protocol/tables/command-row.ts';

/** Input of completion: the admin commands, the parameters, and present names. */
export interface CompletionTables {
  commands: readonly {
    name: string;
    syntax: string;
    help: string;
    words?: readonly WordRow[];
    destructive?: boolean;
    hidden?: boolean;
  }[];
  params: readonly { name: string; help: string }[];
  /** Names of the daemon: programs, backends. */
  programs: readonly string[];
  backends: readonly string[];
  /** The console's own names: instances and saved queries. */
  instances?: readonly string[];
  queries?: readonly string[];
}

export interface Candidate {
  text: string;
  /** Shown instead of it. */
  label?: string;
  help: string;
}

export interface Completion {
  /** Column at which the completed word begins. */
  from: number;
  candidates: Candidate[];
  /** Syntax of the command being typed, once it is known. */
  usage: string;
}

const LIMIT = 200;

export function complete(line: string, cursor: number, tables: CompletionTables): Completion {
  const head = line.slice(0, cursor);
  const words = head.split(/\s+/);
  const last = words.at(-1) ?? '';
  const from = cursor - last.length;
  const command = words.length > 1 ? tables.commands.find((c) => c.name === words[0]) : undefined;
  const usage = command === undefined ? '' : command.syntax;
  const candidates = pool(words, tables)
    .filter((c) => c.text.startsWith(last) && (c.text !== last || words.length === 1))
    .slice(0, LIMIT);
  return { from, candidates, usage };
}

/** The longest common prefix. */
export function commonPrefix(candidates: readonly Candidate[]): string {
  const first = candidates[0]?.text ?? '';
  let n = first.length;
  for (const { text } of candidates) {
    let i = 0;
    while (i < n && text[i] === first[i]) i++;
    n = i;
  }
  return first.slice(0, n);
}

function pool(words: readonly string[], tables: CompletionTables): Candidate[] {
  if (words.length <= 1)
    return tables.commands.filter((c) => c.hidden !== true).map((c) => ({ text: c.name, help: c.help }));
  const [command = ''] = words;
  const nth = words.length - 1;
  const row = tables.commands.find((c) => c.name === command);
  const last = row?.words?.at(-1);
  const word = row?.words?.[nth - 1] ?? (last?.repeated === true ? last : undefined);
  if (word !== undefined)
    return [...namesOf(word.of, tables), ...(word.also ?? []), ...named(word.oneOf ?? [])];
  switch (command) {
    case 'ctx':
    case 'merge':
      return named(tables.instances ?? []);
    case 'query.use':
    case 'query.drop':
    case 'query.save':
      return nth === 1 ? named(tables.queries ?? []) : [];
    default:
      return [];
  }
}

function named(names: readonly string[]): Candidate[] {
  return names.map((text) => ({ text, help: '' }));
}

/** Candidates for a kind of word of a command. */
function namesOf(of: WordRow['of'], tables: CompletionTables): Candidate[] {
  switch (of) {
    case 'parameter':
      return tables.params.map((p) => ({ text: p.name, help: p.help }));
    case 'program':
      return named(tables.programs);
    case 'backend':
      return named(tables.backends);
    case 'command':
      return tables.commands.map((c) => ({ text: c.name, help: c.help }));
    case 'field':
      return named(BAN_FIELDS);
    case 'operator':
      return named(BAN_OPERATORS);
    case undefined:
      return [];
  }
}

const BAN_OPERATORS = ['==', '!=', '~', '!~', '>', '<'];
const BAN_FIELDS = [
  'req.url',
  'req.http.',
  'obj.http.',
  'obj.status',
  'obj.ttl',
  'obj.age',
  'obj.grace',
  'obj.keep',
  'obj.last_hit',
];
