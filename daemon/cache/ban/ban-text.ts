// What ban.list answers: one line a ban, or the objects of its JSON form. Only formats.

import type { Ban } from './ban-list.ts';

/** "Present bans:" and a line for each: time, references, C when completed, expression. */
export function banListText(bans: Iterable<Ban>): string {
  let text = 'Present bans:\n';
  for (const ban of bans) {
    const refs = String(ban.refs).padStart(5);
    text += `${ban.time.toFixed(6)} ${refs} ${ban.completed ? 'C' : '-'}  ${specOf(ban)}\n`;
  }
  return text;
}

/** The elements of the JSON answer after its head, each as the field lays it out. */
export function banListJson(bans: Iterable<Ban>): string {
  const items: string[] = [];
  for (const ban of bans) {
    items.push(
      `  {\n    "time": ${ban.time.toFixed(6)},\n    "refs": ${ban.refs},\n    "completed": ${ban.completed},\n    "spec": ${JSON.stringify(specOf(ban))}\n}`,
    );
  }
  return items.join(',\n');
}

/** A completed ban has nothing left to say. */
function specOf(ban: Ban): string {
  return ban.completed ? '' : ban.expression.text;
}
