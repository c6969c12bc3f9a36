// Actions on the row under the cursor, in any view: ban its subject, purge exactly that, refetch its page, and the view's own
// keys for a row. A purge is a ban on that one thing: it reaches the fleet and the edge, and needs nothing of the program,
// while a request with the method PURGE is for the program to understand or to send on.

import { longestRecord } from '../session/parameter-value.ts';
import { complete } from './completion.ts';
import type { FieldKind } from './field.ts';
import { keyLabels } from './keymap.ts';
import { completionTables } from './palette.ts';
import { type Choice, choicePanel } from './panel.ts';
import { pageOf, refetchPage, sentName } from './refetch.ts';
import { banOf, type Subject, subjectRow } from './row-subject.ts';
import type { ViewContext } from './view.ts';

/** The subjects of the row under the cursor, the narrowest first. */
export function subjectsOf(c: ViewContext): readonly Subject[] {
  const subjects = c.view.subjects?.(c) ?? [];
  const longest = longestRecord(c.session.admin);
  return subjects.map((one) => ({ ...one, isCut: Buffer.byteLength(one.key) >= longest }));
}

/** Completes a condition as the command line does. */
function banPrompt(c: ViewContext, command: string): FieldKind {
  return {
    kind: 'prompt',
    changes: true,
    complete: (line) => {
      const before = 'ban ';
      const found = complete(before + line.text, line.cursor + before.length, completionTables(c));
      return { ...found, from: found.from - before.length };
    },
    accept: (text) => c.operator.submit(`${command} ${text.trim()}`),
  };
}

/** Opens the condition for editing before the count; without a row it is empty. */
export function banRow(c: ViewContext): void {
  promptBan(c, 'ban');
}

/** The same with ban.soft: objects are kept for their grace. */
export function banRowSoftly(c: ViewContext): void {
  promptBan(c, 'ban.soft');
}

function promptBan(c: ViewContext, command: string) {
  if (c.operator.lacks(command)) return c.operator.submit(command);
  const subject = subjectsOf(c).find((one) => banOf(one) !== '');
  c.fields.prompt(banPrompt(c, command), command, '', subject === undefined ? '' : banOf(subject));
}

/** Counts the objects of the row, and asks. */
export function purgeRow(c: ViewContext) {
  const marked = c.view.markedSubjects(c);
  if (marked.length > 0) return purgeMarked(c, marked);
  const [first, ...more] = subjectsOf(c);
  if (first === undefined) return c.ui.notify('warn', 'nothing selected that can be purged');
  const subject = [first, ...more].find((one) => banOf(one) !== '');
  if (subject !== undefined) return c.operator.submit(`ban ${banOf(subject)}`);
  c.ui.notify('warn', `${subjectRow(first).words(first)}: ${subjectRow(first).without}`);
}

/** All or none: rows that no ban can hit are named instead. */
function purgeMarked(c: ViewContext, marked: readonly (readonly Subject[])[]): void {
  const longest = longestRecord(c.session.admin);
  const lines = marked.map((subjects) => {
    const whole = subjects.map((one) => ({ ...one, isCut: Buffer.byteLength(one.key) >= longest }));
    const subject = whole.find((one) => banOf(one) !== '');
    return subject === undefined ? null : `ban ${banOf(subject)}`;
  });
  const without = marked[lines.indexOf(null)];
  if (without === undefined) return void c.operator.submitAll(lines.filter((line) => line !== null));
  const [first] = without;
  const why =
    first === undefined
      ? 'a marked row cannot be purged'
      : `${subjectRow(first).words(first)}: ${subjectRow(first).without}`;
  c.ui.notify('warn', `nothing purged: ${why}`);
}

/** All actions as choices, each with its key. */
export function rowMenu(c: ViewContext) {
  const { view } = c;
  if (!view.hasRow(c)) return c.ui.notify('warn', 'nothing is selected');
  const subjects = subjectsOf(c);
  const keys = c.keymap
    .rowKeys(view.name)
    .filter(({ gives }) => gives === undefined || c.operator.offers(gives));
  const actions = c.operator.offers('ban') ? subjectChoices(c, subjects) : [];
  const own = keys.map(
    ({ help, keys, run }): Choice => ({ label: help, note: keyLabels(keys)[0] ?? '', take: () => run(c) }),
  );
  const choices = [...actions, ...own];
  if (choices.length === 0) return c.ui.notify('warn', 'rows of this view have no actions');
  const [first] = subjects;
  const title = first === undefined ? view.title : subjectRow(first).words(first);
  c.ui.set({ panel: choicePanel(title, choices), notice: null });
}

function subjectChoices(c: ViewContext, subjects: readonly Subject[]): Choice[] {
  const there = subjects.filter((one) => banOf(one) !== '');
  if (there.length === 0) return [];
  const purges = there.map(
    (subject, i): Choice => ({
      label: `Purge ${subjectRow(subject).words(subject)}`,
      note: i === 0 ? 'p' : '',
      take: () => c.operator.submit(`ban ${banOf(subject)}`),
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
            take: () => void refetchPage(c, page),
          },
        ];
  return [
    ...purges,
    ...pages,
    { label: 'Ban it by a condition that can be changed', note: 'b', take: () => banRow(c) },
  ];
}

export function refetchRow(c: ViewContext): Promise<void> {
  return refetchPage(c, pageOf(subjectsOf(c)));
}
