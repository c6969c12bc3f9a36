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
    /** Its words are conditions joined by &&. */
    conditions?: boolean;
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
  /** Paths of files here that begin with a text, those of folders with a final slash. */
  files?(prefix: string): readonly string[];
  /** Whether the daemon reads files of this machine. */
  local?: boolean;
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
  const words = wordsOf(head);
  const last = words.at(-1) ?? '';
  const from = cursor - last.length;
  const command = words.length > 1 ? tables.commands.find((c) => c.name === words[0]) : undefined;
  const usage = command === undefined ? '' : command.syntax;
  const candidates = pool(words, tables)
    .filter((c) => c.text.startsWith(last) && (c.text !== last || words.length === 1))
    .slice(0, LIMIT);
  return { from, candidates, usage };
}

/** The words typed so far, one with quotes as one word; the last is the one being typed, '' after a blank. */
function wordsOf(head: string): string[] {
  const words = head.match(/(?:"(?:[^"\\]|\\.)*(?:"|$)|[^\s"])+/g) ?? [];
  const last = words.at(-1) ?? '';
  const begun = /^\s/.test(head) ? ['', ...words] : words;
  // Blanks within an open quote belong to its word.
  return last !== '' && head.endsWith(last) ? begun : [...begun, ''];
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
  if (row?.conditions === true && nth > CONDITION_WORDS && nth % (CONDITION_WORDS + 1) === 0)
    return [{ text: '&&', help: 'and another condition' }];
  const place = row?.conditions === true ? (nth - 1) % (CONDITION_WORDS + 1) : nth - 1;
  const last = row?.words?.at(-1);
  const word = row?.words?.[place] ?? (last?.repeated === true ? last : undefined);
  const offered =
    word === undefined ? [] : [...namesOf(word.of, tables), ...(word.also ?? []), ...named(word.oneOf ?? [])];
  if (offered.length > 0) return offered;
  switch (command) {
    case 'ctx':
    case 'merge':
      return named(tables.instances ?? []);
    case 'export':
    case 'record':
      return nth === 1 ? named(tables.files?.(words[1] ?? '') ?? []) : [];
    case 'vcl.load':
    case 'vcl.try':
      return nth === 2 && tables.local === true ? named(tables.files?.(words[2] ?? '') ?? []) : [];
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

/** Words of one condition: field, operator, value. */
const CONDITION_WORDS = 3;
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
  'obj.uncacheable',
  'obj.hfm',
  'obj.hfp',
];
