// The helpers of the runtime that read, set and unset variables: their names are made from the variables' rows, and the
// compiler of this project checks that the runtime has every one of them.

import type { VARIABLES, VariableRow } from '../../../protocol/tables/variables.ts';
import type { HelperName } from '../runtime/table.ts';
import { CONTEXT, type Code, helper } from '../typed-program.ts';

type Row = (typeof VARIABLES)[number];

/** `req.url` is req_url in the name of a helper. */
type Underscored<S extends string> = S extends `${infer A}.${infer B}` ? `${A}_${Underscored<B>}` : S;

/** Messages with header fields: req, resp and so on. */
export type MessageName = Row['name'] extends infer N ? (N extends `${infer M}.http.*` ? M : never) : never;

/** Rows that are one variable each. */
type Single = Exclude<Row, { name: `${string}*${string}` }>;
type Readable = Exclude<Single, { read: '' }>;
type Writable = Exclude<Single, { write: '' }>;
type Unsettable = Exclude<Single, { unset: '' }>;
type Needed =
  | `http_${MessageName}`
  | `get_${Underscored<Readable['name']>}`
  | `set_${Underscored<Writable['name']>}`
  | `add_${Underscored<Extract<Writable, { type: 'BODY' }>['name']>}`
  | `unset_${Underscored<Unsettable['name']>}`;

/** Does not compile as long as the runtime lacks one of them: the message names it. */
type Complete<Missing extends never> = Missing;
type MissingHelpers = Complete<Exclude<Needed, HelperName>>;

/** `Needed` contains every name that this can make. */
export function variableHelper(
  kind: 'get' | 'set' | 'add' | 'unset',
  row: VariableRow,
): HelperName | MissingHelpers {
  return `${kind}_${row.name.replaceAll('.', '_')}` as HelperName;
}

/** The message of a family of headers. */
export function messageOf(row: VariableRow): MessageName {
  return row.name.slice(0, -'.http.*'.length) as MessageName;
}

export function messageCode(message: MessageName): Code {
  return helper(`http_${message}`, CONTEXT);
}
