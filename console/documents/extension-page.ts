// The manual page of a built-in extension, generated from its tables.

import { heading, item, paragraphs, roff, title } from './roff.ts';

/** Table row of a function or object: the call as a text such as "INT length(BLOB)", and sentences about it. */
interface Row {
  readonly signature: string;
  readonly help: string;
  readonly places?: string;
  readonly waits?: boolean;
}

interface ObjectRow extends Row {
  readonly methods: Readonly<Record<string, Row>>;
}

export interface DocumentedExtension {
  readonly name: string;
  readonly help: string;
  readonly notes?: Readonly<Record<string, string>>;
  readonly functions: Readonly<Record<string, Row>>;
  readonly objects?: Readonly<Record<string, ObjectRow>>;
}

/** A page of section 3, without its SEE ALSO. */
export function extensionPage(extension: DocumentedExtension, version: string, date: string): string {
  const { name, help, notes = {}, functions, objects = {} } = extension;
  const page = [
    title({ name: `vmod_${name}`, section: 3, summary: help, version, date }),
    heading('synopsis'),
    `.nf\n${roff(`import ${name};`)}\n.fi\n`,
    heading('description'),
    paragraphs(
      'Signatures are those of the language: [brackets] hold what may be left out, and = a default.',
    ),
  ];
  for (const [name, text] of Object.entries(notes)) page.push(heading(name), paragraphs(text));
  const rows = Object.values(functions);
  if (rows.length > 0) page.push(heading('functions'), ...rows.map((row) => entry(row, `${name}.`)));
  for (const [type, object] of Object.entries(objects)) {
    page.push(heading(`object ${name}.${type}`), entry(object, `new x = ${name}.`));
    page.push(...Object.values(object.methods).map((row) => entry(row, 'x.')));
  }
  return page.join('');
}

/** One row: the name in bold, then arguments and return type. */
function entry({ signature, help, places, waits }: Row, owner: string): string {
  const [, returns = '', name = '', rest = ''] = /^(?:(\S+) )?(\w+)(\(.*\))$/s.exec(signature) ?? [];
  const gives = returns === '' || returns === 'VOID' ? '' : ` → ${returns}`;
  const notes = [help];
  if (places !== undefined && places !== 'all') notes.push(`May be called from: ${places}.`);
  if (waits === true) notes.push('The transaction may have to wait for it.');
  return item(`${owner}${name}`, `${rest}${gives}`, notes.join('\n\n'));
}
