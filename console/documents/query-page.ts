// proxy-query(7): grouping of log records and the query language, generated from the tables of the query parser and
// from tested examples.

import { LIMITS } from '../../protocol/codec.ts';
import type { Grouping } from '../../protocol/messages.ts';
import { CONNECTIVES, LEVELS, OPERATORS } from '../../queries/query-words.ts';
import { SHARED_WORDS } from '../../queries/text-pattern.ts';
import { markdown } from './markdown.ts';
import { heading, item, joined, verbatim } from './roff.ts';

const INTRO = `
The tools that read the log take a query with \`-q\`, or from a file with \`-Q\`: proxylog(1), proxyncsa(1), proxytop(1),
proxyhist(1), and the console of proxyadm(1). It is evaluated for each complete group of transactions: if it is true, the
whole group is shown, otherwise nothing of it. To show only some records of a group, use \`-i\`, \`-I\`, \`-x\` and \`-X\`.
`;

const GROUPING_TEXT = `
Records with the same id form a transaction: a connection, a request, or a fetch. Link and Begin records connect
transactions to a tree, and \`-g\` sets how much of that tree is a group. The first transaction of a group is at level 1,
its children are at level 2, and so on; a restarted request stays at its level.
`;

const GROUPINGS: Readonly<Record<Grouping, string>> = {
  vxid: 'Each transaction alone. The default of proxylog and proxyncsa.',
  request: 'A request of a client with its fetches, restarts and included requests (ESI).',
  session:
    'A connection with all its requests. It is complete when the connection is closed, or when -T seconds have passed.',
  raw: 'Each record alone, at level 0; the only mode that shows records without a transaction, those with id 0.',
};

const OPEN_ENDS = `
A group waits for its last transaction. After \`-T\` seconds (120), or with more than \`-L\` transactions open (1000), the
oldest is closed incomplete, and a VSL record at its end gives the reason.
`;

const SELECTION = `
    {LEVEL}TAG,TAG,...:PREFIX[FIELD] OPERATOR OPERAND

Only a tag is required. Without an operator the comparison is true if the group has such a record.

    vxid OPERATOR NUMBER

compares the id of a transaction instead, which \`X-Proxy-Id\` and the text of an error page contain; it takes the
operators for numbers and nothing before or after its name.
`;

const PARTS: readonly (readonly [term: string, text: string])[] = [
  [
    'TAG',
    'A tag of proxy-log(7), in any case, or a unique prefix of one. An asterisk at the start or at the end matches the rest, and alone all tags. Several are separated by commas: any of them matches.',
  ],
  [
    'PREFIX',
    'Only records that begin with this text, in any case, and a colon, such as the name of a header in ReqHeader. The text after the colon and blanks is compared.',
  ],
  [
    'FIELD',
    'Only the field with this number, counted from 1: fields are separated by blanks, and one that begins with a double quote extends to the next quote. Records without such a field do not match.',
  ],
];

const OPERANDS = `
An operand of the characters \`a-z A-Z 0-9 + - _ . *\` needs no quotes; any other needs single or double quotes, in which
a backslash protects the next character and is removed. So a regular expression in quotes needs two of them: \`"\\\\."\` is
a literal dot. A tag or a prefix may be quoted as well.

A number with a point is compared to three decimals, further ones are cut off; one without is compared as an integer, and
\`1.9\` in a record is 1. Octal (\`010\`) and hexadecimal (\`0x10\`) integers are accepted, exponents are not. A record is
compared by the number that it begins with, as in \`503 down\`; of at most 15 digits, or 12 and decimals.

Regular expressions are those of PCRE2 over bytes, and match anywhere in the text unless anchored with \`^\` and \`$\`:
groups, classes (including POSIX ones), lookaround, references, recursion, atomic groups and \`(?i)\` are supported. UTF
mode and its \`\\p\`, callouts, \`(*COMMIT)\` and similar verbs, and newlines other than LF are not, and are named in the
error message.
`;

const LAYOUT = `
Parentheses group. Each line is a query, and one of them must be true; a backslash at the end of a line joins it with the
next. \`#\` begins a comment. Keywords are in lower case.
`;

/** Queries and descriptions of their results. */
export const EXAMPLES: readonly (readonly [query: string, finds: string])[] = [
  ['RespStatus >= 500', 'Error responses.'],
  ['ReqURL eq "/news" and not ReqHeader:cookie', 'One page, requested without a cookie.'],
  ['RespStatus == 503 and ReqHeader:host ~ "(?i)^shop\\\\."', 'Errors of one site.'],
  ['Timestamp:Resp[2] > 1.5', 'Requests that took more than a second and a half.'],
  ['{2+}BerespStatus >= 500 or {2+}FetchError', 'With -g request: failed fetches of a request.'],
  ['vxid == 32770', 'The transaction of X-Proxy-Id: 32770.'],
  ['vxid == 0 and *Error', 'With -g raw: errors that belong to no transaction.'],
  ['BerespHeader:set-cookie and VCL_call eq PASS', 'Passed responses that set cookies.'],
];

const COST = `
A query evaluated by a daemon has at most ${LIMITS.query} characters and ${SHARED_WORDS} words. The daemon evaluates it, so that only
matches are sent to the tool. Evaluation must not slow down the traffic: a group whose comparisons take too much effort
(some 50 ms) is dropped and counted as lost, which the tool reports, as it does when it cannot keep up with the log. A
tool that reads a recording (\`-r\`) has no such limit except a second for each text.
`;

const DIFFERENT = `
- Varnish has no limit of effort, and evaluates queries in the tool.
- A pair of quotes is an empty field of a record here; varnishlog aborts on it.
- A tool that cannot keep up continues with the newest records, and reports how many it lost.
- Regular expressions are compiled here, not by the PCRE2 library: unsupported parts are listed above, and no expression
  takes exponential time.
`;

export function queryPage(): string {
  return joined([
    heading('description'),
    markdown(INTRO),
    heading('groups'),
    markdown(GROUPING_TEXT),
    ...Object.entries(GROUPINGS).map(([name, text]) => item(name, '', text)),
    markdown(OPEN_ENDS),
    heading('comparisons'),
    markdown(SELECTION),
    ...PARTS.map(([term, text]) => item(term, '', text)),
    ...LEVELS.map((row) => item(`{N${row.suffix}}`, '', row.help)),
    heading('operators'),
    ...OPERATORS.map((row) => item(row.text, OPERAND_NAMES[row.token], row.help)),
    heading('operands'),
    markdown(OPERANDS),
    heading('combining comparisons'),
    ...CONNECTIVES.map((row) => item(row.text, '', row.help)),
    markdown(LAYOUT),
    heading('examples'),
    ...EXAMPLES.map(([query, finds]) => `${markdown(finds)}${verbatim(query)}`),
    heading('limits'),
    markdown(COST),
    heading('differences'),
    markdown(DIFFERENT),
  ]);
}

const OPERAND_NAMES = { cmp: 'NUMBER', eq: 'TEXT', ne: 'TEXT', re: 'EXPRESSION' } as const;
