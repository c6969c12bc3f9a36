// Assembles the generated JavaScript: the prologue of hoisted constants, one function per sub, and the list of the
// states' functions in the order of STATES. The text is the body of a function of (R, B, E, M, N, P, X): the
// runtime's helpers, lookups of backends, extension functions, methods and constructors, private data of call sites
// and extensions, and the extensions themselves (as keys of private data).
//
// It prints the checker's results and determines nothing itself.

import { STATES } from '../../contract/program.ts';
import { generatedName, type ProgramModel, type SubInfo } from '../check/program-model.ts';
import { legalStates } from '../check/reach.ts';
import { shownColumn } from '../diagnostics.ts';
import type { HelperName } from '../runtime/table.ts';
import { codesOf, type Table } from '../typed-program.ts';
import { ExpressionPrinter } from './expressions.ts';
import { type GeneratedLine, isLong, StatementPrinter } from './statements.ts';

export const PARAMETERS = ['R', 'B', 'E', 'M', 'N', 'P', 'X'] as const satisfies readonly ('R' | Table)[];

/** Helpers bound in one line of the prologue. */
const A_LINE = 8;

interface Generated {
  source: string;
  /** Four numbers per mapped line: generated line, file, line, column, all but the file from 1. */
  positions: number[];
}

/** A helper in text that is not printed from code. */
function runtime(name: HelperName): string {
  return `R.${name}`;
}

export function generate(model: ProgramModel): Generated {
  const expressions = new ExpressionPrinter();
  const before = prologue(model, expressions).map(unplaced);
  const waits = waitingSubs(model);
  // A long program has more lines than a call can take arguments: avoid spreading them.
  const subs = [...model.subs.values()].flatMap((sub) => subLines(model, sub, waits, expressions));
  const states = stateList(model, waits).map(unplaced);
  const head = ["'use strict';", ...bindings(expressions.helpers)].map(unplaced);
  const lines = [head, before, subs, states].flat();
  return { source: `${lines.map((l) => l.text).join('\n')}\n`, positions: positionsOf(lines) };
}

function unplaced(text: string): GeneratedLine {
  return { text, span: null };
}

/** The names of the helpers that the program calls. */
function bindings(helpers: ReadonlySet<HelperName>): string[] {
  const names = [...helpers].sort();
  const out: string[] = [];
  for (let i = 0; i < names.length; i += A_LINE) {
    out.push(`const { ${names.slice(i, i + A_LINE).join(', ')} } = R;`);
  }
  return out;
}

function prologue(model: ProgramModel, expressions: ExpressionPrinter): string[] {
  return model
    .prologue()
    .map((d) =>
      d.k === 'object' ? `let ${d.name} = null;` : `const ${d.name} = ${expressions.print(d.code)};`,
    );
}

function subLines(
  model: ProgramModel,
  sub: SubInfo,
  waits: ReadonlySet<SubInfo>,
  expressions: ExpressionPrinter,
): GeneratedLine[] {
  const name = generatedName('sub', sub.name);
  const isValue = model.subValues.has(sub.name);
  const star = waits.has(sub) ? '*' : '';
  const out = [unplaced(''), unplaced(`// ${sub.name}`)];
  out.push({ text: `function${star} ${isValue ? `${name}_body` : name}(ctx) {`, span: sub.span });
  out.push(unplaced('  let r = 0;'));
  const parts: GeneratedLine[][] = [];
  const statements = new StatementPrinter(expressions, {
    name,
    star,
    isGenerator: (called) => isGenerator(model, waits, called),
    parts,
    pauses: star !== '' && sub.name === INIT,
  });
  for (const part of sub.parts) {
    statements.lines.push({ text: '  {', span: part.span });
    statements.steps(part.body, '    ');
    statements.lines.push(unplaced('  }'));
  }
  const end = [unplaced('  return r;'), unplaced('}')];
  const value = isValue ? valueLines(model, sub, name, waits.has(sub)).map(unplaced) : [];
  return [out, statements.lines, end, ...parts, value].flat();
}

/** A sub that is also a value is called through the value, which checks states and recursion. */
function valueLines(model: ProgramModel, sub: SubInfo, name: string, waits: boolean): string[] {
  const value = generatedName('value', sub.name);
  const run = waits ? `${runtime('waiting')}(${name}_body)` : `${name}_body`;
  const states = legalStates(model, sub.name);
  return [
    `const ${value} = ${runtime('subValue')}(${JSON.stringify(sub.name)}, ${states}, ${run});`,
    `function ${name}(ctx) { return ${value}.run(ctx); }`,
  ];
}

function stateList(model: ProgramModel, waits: ReadonlySet<SubInfo>): string[] {
  const out = ['', 'return ['];
  for (const state of STATES) {
    const sub = model.subs.get(`vcl_${state}`);
    const name = sub === undefined ? '() => 0' : generatedName('sub', sub.name);
    const star = sub !== undefined && isGenerator(model, waits, sub.name);
    const made = state === 'init' ? requiredObjects(model) : [];
    const initialised = (code: string): string =>
      `return ${runtime('initialised')}(${code}, [${made.join(', ')}]);`;
    if (made.length === 0) out.push(`  ${star ? `${runtime('waiting')}(${name})` : name},`);
    else if (star)
      out.push(`  ${runtime('waiting')}(function* (ctx) { ${initialised(`yield* ${name}(ctx)`)} }),`);
    else out.push(`  (ctx) => { ${initialised(`${name}(ctx)`)} },`);
  }
  out.push('];');
  return out;
}

/** Objects that vcl_init has to create, as [value, name] pairs. */
function requiredObjects(model: ProgramModel): string[] {
  return [...model.symbols.values()].flatMap((s) =>
    s.kind === 'object' && s.object.mayBeAbsent !== true
      ? [`[${generatedName('obj', s.name)}, ${JSON.stringify(s.name)}]`]
      : [],
  );
}

function positionsOf(lines: readonly GeneratedLine[]): number[] {
  const positions: number[] = [];
  lines.forEach((l, i) => {
    if (l.span === null) return;
    const at = l.span.file.locate(l.span.start);
    const column = shownColumn(l.span.file.line(at.line), at.column);
    positions.push(i + 1, l.span.file.index, at.line, column);
  });
  return positions;
}

// The subs that may wait: those with a call that may return asynchronously, and their callers. They become
// generators, and their callers delegate to them. So does a long vcl_init, which runs over many turns of the event
// loop.

/** The only sub that is interrupted if it is long. */
const INIT = 'vcl_init';

/** The subs that have to be generators. */
function waitingSubs(model: ProgramModel): ReadonlySet<SubInfo> {
  const found = new Set<SubInfo>();
  for (const sub of model.subs.values()) {
    if (sub.parts.some((part) => [...codesOf(part.body)].some((code) => code.waits))) found.add(sub);
  }
  const init = model.subs.get(INIT);
  if (init?.parts.some((part) => isLong(part.body)) === true) found.add(init);
  if (found.size === 0) return found;
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const sub of model.subs.values()) {
      if (sub.calls.some((call) => isGenerator(model, found, call.name))) found.add(sub);
    }
  }
  return found;
}

/** Whether a sub is called as a generator. One that is also a value is not: extensions call it, too. */
function isGenerator(model: ProgramModel, waits: ReadonlySet<SubInfo>, name: string): boolean {
  const sub = model.subs.get(name);
  return sub !== undefined && waits.has(sub) && !model.subValues.has(sub.name);
}
