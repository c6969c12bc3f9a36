// Assembles the generated JavaScript: the prologue of hoisted constants, one function a sub, and the list of
// the states' functions in the order of STATES. The text is the body of a function of (R, B, E, M, N, P, X):
// the runtime's helpers, lookups of backends, extension functions, methods and constructors, private data of call
// places and extensions, and the extensions themselves (as keys of private data).
//
// Every generated line knows its place in the program, so that a failure can name the VCL line without any
// cost while nothing fails.

import { type GeneratedLine, type ProgramModel, quote } from './check/program.ts';
import { legalStates } from './check/reach.ts';
import { shownColumn } from './errors.ts';
import { STATES } from './program.ts';
import { waitingLines, waitingSubs } from './waiting-subs.ts';

export const PARAMETERS = ['R', 'B', 'E', 'M', 'N', 'P', 'X'] as const;

/** Objects that vcl_init has to leave behind, as [value, name] pairs. */
function requiredObjects(model: ProgramModel): string[] {
  return [...model.symbols.values()].flatMap((s) =>
    s.kind === 'object' && s.object.mayBeAbsent !== true ? [`[${s.js}, ${quote(s.name)}]`] : [],
  );
}

export interface Generated {
  source: string;
  /** Four numbers a mapped line: generated line, file, line, column, all but the file from 1. */
  positions: number[];
}

export function generate(model: ProgramModel): Generated {
  const lines: GeneratedLine[] = [{ text: "'use strict';", span: null }];
  const push = (text: string): void => void lines.push({ text, span: null });
  const helpers = [...model.helpers].sort();
  for (let i = 0; i < helpers.length; i += 8) {
    push(`const { ${helpers.slice(i, i + 8).join(', ')} } = R;`);
  }
  for (const l of model.prologue()) push(l);
  const waits = waitingSubs(model);
  for (const sub of model.subs.values()) {
    push('');
    push(`// ${sub.name}`);
    const value = model.subValues.has(sub.name) ? model.jsName('value', sub.name) : null;
    const body = value === null ? sub.js : `${sub.js}_body`;
    lines.push({ text: `function${waits.has(sub) ? '*' : ''} ${body}(ctx) {`, span: sub.span });
    push('  let r = 0;');
    lines.push(...(waits.has(sub) ? waitingLines(model, sub, waits) : sub.lines));
    push('  return r;');
    push('}');
    if (value === null) continue;
    const states = legalStates(model, sub.name);
    push(
      `const ${value} = R.subValue(${quote(sub.name)}, ${states}, ${waits.has(sub) ? `R.waiting(${body})` : body});`,
    );
    push(`function ${sub.js}(ctx) { return ${value}.run(ctx); }`);
  }
  push('');
  push('return [');
  for (const state of STATES) {
    const sub = model.subs.get(`vcl_${state}`);
    const waiting = sub !== undefined && waits.has(sub) && !model.subValues.has(sub.name);
    const js = sub === undefined ? '() => 0' : waiting ? `R.waiting(${sub.js})` : sub.js;
    const made = state === 'init' ? requiredObjects(model) : [];
    push(made.length === 0 ? `  ${js},` : `  (ctx) => R.initialised(${js}(ctx), [${made.join(', ')}]),`);
  }
  push('];');
  const positions: number[] = [];
  lines.forEach((l, i) => {
    if (l.span === null) return;
    const at = l.span.file.locate(l.span.start);
    const column = shownColumn(l.span.file.line(at.line), at.column);
    positions.push(i + 1, l.span.file.index, at.line, column);
  });
  return { source: `${lines.map((l) => l.text).join('\n')}\n`, positions };
}
