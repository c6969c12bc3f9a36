// What can be done with the row under the cursor, in whatever view: ban what it stands for, purge exactly that, and the
// view's own keys for a row. A purge is a ban on that one thing: it reaches the fleet and the edge, and needs nothing of
// the program, while a request with the method PURGE is for the program to understand or to send on.

import { complete } from './completion.ts';
import type { Controller } from './controller.ts';
import type { FieldKind } from './field.ts';
import { type KeyRow, keyLabels } from './key-row.ts';
import type { Choice } from './panel.ts';
import { pageOf, refetchRow, sentName } from './refetch.ts';
import { banOf, type Subject, subjectRow, subjectsOf } from './row-subject.ts';

/** Completes a condition as the command line does after the command. */
function banPrompt(command: string): FieldKind {
  return {
    kind: 'prompt',
    changes: true,
    complete: (c, line) => {
      const before = 'ban ';
      const found = complete(before + line.text, line.cursor + before.length, c.fields.tables());
      return { ...found, from: found.from - before.length };
    },
    accept: (c, text) => c.operator.submit(`${command} ${text.trim()}`),
  };
}

/** The condition can be changed before what it hits is counted. Without a row it is to be written. */
export function banRow(c: Controller): void {
  promptBan(c, 'ban');
}

/** The same, but what it hits is kept for its grace. */
export function banRowSoftly(c: Controller): void {
  promptBan(c, 'ban.soft');
}

function promptBan(c: Controller, command: string) {
  if (c.operator.lacks(command)) return c.operator.submit(command);
  const subject = subjectsOf(c).find((one) => banOf(one) !== '');
  c.fields.prompt(banPrompt(command), command, '', subject === undefined ? '' : banOf(subject));
}

/** Counts what the row stands for, and asks. */
export function purgeRow(c: Controller) {
  const [first, ...more] = subjectsOf(c);
  if (first === undefined)
    return c.notify('warn', 'nothing is selected that stands for something in the cache');
  const subject = [first, ...more].find((one) => banOf(one) !== '');
  if (subject !== undefined) return c.operator.submit(`ban ${banOf(subject)}`);
  c.notify('warn', `${subjectRow(first).words(first)}: ${subjectRow(first).without}`);
}

/** All of it as choices, each with its key. */
export function rowMenu(c: Controller) {
  const { view } = c.state;
  if (!view.hasRow(c)) return c.notify('warn', 'nothing is selected');
  const subjects = subjectsOf(c);
  const keys = c.keymap.rowKeys(view).filter(({ gives }) => gives === undefined || c.operator.offers(gives));
  const actions = c.operator.offers('ban') ? subjectChoices(subjects) : [];
  const choices = [...actions, ...keys.map(keyChoice)];
  if (choices.length === 0) return c.notify('warn', 'there is nothing to do with a row here');
  const [first] = subjects;
  const title = first === undefined ? view.title : subjectRow(first).words(first);
  c.set({ panel: { kind: 'choices', scroll: 0, title, choices }, notice: null });
}

function keyChoice({ help, keys, run }: KeyRow): Choice {
  return { label: help, note: keyLabels(keys)[0] ?? '', take: run };
}

function subjectChoices(subjects: readonly Subject[]): Choice[] {
  const there = subjects.filter((one) => banOf(one) !== '');
  if (there.length === 0) return [];
  const purges = there.map(
    (subject, i): Choice => ({
      label: `Purge ${subjectRow(subject).words(subject)}`,
      note: i === 0 ? 'p' : '',
      take: (c) => c.operator.submit(`ban ${banOf(subject)}`),
    }),
  );
  const page = pageOf(subjects);
  const pages: Choice[] =
    page === undefined
      ? []
      : [
          {
            label: `Refetch ${sentName(page)}, before and after`,
            note: 'R',
            take: (c) => void refetchRow(c),
          },
        ];
  return [
    ...purges,
    ...pages,
    { label: 'Ban it by a condition that can be changed', note: 'b', take: banRow },
  ];
}
