// The code of a large program in pieces, each the body of a function of its own, which the loader evaluates one by one: V8
// reads a script in one go, at 15 ns a character. What several pieces use is a property of the object S that all are given.
//
// Objects are properties of S wherever they are used, since vcl_init sets them later. A constant is made by the first piece
// that uses it. A function of a later piece is looked up when it is called.

import {
  type GeneratedDeclaration,
  type GeneratedFunction,
  type GeneratedLine,
  type GeneratedParts,
  unplaced,
} from './functions.ts';

/** Characters of the functions of a piece (chosen): V8 reads them in 2 ms. */
const A_PIECE = 128 * 1024;

/** The lines of each piece. */
export function inPieces({ head, declarations, functions, states }: GeneratedParts): GeneratedLine[][] {
  const groups = [...grouped(functions), [states]];
  const declarationOf = new Map(declarations.map((each) => [each.name, each]));
  const pieceOf = new Map<string, number>();
  for (const [i, group] of groups.entries()) for (const { name } of group) pieceOf.set(name, i);
  const used = groups.map((group) => namesOf(group, declarationOf));
  const shared = namesOfSeveral(used, pieceOf);
  const made = new Set<string>();

  const declared = ({ name, value }: GeneratedDeclaration): string => {
    const known = made.has(name);
    made.add(name);
    return `const ${name} = ${shared.has(name) ? `S.${name}` : ''}${known ? '' : `${shared.has(name) ? ' = ' : ''}${value}`};`;
  };
  return groups.map((group, i) => {
    const names = [...(used[i] as ReadonlySet<string>)];
    const variables = i > 0 ? [] : declarations.filter(({ value }) => value === null);
    const others = names.filter((name) => (pieceOf.get(name) ?? i) !== i);
    const own = group.filter(({ name }) => shared.has(name));
    const constants = names.map((name) => declarationOf.get(name)).filter((each) => each !== undefined);
    return [
      ...head,
      ...variables.map(({ name }) => unplaced(`S.${name} = null;`)),
      ...others.map((name) => {
        const isMade = (pieceOf.get(name) as number) < i;
        return unplaced(`const ${name} = ${isMade ? `S.${name}` : `(ctx) => S.${name}(ctx)`};`);
      }),
      ...own.map(({ name }) => unplaced(`S.${name} = ${name};`)),
      ...constants.filter(({ value }) => value !== null).map((each) => unplaced(declared(each))),
      ...group.flatMap(({ lines }) => lines),
    ];
  });
}

/** Functions in groups of about A_PIECE characters, in their order. */
function grouped(functions: readonly GeneratedFunction[]): GeneratedFunction[][] {
  const groups: GeneratedFunction[][] = [];
  let size = A_PIECE;
  for (const each of functions) {
    if (size >= A_PIECE) {
      groups.push([]);
      size = 0;
    }
    groups[groups.length - 1]?.push(each);
    for (const { text } of each.lines) size += text.length;
  }
  return groups;
}

/** The names that functions use and those that the values of these use, of what is declared before one that uses it first. */
function namesOf(
  group: readonly GeneratedFunction[],
  declarationOf: ReadonlyMap<string, GeneratedDeclaration>,
): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (name: string): void => {
    if (found.has(name)) return;
    for (const inner of declarationOf.get(name)?.names ?? []) add(inner);
    found.add(name);
  };
  for (const { names } of group) for (const name of names) add(name);
  return found;
}

/** The names that more than one piece uses: that of a function is used where it is, too. */
function namesOfSeveral(
  used: readonly ReadonlySet<string>[],
  pieceOf: ReadonlyMap<string, number>,
): ReadonlySet<string> {
  const first = new Map(pieceOf);
  const several = new Set<string>();
  for (const [i, names] of used.entries()) {
    for (const name of names) {
      const known = first.get(name);
      if (known === undefined) first.set(name, i);
      else if (known !== i) several.add(name);
    }
  }
  return several;
}
