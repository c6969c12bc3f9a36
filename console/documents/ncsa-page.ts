// proxy-ncsa(7): access log formats, generated from the tables of the format parser and from tested examples.

import { CONVERSIONS } from '../../protocol/strftime.ts';
import {
  BRACKETED,
  DEFAULT_FORMAT,
  DURATION_UNITS,
  ESCAPES,
  FAMILIES,
  SIMPLE,
  TIME_WORDS,
  VARIABLES,
} from '../ncsa/specifiers.ts';
import { markdown } from './markdown.ts';
import { heading, item, joined, paragraphs, verbatim } from './roff.ts';

const INTRO = `
proxyncsa(1) writes a line for each request by a format: of \`-F\`, of the first line of the file of \`-f\`, or, without
either, the combined format of web servers:

    ${DEFAULT_FORMAT}

A percent sign begins what is replaced; all else stands as it is. What is missing is \`-\`, or what the list says. With \`-b\`
lines are about requests to backends, and "Backend:" says what a letter means there; with \`-b -c\` about both, and
\`%{Proxy:side}x\` says which. A request that was restarted has one line, of its last round; one that begins with bytes
that are no request has none.
`;

const QUOTING = `
Values from outside come so that a line stays a line: a double quote, a backslash and the bytes of control and beyond
ASCII as \`\\"\`, \`\\\\\`, \`\\n\`, \`\\r\`, \`\\t\` or \`\\xhh\`.

With \`-j\` they come as the inside of a string of JSON, and what is missing is empty, or 0 for \`%b\`, \`%I\`, \`%O\`, \`%s\` and
\`%{Proxy:time_firstbyte}x\`, which stand without quotes. UTF-8 stays as it is; where a value is no UTF-8, its bytes beyond
ASCII are written as \`\\u00xx\`: every line is JSON if the format is.
`;

const TIME_INTRO = `
Letters after a percent sign, in local time and in English. Between both may stand \`-\` (no padding), \`_\` (blanks), \`0\`
(zeros) or \`^\` (capitals), and a width. Letters that nobody knows stay as they are.
`;

/** Command lines after `proxyncsa` by format, with their output. */
export const FORMAT_EXAMPLES: readonly { format: string; json: boolean; flags: string; text: string }[] = [
  {
    format: '%h %t "%r" %s %{Proxy:handling}x %{ms}T',
    json: false,
    flags: '',
    text: 'The way of each request, and its milliseconds.',
  },
  {
    format: '{"at":"%{%FT%T%z}t","status":%s,"bytes":%b,"agent":"%{User-Agent}i"}',
    json: true,
    flags: '-j ',
    text: 'A line of JSON.',
  },
  {
    format: '%{sec}t.%{msec_frac}t %{VCL_Log:shard}x %{X-Cache-Key}o',
    json: false,
    flags: '',
    text: 'A time with milliseconds, a note of the program and a header of the response.',
  },
  {
    format: '%h %s %{VSL:Timestamp:Beresp[2]}x %U',
    json: false,
    flags: '-b ',
    text: 'Requests to backends, with the seconds until their response began.',
  },
];

export function ncsaPage(): string {
  const simple = SIMPLE.map((row) =>
    item(`%${row.letter}`, '', row.backend === undefined ? row.help : `${row.help} Backend: ${row.backend}`),
  );
  return joined([
    heading('description'),
    markdown(INTRO),
    heading('letters'),
    ...simple,
    heading('letters with a name'),
    ...BRACKETED.map((row) => item(`%{${row.argument}}${row.letter}`, '', row.help)),
    heading('families'),
    ...FAMILIES.flatMap((row) => row.names.map((name) => item(`%{${name}:${row.argument}}x`, '', row.help))),
    heading('variables'),
    ...VARIABLES.map((row) => item(`%{Proxy:${row.name}}x`, '', row.help)),
    heading('durations'),
    ...DURATION_UNITS.map((row) => item(`%{${row.unit}}T`, '', row.help)),
    heading('times'),
    paragraphs('Words that stand alone in %{...}t, each a number:'),
    ...TIME_WORDS.map((row) => item(`%{${row.word}}t`, '', row.help)),
    markdown(TIME_INTRO),
    ...CONVERSIONS.map((row) =>
      item(`%${row.letter}`, '', typeof row.as === 'string' ? `${row.help}: ${row.as}` : `${row.help}.`),
    ),
    heading('values'),
    markdown(QUOTING),
    heading('escapes'),
    ...ESCAPES.map((row) => item(`\\${row.letter}`, '', row.help)),
    markdown('Before any other character a backslash vanishes.'),
    heading('examples'),
    ...FORMAT_EXAMPLES.map(
      (row) => `${markdown(row.text)}${verbatim(`proxyncsa ${row.flags}-F '${row.format}'`)}`,
    ),
  ]);
}
