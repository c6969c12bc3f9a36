// Assembles the generated JavaScript: the prologue of hoisted constants, one function per sub, and the list of the
// states' functions in the order of STATES. The text is the body of a function of (R, B, E, M, N, P, X, S): the
// runtime's helpers, lookups of backends, extension functions, methods and constructors, private data of call sites
// and extensions, the extensions themselves (as keys of private data), and the object that pieces share (pieces.ts).
//
// It prints the checker's results and determines nothing itself.

import { type CodePiece, STATES } from '../../contract/program.ts';
import { generatedName, type ProgramModel, type SubInfo } from '../check/program-model.ts';
import { legalStates } from '../check/reach.ts';
import { shownColumn } from '../diagnostics.ts';
import type { HelperName } from '../runtime/table.ts';
import { codesOf, countSteps, type Table } from '../typed-program.ts';
import { ExpressionPrinter } from './expressions.ts';
import {
  type GeneratedDeclaration,
  type GeneratedFunction,
  type GeneratedLine,
  unplaced,
} from './functions.ts';
import { inPieces } from './pieces.ts';
import { isLong, StatementPrinter } from './statements.ts';

export const PARAMETERS = ['R', 'B', 'E', 'M', 'N', 'P', 'X', 'S'] as const satisfies readonly (
  | 'R'
  | 'S'
  | Table
)[];

/** Helpers bound in one line of the prologue. */
const A_LINE = 8;
/** Statements and conditions from which a program is in pieces: some 300 KB of code, which V8 reads in 5 ms. */
const MANY = 2000;

interface Generated {
  /** Function bodies. */
  pieces: CodePiece[];
  /** Four 32-bit numbers per mapped line, in base64: generated line, file, line, column, all but the file from 1. */
  positions: string;
}

/** A helper in text that is not printed from code. */
function runtime(name: HelperName): string {
  return `R.${name}`;
}

export function generate(model: ProgramModel): Generated {
  const isLarge = stepsOf(model) >= MANY;
  const objects = model.prologue().flatMap((d) => (d.k === 'object' ? [d.name] : []));
  const expressions = new ExpressionPrinter(new Set(isLarge ? objects : []));
  const waits = waitingSubs(model);
  const declarations = [...prologue(model, expressions), ...subValues(model, waits)];
  const functions = [...model.subs.values()].flatMap((sub) => subFunctions(model, sub, waits, expressions));
  const states = stateList(model, waits, expressions.another());
  const head = ["'use strict';", ...bindings(expressions.helpers)].map(unplaced);
  const parts = { head, declarations, functions, states };
  if (isLarge) return joined(inPieces(parts));
  // A long program has more lines than a call can take arguments: avoid spreading them.
  const before = declarations.map(({ name, value }) =>
    unplaced(value === null ? `let ${name} = null;` : `const ${name} = ${value};`),
  );
  return joined([[head, before, functions.flatMap(({ lines }) => lines), states.lines].flat()]);
}

function joined(pieces: readonly (readonly GeneratedLine[])[]): Generated {
  let before = 0;
  const joinedPieces = pieces.map((lines) => {
    const line = before;
    before += lines.length;
    return { text: `${lines.map((l) => l.text).join('\n')}\n`, line };
  });
  return { pieces: joinedPieces, positions: positionsOf(pieces.flat()) };
}

function stepsOf(model: ProgramModel): number {
  let steps = 0;
  for (const sub of model.subs.values()) for (const { body } of sub.parts) steps += countSteps(body);
  return steps;
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

function prologue(model: ProgramModel, expressions: ExpressionPrinter): GeneratedDeclaration[] {
  return model.prologue().map((d) => {
    const printer = expressions.another();
    return { name: d.name, value: d.k === 'object' ? null : printer.print(d.code), names: printer.names };
  });
}

function subFunctions(
  model: ProgramModel,
  sub: SubInfo,
  waits: ReadonlySet<SubInfo>,
  program: ExpressionPrinter,
): GeneratedFunction[] {
  const name = generatedName('sub', sub.name);
  const isValue = model.subValues.has(sub.name);
  const own = isValue ? bodyName(sub) : name;
  const star = waits.has(sub) ? '*' : '';
  const out = [unplaced(''), unplaced(`// ${sub.name}`)];
  out.push({ text: `function${star} ${own}(ctx) {`, span: sub.span });
  out.push(unplaced('  let r = 0;'));
  const parts: GeneratedFunction[] = [];
  const expressions = program.another();
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
  const lines = [out, statements.lines, end].flat();
  const functions = [{ name: own, lines, names: expressions.names }, ...parts];
  return isValue ? [...functions, valueFunction(sub)] : functions;
}

function bodyName(sub: SubInfo): string {
  return `${generatedName('sub', sub.name)}_body`;
}

/** A sub that is also a value is called through the value, which checks states and recursion. */
function valueFunction(sub: SubInfo): GeneratedFunction {
  const name = generatedName('sub', sub.name);
  const value = generatedName('value', sub.name);
  const lines = [unplaced(`function ${name}(ctx) { return ${value}.run(ctx); }`)];
  return { name, lines, names: new Set([value]) };
}

function subValues(model: ProgramModel, waits: ReadonlySet<SubInfo>): GeneratedDeclaration[] {
  return [...model.subs.values()].flatMap((sub) => {
    if (!model.subValues.has(sub.name)) return [];
    const body = bodyName(sub);
    const run = waits.has(sub) ? `${runtime('waiting')}(${body})` : body;
    const value = `${runtime('subValue')}(${JSON.stringify(sub.name)}, ${legalStates(model, sub.name)}, ${run})`;
    return [{ name: generatedName('value', sub.name), value, names: new Set([body]) }];
  });
}

function stateList(
  model: ProgramModel,
  waits: ReadonlySet<SubInfo>,
  expressions: ExpressionPrinter,
): GeneratedFunction {
  const out = ['', 'return ['];
  for (const state of STATES) {
    const sub = model.subs.get(`vcl_${state}`);
    const name = sub === undefined ? '() => 0' : expressions.name(generatedName('sub', sub.name));
    const star = sub !== undefined && isGenerator(model, waits, sub.name);
    const made = state === 'init' ? requiredObjects(model, expressions) : [];
    const initialised = (code: string): string =>
      `return ${runtime('initialised')}(${code}, [${made.join(', ')}]);`;
    if (made.length === 0) out.push(`  ${star ? `${runtime('waiting')}(${name})` : name},`);
    else if (star)
      out.push(`  ${runtime('waiting')}(function* (ctx) { ${initialised(`yield* ${name}(ctx)`)} }),`);
    else out.push(`  (ctx) => { ${initialised(`${name}(ctx)`)} },`);
  }
  out.push('];');
  return { name: 'return', lines: out.map(unplaced), names: expressions.names };
}

/** Objects that vcl_init has to create, as [value, name] pairs. */
function requiredObjects(model: ProgramModel, expressions: ExpressionPrinter): string[] {
  return [...model.symbols.values()].flatMap((s) =>
    s.kind === 'object' && s.object.mayBeAbsent !== true
      ? [`[${expressions.name(generatedName('obj', s.name))}, ${JSON.stringify(s.name)}]`]
      : [],
  );
}

function positionsOf(lines: readonly GeneratedLine[]): string {
  const positions: number[] = [];
  lines.forEach((l, i) => {
    if (l.span === null) return;
    const at = l.span.file.locate(l.span.start);
    const column = shownColumn(l.span.file.line(at.line), at.column);
    positions.push(i + 1, l.span.file.index, at.line, column);
  });
  // A list of numbers takes a reader of JSON ten times as long.
  return Buffer.from(Int32Array.from(positions).buffer).toString('base64');
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
