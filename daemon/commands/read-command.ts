// Parses the words of a command line according to the command's row: options, number of words, their values. No handler
// looks for an option or counts words. Checks are in Varnish's order, so that a line with two errors gets the same one.

import { CLI } from '../../protocol/errors.ts';
import type { CommandReply } from '../../protocol/messages.ts';
import type { CommandRow, WordRow } from '../../protocol/tables/command-row.ts';
import type { Command } from '../../protocol/tables/commands.ts';
import type { CommandCall } from '../link.ts';
import { bad, cannot } from './reply.ts';

/** @param given the words of the line, starting with the command's name */
export function readCommand(row: Command, given: readonly string[]): CommandCall | CommandReply {
  const words = row.conditions === true ? splitConditions(given) : given;
  const json = words[1] === '-j';
  if (json && !row.json) return { status: CLI.UNIMPLEMENTED, body: 'JSON unimplemented\n' };
  const rest = words.slice(json ? 2 : 1);
  if (rest.length < row.min) return { status: CLI.TOO_FEW, body: 'Too few parameters\n' };
  if (row.max >= 0 && rest.length > row.max) return { status: CLI.TOO_MANY, body: 'Too many parameters\n' };
  const values: Record<string, string> = {};
  const first = json ? 'j' : '';
  const options =
    row.valued === undefined
      ? readOptions(row, rest, first)
      : takeOptions(row, row.valued, rest, values, first);
  if (typeof options !== 'string') return options;
  if (rest.length < row.min) return { status: CLI.TOO_FEW, body: 'Too few parameters\n' };
  const surplus = row.max < 0 ? undefined : rest[row.words.length];
  if (surplus !== undefined) return tooMany(row, surplus, options);
  for (const [i, word] of row.words.entries()) {
    const problem = word.checkedLate === true || rest[i] === undefined ? null : wordProblem(word, rest[i]);
    if (problem !== null) return bad(problem);
  }
  const call = { name: row.name, words, args: rest, options, json: options.includes('j') };
  return row.valued === undefined ? call : { ...call, values };
}

/** Removes options with and without values from anywhere among the words; returns the letters of the latter, or the
 * error. */
function takeOptions(
  { options, unknownOption }: Command,
  valued: NonNullable<CommandRow['valued']>,
  rest: string[],
  values: Record<string, string>,
  first: string,
): string | CommandReply {
  const plain: string[] = [];
  let found = first;
  const given = rest.splice(0);
  for (let at = 0; at < given.length; at++) {
    const word = given[at] as string;
    const letter = word.slice(1);
    if (word === '--') {
      plain.push(...given.slice(at + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') plain.push(word);
    else if (found.includes(letter) || Object.hasOwn(values, letter)) return bad(`${word} is given twice`);
    else if (options.includes(letter)) found += letter;
    else if (valued.some((one) => one.letter === letter)) {
      const value = given[++at];
      if (value === undefined) return cannot(`No value specified for: ${word}`);
      values[letter] = value;
    } else
      return unknownOption === undefined ? bad(`Unknown option: ${word}`) : filled(unknownOption, letter);
  }
  rest.push(...plain);
  return found;
}

/** Removes the options from the words; returns their letters, or the error. */
function readOptions(row: Command, rest: string[], first: string): string | CommandReply {
  const known = row.options.join('');
  const { unknownOption } = row;
  let found = first;
  while (rest[0]?.startsWith('-') === true) {
    const letters = rest[0].slice(1);
    if (unknownOption === undefined) {
      if (letters.length !== 1 || !known.includes(letters) || letters === 'j' || found.includes(letters))
        break;
    } else {
      const unknown = [...letters].find((letter) => !known.includes(letter));
      if (unknown !== undefined) return filled(unknownOption, unknown);
    }
    rest.shift();
    const excluded = [...letters].find((letter) => excludes(row, found, letter));
    if (excluded !== undefined) return bad(`-${excluded} not permitted with ${row.name} -j`);
    found += letters;
  }
  return found;
}

function excludes({ options }: Command, found: string, letter: string): boolean {
  return (
    found.includes('j') &&
    options.some((group) => group.includes('j') && group.includes(letter) && letter !== 'j')
  );
}

function tooMany({ surplus }: Command, word: string, options: string): CommandReply {
  if (surplus === undefined) return { status: CLI.TOO_MANY, body: 'Too many parameters\n' };
  const { withOption = surplus.status } = surplus;
  return filled(options === '' || options === 'j' ? surplus : { ...surplus, status: withOption }, word);
}

function filled({ status, text }: { status: number; text: string }, word: string): CommandReply {
  return { status, body: text.replace('%s', () => word) };
}

/** The error for a word; null if it is valid. */
export function wordProblem(
  { oneOf, anyCase, least, most, wrong = '' }: WordRow,
  text: string,
): string | null {
  const wanted = anyCase === true ? text.toLowerCase() : text;
  const number = Number(text);
  const right =
    (oneOf === undefined || oneOf.includes(wanted)) &&
    (least === undefined || (Number.isSafeInteger(number) && number >= least)) &&
    (most === undefined || number <= most);
  return right ? null : wrong.replace('%s', () => text);
}

/** Words that may precede the conditions. */
const AHEAD = new Set(['-j', '--local']);

/** Conditions may be one quoted word, as in scripts: it is then split at white space. */
function splitConditions(words: readonly string[]): readonly string[] {
  const complete = (list: readonly string[]): boolean =>
    (list.length - (AHEAD.has(list[1] ?? '') ? 2 : 1)) % 4 === 3;
  const split = words.flatMap((word) => word.split(/\s+/));
  return !complete(words) && complete(split) ? split : words;
}
