// Formats the answer of ban.list: one line a ban, or the objects of its JSON form.

import type { Ban } from './ban.ts';

/** Objects that name a ban, by the handles that stand for addresses; null unless the lurker is debugged. */
export type ObjectsOf = ((ban: Ban) => readonly number[]) | null;

/** "Present bans:" and a line for each: time, references, C when completed, S when soft, expression. */
export function* banLines(bans: Iterable<Ban>, objectsOf: ObjectsOf = null): Generator<string> {
  yield 'Present bans:\n';
  for (const ban of bans) {
    const refs = String(ban.refs).padStart(5);
    const completed = ban.completed ? 'C' : '-';
    const begin = `${ban.time.toFixed(6)} ${refs} ${completed}`;
    if (objectsOf === null) {
      yield `${begin}${ban.soft ? 'S' : ' '} ${specOf(ban)}\n`;
      continue;
    }
    yield `${begin}${usesRequest(ban)}${usesObject(ban)} ${pointer(ban.number)} ${ban.soft ? 'S' : ' '} ${specOf(ban)}\n`;
    for (const oc of objectsOf(ban)) yield `  oc = ${pointer(oc)}\n`;
  }
}

function usesRequest(ban: Ban): string {
  return ban.expression.usesRequest ? 'R' : '-';
}

function usesObject(ban: Ban): string {
  return ban.expression.usesObject ? 'O' : '-';
}

function pointer(number: number): string {
  return `0x${number.toString(16).padStart(12, '0')}`;
}

/** The elements of the JSON answer after its head, each as Varnish lays it out; a comma and a line end come between. */
export function* banElements(bans: Iterable<Ban>, objectsOf: ObjectsOf = null): Generator<string> {
  for (const ban of bans) {
    let more = ban.soft ? ',\n    "soft": true' : '';
    if (objectsOf !== null) {
      const objects = objectsOf(ban).map((oc) => `      ${pointer(oc)}`);
      more += `,\n    "req_tests": ${usesRequest(ban) === 'R'},\n    "obj_tests": ${usesObject(ban) === 'O'}`;
      more += `,\n    "pointer": "${pointer(ban.number)}",\n    "objcores": [\n${objects.length === 0 ? '    ' : objects.join(',\n')}\n]`;
    }
    yield `  {\n    "time": ${ban.time.toFixed(6)},\n    "refs": ${ban.refs},\n    "completed": ${ban.completed},\n    "spec": ${JSON.stringify(specOf(ban))}${more}\n}`;
  }
}

/** A completed ban has nothing left to say. */
function specOf(ban: Ban): string {
  return ban.completed ? '' : ban.expression.text;
}
