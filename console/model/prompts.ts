// The prompts, one row each: what their text must be, what completes it, and what Enter does with it.

import { quoteWord } from '../../protocol/cli-quoting.ts';
import type { Completion } from './completion.ts';
import type { Controller } from './controller.ts';
import { bareName } from './instance-address.ts';
import { checkParameter } from './parameter-check.ts';
import type { PromptName } from './prompt-names.ts';
import type { QueryCheck } from './query-check.ts';

export interface PromptRow {
  accept(controller: Controller, text: string, subject: string): void;
  check?(text: string, subject: string): QueryCheck;
  /** Completes what the text is a part of: a file's path or an admin command without its first word. */
  completes?: 'file' | 'ban';
}

export const PROMPTS: Readonly<Record<PromptName, PromptRow>> = {
  parameter: {
    accept: (c, text, name) => c.operator.submit(`param.set ${name} ${quoteWord(text.trim())}`),
    check: (text, name) => checkParameter(bareName(name), text),
  },
  ban: { accept: (c, text) => c.operator.submit(`ban ${text.trim()}`), completes: 'ban' },
  'soft-ban': { accept: (c, text) => c.operator.submit(`ban.soft ${text.trim()}`), completes: 'ban' },
  tag: {
    accept: (c, text, header) => c.operator.submit(`ban ${tagCondition(header, text.trim())}`),
    check: (text) => named(text, 'a tag'),
  },
  load: {
    accept: (c, text) => void c.programs.load(text.trim()),
    check: (text) => named(text, 'a file'),
    completes: 'file',
  },
  lint: {
    accept: (c, text) => void c.programs.lint(text.trim()),
    check: (text) => named(text, 'a file'),
    completes: 'file',
  },
  export: {
    accept: (c, text) => void c.exportTo(text.trim()),
    check: (text) => named(text, 'a file'),
    completes: 'file',
  },
};

/** Objects that carry the tag among others in a header. */
export function tagCondition(header: string, tag: string): string {
  const escaped = tag.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return `obj.http.${header} ~ ${quoteWord(`(^|[\\s,])${escaped}($|[\\s,])`)}`;
}

/** Completion of a path; '' is the folder one is in. */
export function fileCompletion(paths: readonly string[], text: string): Completion {
  const from = text.lastIndexOf('/') + 1;
  return {
    from,
    usage: '',
    candidates: paths.map((p) => ({ text: p.slice(p.replace(/\/$/, '').lastIndexOf('/') + 1), help: '' })),
  };
}

function named(text: string, what: string): QueryCheck {
  return text.trim() === ''
    ? { ok: false, from: 0, to: 1, message: `${what} is needed`, expected: [] }
    : { ok: true };
}
