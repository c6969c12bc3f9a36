// The same key means the same in every view, but for a table of exceptions.
import { expect, it } from 'vitest';
import { keyGroups } from '../../../console/model/ui/global-keys.ts';
import { KEY_EXCEPTIONS, KEY_MEANINGS } from '../../../console/model/ui/key-meanings.ts';
import { VIEWS } from '../../../console/views/views.ts';

/** Every key with the commands that it has in some place: `scope/view.verb`. */
function commandsByKey(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { scope, rows } of keyGroups(VIEWS))
    for (const { keys, command } of rows)
      for (const key of keys) found.set(key, [...(found.get(key) ?? []), `${scope}/${command}`]);
  return found;
}

const verb = (command: string): string => command.replace(/^.*[./]/, '');

function isException(key: string, command: string): boolean {
  return KEY_EXCEPTIONS.some((row) => row.keys.includes(key) && row.command === command);
}

it('the same key means the same wherever it is no exception', () => {
  const odd: string[] = [];
  for (const [key, commands] of commandsByKey()) {
    const plain = commands.filter((command) => !isException(key, command));
    const verbs = new Set(plain.map(verb));
    const meant = KEY_MEANINGS.find((row) => row.keys.includes(key))?.commands;
    if (verbs.size > 1 && ![...verbs].every((one) => meant?.includes(one)))
      odd.push(`${key}: ${plain.join(', ')}`);
  }
  expect(odd).toEqual([]);
});

it('no exception and no meaning is listed that there is not', () => {
  const all = commandsByKey();
  for (const { keys, command } of KEY_EXCEPTIONS)
    for (const key of keys) {
      expect(all.get(key), `${key} ${command}`).toContain(command);
      // It would be none without another meaning.
      expect(new Set(all.get(key)?.map(verb)).size, key).toBeGreaterThan(1);
    }
  for (const { keys, commands } of KEY_MEANINGS)
    for (const one of commands)
      expect(
        keys.some((key) => all.get(key)?.some((command) => verb(command) === one)),
        `${keys[0]} ${one}`,
      ).toBe(true);
});
