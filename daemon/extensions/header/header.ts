// The header extension: repeated headers, and headers whose name is computed at run time.
//
// It modifies messages in place, and logs what it adds or replaces but not what it removes, as Varnish's does. A name
// from header.dyn or a line from header.regsub may be arbitrary: anything that is not a valid header fails the task
// instead of leaving the proxy (SAFETY rule 6).

import type { BoundedRegex } from '../../../queries/regex/bounded-regex.ts';
import type { VclContext } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { VclFailure } from '../../contract/failure.ts';
import { type HttpMessage, MSG_HEADER, MSG_UNSET } from '../../http1/message.ts';
import type { HeaderRef } from '../../vcl/runtime/headers.ts';
import { matches, regsub, regsuball } from '../../vcl/runtime/regexes.ts';
import { refuseStored } from '../changeable-head.ts';
import { byName, row } from '../extension-rows.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const BAD_VALUE = /[\0-\x08\n-\x1f\x7f]/;
const LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):/;

function add(http: HttpMessage, name: string, value: string): void {
  if (!TOKEN.test(name)) throw new VclFailure(`header: "${shown(name)}" is not a valid header name`);
  if (BAD_VALUE.test(value)) throw new VclFailure(`Bad header ${name}: ${shown(value)}`);
  http.add(name, value);
}

/** A text cut before its first control character, for the log. */
function shown(text: string): string {
  const at = text.search(BAD_VALUE);
  return at < 0 ? text : text.slice(0, at);
}

/** Current values of all headers of this name. */
function valuesOf(ref: HeaderRef): string[] {
  const key = ref.name.toLowerCase();
  const out: string[] = [];
  for (let i = 0; i < ref.http.n; i++) if (ref.http.keys[i] === key) out.push(ref.http.valueAt(i));
  return out;
}

function append(ctx: VclContext, to: HeaderRef, value: string | null): void {
  refuseStored(ctx, to.http, 'header.append()');
  add(to.http, to.name, value ?? '');
}

function copy(ctx: VclContext, from: HeaderRef, to: HeaderRef): void {
  refuseStored(ctx, to.http, 'header.copy()');
  const values = valuesOf(from);
  if (values.length > 0 && from.http === to.http && from.name.toLowerCase() === to.name.toLowerCase()) {
    // Varnish's module copies its own copies until the workspace is full.
    throw new VclFailure('vmod_header: workspace allocation failure');
  }
  for (const value of values) add(to.http, to.name, value);
}

function get(ctx: VclContext, from: HeaderRef, re: BoundedRegex): string | null {
  return valuesOf(from).find((value) => matches(ctx, value, re)) ?? null;
}

function remove(ctx: VclContext, from: HeaderRef, re: BoundedRegex): void {
  const { http } = from;
  refuseStored(ctx, http, 'header.remove()');
  const key = from.name.toLowerCase();
  http.removeWhere(0, (i) => http.keys[i] === key && matches(ctx, http.valueAt(i), re));
}

function substituteLines(
  ctx: VclContext,
  http: HttpMessage,
  re: BoundedRegex,
  template: string | null,
  all: boolean,
): void {
  refuseStored(ctx, http, 'header.regsub()');
  const substitute = all ? regsuball : regsub;
  for (let i = 0; i < http.n; i++) {
    const line = http.lines[i] as string;
    const changed = substitute(ctx, line, re, template);
    if (changed === line) continue;
    const name = LINE.exec(changed)?.[1];
    if (changed !== '' && (name === undefined || BAD_VALUE.test(changed))) {
      throw new VclFailure(`header.regsub(): "${shown(changed)}" is not a header field`);
    }
    http.log?.put(http.base + MSG_UNSET, line);
    http.log?.put(http.base + MSG_HEADER, changed);
    http.replaceAt(i, (name ?? '').toLowerCase(), changed);
  }
  http.removeWhere(0, (i) => http.lines[i] === '');
}

export const header: Extension = {
  name: 'header',
  help: 'several headers of one name',
  // biome-ignore format: a row is a line
  functions: byName(
    row('VOID append(HEADER, STRING)', append, 'Adds a header, beside those of the name that are there.'),
    row('VOID copy(HEADER, HEADER)', copy, 'Adds each header of the first name again under the second one.'),
    row('STRING get(HEADER header, REGEX regex)', get, 'The value of the first header of the name that matches; unset when none does.'),
    row('VOID remove(HEADER header, REGEX regex)', remove, 'Removes the headers of the name that match.'),
    row('VOID regsub(HTTP, REGEX regex, STRING sub, BOOL all=0)', substituteLines,
      'Replaces what matches in the lines of all headers: once a line, or with all everywhere.'),
    row('HEADER dyn(HTTP, STRING)', (_c, http: HttpMessage, name: string | null): HeaderRef => ({ http, name: name ?? '' }),
      'The header whose name is a text of the program, for functions that take a HEADER.'),
  ),
};
