// Variables: the row of the table for a dotted name, the states in which it may be read, set and unset, and the code
// that reads it. Headers are a family of variables each, whose names may be quoted.

import { placesToStates, VARIABLES, type VariableRow } from '../../../protocol/tables/variables.ts';
import type { PathExpr } from '../ast.ts';
import { nearest, type Span } from '../diagnostics.ts';
import { MESSAGES } from '../error-texts.ts';
import { variableHint } from '../hints.ts';
import type { HelperName } from '../runtime/table.ts';
import { LIMITS } from '../tables/language.ts';
import { NARROWED_VARIABLES, PROTECTED_FIELDS, REMOVED_VARIABLES } from '../tables/newer-releases.ts';
import type { Type } from '../tables/type-rows.ts';
import { CONTEXT, type Code, constant, helper } from '../typed-program.ts';
import { type ProgramModel, stateMask } from './program-model.ts';
import type { Scope } from './type-conversions.ts';
import type { MessageName, Typed } from './types.ts';

const BY_NAME = new Map<string, readonly VariableRow[]>();
for (const row of VARIABLES as readonly VariableRow[]) {
  BY_NAME.set(row.name, [...(BY_NAME.get(row.name) ?? []), row]);
}
const HEADER_OWNERS = new Set(
  (VARIABLES as readonly VariableRow[]).flatMap((r) =>
    r.name.endsWith('.http.*') ? [r.name.slice(0, -7)] : [],
  ),
);

/** State masks by the `places` texts of all rows. */
const MASKS: ReadonlyMap<string, number> = new Map(
  (VARIABLES as readonly VariableRow[])
    .flatMap((r) => [r.read, r.write, r.unset])
    .concat([...NARROWED_VARIABLES.values()].map(({ read }) => read))
    .map((places) => [places, stateMask(placesToStates(places))]),
);

interface VariableRef {
  row: VariableRow;
  /** Full name as written, for messages. */
  name: string;
  /** Header families: the name of the header. */
  field: string | null;
  /** Number of path parts that belong to the variable. */
  taken: number;
}

/** The variable at the start of a path, or null. A variable of another language version is reported. */
export function findVariable(scope: Scope, path: PathExpr): VariableRef | null {
  const parts = path.parts.map((p) => p.text.toLowerCase());
  const [owner = '', second] = parts;
  if (second === 'http' && HEADER_OWNERS.has(owner) && parts.length >= 3 && path.parts[1]?.quoted === false) {
    const field = path.parts[2] as PathExpr['parts'][number];
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(field.text)) {
      return scope.model.reporter.fail(MESSAGES.noFieldName(field.text), field.span);
    }
    if (field.quoted && scope.model.syntax < 41) {
      return scope.model.reporter.fail(MESSAGES.quotedField(), field.span);
    }
    if (field.text.length > LIMITS.headerName.value) {
      const start = field.text.slice(0, 20);
      return scope.model.reporter.fail(MESSAGES.longFieldName(start), field.span);
    }
    const row = (BY_NAME.get(`${owner}.http.*`) as readonly VariableRow[])[0] as VariableRow;
    return { row, name: `${owner}.http.${field.text}`, field: field.text, taken: 3 };
  }
  for (let n = Math.min(parts.length, 3); n > 0; n--) {
    if (path.parts.slice(0, n).some((p) => p.quoted)) continue;
    const name = parts.slice(0, n).join('.');
    const rows = BY_NAME.get(name);
    if (rows === undefined) continue;
    const { syntax } = scope.model;
    const row = rows.find((r) => syntax >= (r.since ?? 0) && syntax <= (r.until ?? 99));
    if (row !== undefined) {
      const removal = REMOVED_VARIABLES.get(name);
      if (removal !== undefined && scope.model.changes[removal.change]) {
        return scope.model.reporter.fail(MESSAGES.notFound(name), path.span, `Write: ${removal.instead}`);
      }
      return { row, name, field: null, taken: n };
    }
    if (n < parts.length) continue;
    const first = rows[0] as VariableRow;
    const bound = first.until !== undefined ? `<= 4.${first.until - 40}` : `>= 4.${(first.since ?? 40) - 40}`;
    scope.model.reporter.fail(MESSAGES.otherVersion(name, bound), path.span, variableHint(name));
  }
  return null;
}

const DONE = { read: 'read', write: 'set', unset: 'unset' } as const;

/** Owners that replace each other in other states. */
const COUNTERPARTS: readonly (readonly string[])[] = [
  ['req', 'bereq'],
  ['resp', 'beresp', 'obj'],
];

/** Hint at the counterpart available in this state; '' if there is none. */
function instead(
  state: string,
  v: VariableRef,
  how: keyof typeof DONE,
  say: (name: string) => string,
): string {
  const at = v.row.name.indexOf('.');
  const owner = v.row.name.slice(0, at);
  const rest = v.row.name.slice(at);
  const mask = stateMask([state.replace(/^vcl_/, '')]);
  for (const other of COUNTERPARTS.find((group) => group.includes(owner)) ?? []) {
    const row = other === owner ? undefined : BY_NAME.get(`${other}${rest}`)?.at(-1);
    if (row === undefined || ((MASKS.get(row[how]) ?? 0) & mask) === 0) continue;
    return say(v.field === null ? row.name : `${other}.http.${v.field}`);
  }
  return '';
}

/** Records that a sub reads, sets or unsets a variable, for the check of its states. */
export function noteUse(scope: Scope, v: VariableRef, how: 'read' | 'write' | 'unset', span: Span): void {
  const narrowed = NARROWED_VARIABLES.get(v.row.name);
  const isNarrowed = how === 'read' && narrowed !== undefined && scope.model.changes[narrowed.change];
  const isProtected =
    how !== 'read' &&
    scope.model.changes.protectedFields &&
    PROTECTED_FIELDS.has(v.field?.toLowerCase() ?? '');
  const places = isProtected ? '' : isNarrowed ? narrowed.read : v.row[how];
  const verb =
    how === 'read' ? 'Not available in' : how === 'write' ? 'Cannot be set from' : 'Cannot be unset from';
  if (places === '') {
    const what = how === 'read' ? 'read' : how === 'write' ? 'set' : 'unset';
    scope.model.reporter.fail(
      MESSAGES.noDirection(v.name, what),
      span,
      isProtected
        ? 'Only the proxy says how a body is framed. To drop one, unset it: unset bereq.body;'
        : how === 'write'
          ? (variableHint(v.name) ??
            `It is read-only${instead(scope.sub.name, v, how, (name) => `; ${name} can be set here`)}.`)
          : undefined,
    );
  }
  scope.sub.restrictions.push({
    mask: MASKS.get(places) ?? 0,
    message: (sub) => MESSAGES.notInState(v.name, verb, sub),
    span,
    hint: (state) =>
      `It can be ${DONE[how]} in: ${places}.${instead(state, v, how, (name) => ` Here it is ${name}.`)}`,
  });
  if (v.field !== null) {
    const field = `${messageOf(v.row)}.${v.field.toLowerCase()}`;
    (how === 'read' ? scope.sub.reads : scope.sub.writes).add(field);
  } else (how === 'read' ? scope.sub.readsVariables : scope.sub.writesVariables).add(v.row.name);
}

/** The header's name in the program's first spelling. */
export function fieldName(model: ProgramModel, v: VariableRef): string {
  const field = v.field as string;
  const key = `${v.row.name} ${field.toLowerCase()}`;
  const known = model.spelling.get(key);
  if (known !== undefined) return known;
  model.spelling.set(key, field);
  return field;
}

/** Reads a variable. */
export function readVariable(scope: Scope, v: VariableRef, span: Span, want: Type): Typed {
  const { model } = scope;
  noteUse(scope, v, 'read', span);
  if (v.field !== null) {
    const message = messageOf(v.row);
    const name = fieldName(model, v);
    const header = { message, name };
    if (want === 'HEADER') {
      const code = helper('headerRef', messageCode(message), constant(name));
      return { type: 'HEADER', code, span, header };
    }
    const code = helper('getHeader', messageCode(message), constant(name.toLowerCase()));
    return { type: 'STRING', code, span, nullable: true, header };
  }
  if (v.row.name.startsWith(PARAMETER)) {
    const code = helper('parameterValue', CONTEXT, constant(v.row.name.slice(PARAMETER.length)));
    return { type: v.row.type as Type, code, span };
  }
  const code = helper(variableHelper('get', v.row), CONTEXT);
  if (v.row.also !== undefined) {
    const text = helper('intString', CONTEXT, code);
    return { type: 'STRING', code: text, span, also: { type: v.row.also, code, span } };
  }
  const out: Typed = { type: v.row.type as Type, code, span };
  if (v.row.type === 'STRING') out.nullable = true;
  return out;
}

const PARAMETER = 'param.';

/** Whether a variable has exactly this name. */
export function isVariable(name: string): boolean {
  return BY_NAME.has(name);
}

/** Hint for an unknown variable. */
export function noVariableHint(name: string): string | undefined {
  const near = variableHint(name) === undefined ? nearest(name, variableNames()) : null;
  return near === null ? variableHint(name) : `Did you mean '${near}'?`;
}

/** Names of all variables except families, for suggestions. */
export function variableNames(): string[] {
  return [...BY_NAME.keys()].filter((n) => !n.includes('*'));
}

// Runtime helpers that read, set and unset variables: their names derive from the variables' rows, and the TypeScript
// compiler checks that the runtime has all of them.

type Row = (typeof VARIABLES)[number];

/** `req.url` becomes req_url in the name of a helper. */
type Underscored<S extends string> = S extends `${infer A}.${infer B}` ? `${A}_${Underscored<B>}` : S;

/** Rows that are single variables. */
type Single = Exclude<Row, { name: `${string}*${string}` | `param.${string}` }>;
type Readable = Exclude<Single, { read: '' }>;
type Writable = Exclude<Single, { write: '' }>;
type Unsettable = Exclude<Single, { unset: '' }>;
type Needed =
  | `http_${MessageName}`
  | `get_${Underscored<Readable['name']>}`
  | `set_${Underscored<Writable['name']>}`
  | `add_${Underscored<Extract<Writable, { type: 'BODY' }>['name']>}`
  | `unset_${Underscored<Unsettable['name']>}`;

/** Fails to compile if the runtime lacks a helper; the error names it. */
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
