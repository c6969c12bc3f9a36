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
proxyhist(1), and the console of proxyadm(1). It is asked of each group of transactions as a whole, once the group is
complete: all of the group is shown where the query is true, and nothing of it elsewhere. To show some records of a
group only, use \`-i\`, \`-I\`, \`-x\` and \`-X\`.
`;

const GROUPING_TEXT = `
Records with one id make up a transaction: a connection, a request, or a fetch. Link and Begin records say which began
which. \`-g\` says how much of that tree is a group. The first transaction of a group is of level 1, what it began is of
level 2, and so on; a request that is restarted stays on its level.
`;

const GROUPINGS: Readonly<Record<Grouping, string>> = {
  vxid: 'Each transaction alone. The default of proxylog and proxyncsa.',
  request: 'A request of a client with its fetches, restarts and included requests (ESI).',
  session:
    'A connection with all its requests. It is complete when the connection is closed, or when -T seconds have passed.',
  raw: 'Each record alone, of level 0; the only one that shows records without a transaction, those with id 0.',
};

const OPEN_ENDS = `
A group waits for its last transaction. After \`-T\` seconds (120), or with more than \`-L\` transactions open (1000), the
oldest is closed as it is, and a VSL record at its end says so.
`;

const SELECTION = `
    {LEVEL}TAG,TAG,...:PREFIX[FIELD] OPERATOR OPERAND

Only a tag is needed. Without an operator the comparison is true where the group has such a record.

    vxid OPERATOR NUMBER

asks for the id of a transaction instead, which \`X-Proxy-Id\` and the text of an error page have; it takes the operators
for numbers and nothing before or after its name.
`;

const PARTS: readonly (readonly [term: string, text: string])[] = [
  [
    'TAG',
    'A tag of proxy-log(7), in any case; its beginning will do where no other tag has it. An asterisk at the start or at the end stands for the rest, and alone for all tags. Several stand with commas between them: any of them counts.',
  ],
  [
    'PREFIX',
    'Only records that begin with this text, in any case, and a colon: as the name of a header in ReqHeader. What is compared begins after the colon and blanks.',
  ],
  [
    'FIELD',
    'Only the part of this number, counted from 1: parts have blanks between them, and one that begins with a double quote goes to the next one. Records without such a part do not count.',
  ],
];

const OPERANDS = `
An operand of the characters \`a-z A-Z 0-9 + - _ . *\` stands as it is; any other needs single or double quotes, in which
a backslash protects the character after it and vanishes. So an expression needs two of them in quotes: \`"\\\\."\` is
a dot. A tag or a prefix may stand in quotes as well.

A number with a point in it compares three decimals, further ones are cut off; one without compares whole numbers, and
of a record \`1.9\` is 1. Octal (\`010\`) and hexadecimal (\`0x10\`) count without a point, exponents never. A record counts
by the number that it begins with, as in \`503 down\`; of at most 15 digits, or 12 and decimals.

Expressions are those of PCRE2 over bytes, and match somewhere in the text unless \`^\` and \`$\` tie them down: groups,
classes (POSIX ones, too), lookaround, references, recursion, atomic groups and \`(?i)\` are there. UTF mode and \`\\p\` of
it, callouts, \`(*COMMIT)\` and its like, and other ends of lines than LF are not, and the message says so by name.
`;

const LAYOUT = `
Brackets group. Each line is a query, and any of them may be true; a backslash at the end of a line joins it with the
next. \`#\` begins a comment. Words of the language stand in small letters.
`;

/** Queries and descriptions of their results. */
export const EXAMPLES: readonly (readonly [query: string, finds: string])[] = [
  ['RespStatus >= 500', 'Answers that are errors.'],
  ['ReqURL eq "/news" and not ReqHeader:cookie', 'One page, asked for without a cookie.'],
  ['RespStatus == 503 and ReqHeader:host ~ "(?i)^shop\\\\."', 'Errors of one site.'],
  ['Timestamp:Resp[2] > 1.5', 'Requests that took more than a second and a half.'],
  ['{2+}BerespStatus >= 500 or {2+}FetchError', 'With -g request: fetches that failed behind a request.'],
  ['vxid == 32770', 'The transaction that X-Proxy-Id: 32770 names.'],
  ['vxid == 0 and *Error', 'With -g raw: errors that belong to no transaction.'],
  ['BerespHeader:set-cookie and VCL_call eq PASS', 'What was passed and sets cookies.'],
];

const COST = `
A query has at most ${LIMITS.query} characters and ${SHARED_WORDS} words, where a daemon answers it. It is read there, so that only
what it finds crosses to the tool. Reading must not slow down the traffic: a group whose comparisons take too much
effort (some 50 ms) is left out and counted as lost, and the tool says so, as it does when it falls behind the log. A tool
that reads a recording (\`-r\`) takes what time it needs, of a second for each text at the most.
`;

const DIFFERENT = `
- Varnish has no limit of effort, and runs queries in the tool.
- An empty pair of quotes is a part of a record here; varnishlog ends on it.
- A tool that falls behind goes on with what is there now, and says how many records it lost.
- Expressions are compiled here, not by the PCRE2 library: what was left out is named above, and no expression takes
  exponential time.
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
    heading('putting comparisons together'),
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
