// Carries out a text of commands: each actor has a table of its own commands besides those that everybody has.

import { readFile } from 'node:fs/promises';
import type { Actor, Commands } from './actor.ts';
import { readInteger, ScriptError, ScriptReader, type Spec, Words } from './script.ts';

/** Runs until the end, a failure or a stop. */
export async function runSpec<A extends Actor>(actor: A, spec: Spec, commands: Commands<A>): Promise<void> {
  const reader = new ScriptReader(spec);
  for (;;) {
    actor.check();
    try {
      actor.place = { file: spec.file, line: reader.line };
      const command = reader.next();
      if (command === null) return;
      actor.place = { file: spec.file, line: command.line };
      actor.log(2, `=== ${command.shown}`);
      const expanded = command.words.map(({ text, line }) => ({ text: actor.stage.expand(text), line }));
      const words = new Words(expanded, spec.file, command.line);
      if (words.name === 'include') await include(actor, words, commands);
      else if (words.name === 'loop') await loop(actor, words, commands);
      else {
        const run = own(commands, words.name) ?? own(actor.stage.everybody, words.name);
        if (run === undefined) actor.fail(`unknown command: "${words.name}"`);
        await run(actor, words);
      }
    } catch (cause) {
      if (cause instanceof ScriptError) actor.fail(cause.message);
      throw cause;
    }
  }
}

function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

async function include<A extends Actor>(actor: A, words: Words, commands: Commands<A>): Promise<void> {
  while (!words.isDone) {
    const file = words.take('file');
    const text = await readFile(actor.stage.path(file), 'latin1').catch((cause: Error) =>
      actor.fail(`cannot include '${file}': ${cause.message}`),
    );
    await runSpec(actor, { text, file, line: 1 }, commands);
  }
}

async function loop<A extends Actor>(actor: A, words: Words, commands: Commands<A>): Promise<void> {
  const count = readInteger(words.take('number of rounds'));
  const spec = words.takeSpec('commands');
  for (let i = 0; i < count; i++) await runSpec(actor, spec, commands);
}
