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
proxyncsa(1) writes a line for each request by a format: from \`-F\`, from the first line of the file of \`-f\`, or by
default the combined format of web servers:

    ${DEFAULT_FORMAT}

A percent sign introduces a specifier; all other text is copied. Missing values are \`-\`, unless the list says otherwise.
With \`-b\` lines are about requests to backends, and "Backend:" describes a letter there; with \`-b -c\` about both, and
\`%{Proxy:side}x\` tells them apart. A restarted request has one line, of its last round; bytes that are not a request
have none.
`;

const QUOTING = `
Values from outside are escaped so that a line stays a line: double quotes, backslashes, control bytes and bytes beyond
ASCII become \`\\"\`, \`\\\\\`, \`\\n\`, \`\\r\`, \`\\t\` or \`\\xhh\`.

With \`-j\` they are escaped for the inside of a JSON string, and missing ones are empty, or 0 for \`%b\`, \`%I\`, \`%O\`, \`%s\`
and \`%{Proxy:time_firstbyte}x\`, which are not quoted. UTF-8 is kept; bytes beyond ASCII in a value that is not valid UTF-8
are written as \`\\u00xx\`: every line is JSON if the format is.
`;

const TIME_INTRO = `
Letters after a percent sign, in local time and in English. Between both, \`-\` (no padding), \`_\` (blanks), \`0\`
(zeros) or \`^\` (upper case), and a width are allowed. Unknown letters are copied.
`;

/** Command lines after `proxyncsa` by format, with their output. */
export const FORMAT_EXAMPLES: readonly { format: string; json: boolean; flags: string; text: string }[] = [
  {
    format: '%h %t "%r" %s %{Proxy:handling}x %{ms}T',
    json: false,
    flags: '',
    text: 'The handling of each request, and its milliseconds.',
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
    paragraphs('Words for %{...}t, each a number:'),
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
