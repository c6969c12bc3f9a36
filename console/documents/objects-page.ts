// The sections of proxylog-json(1) on the objects that it writes, generated from the tables of their members.

import { OBJECT_FIELDS, type ObjectField } from '../objects/object-fields.ts';
import { PROBE_FIELDS } from '../objects/probe-fields.ts';
import { markdown } from './markdown.ts';
import { heading, item, joined, paragraphs, verbatim } from './roff.ts';

const INTRO = `
A request of a client is shown as it came, before the program changed it, and the response as it left; a request to a
backend as it was sent, and the response as it came. A member without a record is absent, the lists and \`req\` and \`resp\`
are always there. The file protocol/log-object.schema.json of the package is a JSON Schema of all this.
`;

/** Command lines with jq(1), by what they show. */
export const OBJECT_EXAMPLES: readonly { text: string; options: string; script: string }[] = [
  {
    text: 'Requests that were no hits, with their status:',
    options: '',
    script: 'select(.handling != "hit") | [.resp.status, .req.method, .req.url] | @tsv',
  },
  {
    text: 'Bytes to clients by host:',
    options: '-d',
    script: '[.req.headers.host, .resp.hdrBytes + .resp.bodyBytes] | @tsv',
  },
  {
    text: 'What backends answered, and whether the connection was a kept one:',
    options: '-b',
    script: '[.backend.name, .resp.status, .backend.connReused] | @tsv',
  },
];

export function objectsSections(): string {
  return joined([
    heading('objects'),
    markdown(INTRO),
    ...OBJECT_FIELDS.map(member),
    heading('objects of probes'),
    ...PROBE_FIELDS.map(member),
    heading('examples'),
    ...OBJECT_EXAMPLES.map(
      ({ text, options, script }) =>
        paragraphs(text) +
        verbatim(`proxylog-json${options === '' ? '' : ` ${options}`} | jq -r '${script}'`),
    ),
  ]);
}

function member<Facts>({ path, type, values, tags, help }: ObjectField<Facts>): string {
  const only = values === undefined ? '' : ` One of ${values.map((v) => `\`${v}\``).join(', ')}.`;
  return item(path, TYPES[type], `${help}${only} From ${tags.join(', ')}.`);
}

const TYPES = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  strings: 'list of strings',
  map: 'object of strings',
} as const;
