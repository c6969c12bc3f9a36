// Subjects of rows, as a table: in words, and the ban that hits exactly the subject, or why there is none. A ban sees
// what a lookup sees: URL and host as changed by the program, and the stored response.

import { quoteWord } from '../../../protocol/cli-quoting.ts';

export interface Subject {
  kind: SubjectKind;
  /** The URL, the tag, the address. */
  key: string;
  /** Of a URL its host, of a tag its header; '' for any. */
  of: string;
  /** As long as a log record may be: the full URL may be longer. */
  isCut?: boolean;
  /** URL and host as a client sends them, where the program may change them. */
  sent?: { url: string; host: string };
}

export interface SubjectRow {
  /** For documentation. */
  title: string;
  words(subject: Subject): string;
  /** The condition; null, with the reason for the operator in `without`. */
  ban: ((subject: Subject) => string) | null;
  without: string;
}

export const SUBJECTS = {
  url: {
    title: 'a URL, of its host where that is known',
    words: ({ key, of, isCut = false }) =>
      `${isCut ? 'URLs that begin with ' : ''}${of === '' ? `${key} on every host` : `${of}${key}`}`,
    ban: ({ key, of, isCut = false }) =>
      onHost(of, isCut ? `req.url ~ ${quoteWord(`^${escaped(key)}`)}` : `req.url == ${quoteWord(key)}`),
    without: '',
  },
  path: {
    title: 'a path of a host, with any query string',
    words: ({ key, of }) => `${of}${key} with any query string`,
    ban: ({ key, of, isCut = false }) =>
      onHost(of, `req.url ~ ${quoteWord(`^${escaped(key)}${isCut ? '' : '([?#]|$)'}`)}`),
    without: '',
  },
  prefix: {
    title: 'a path prefix',
    words: ({ key }) => (key === '/' ? 'the top level' : `all below ${key}`),
    ban: ({ key }) => `req.url ~ ${quoteWord(key === '/' ? '^/[^/]*([?#]|$)' : `^${escaped(key)}`)}`,
    without: '',
  },
  rewritten: {
    title: 'a path prefix that the VCL rewrites',
    words: ({ key }) => `all below ${key}`,
    ban: null,
    without: 'the VCL rewrites this path: purge its URLs instead',
  },
  host: {
    title: 'a host',
    words: ({ key }) => `all of ${key}`,
    ban: ({ key }) => `req.http.host == ${quoteWord(key)}`,
    without: '',
  },
  status: {
    title: 'a status',
    words: ({ key }) => `all objects with status ${key}`,
    ban: ({ key }) => `obj.status == ${quoteWord(key)}`,
    without: '',
  },
  tag: {
    title: 'a tag (surrogate key)',
    words: ({ key, of }) => `all with the tag ${key} in ${of}`,
    ban: ({ key, of }) => tagCondition(of, key),
    without: '',
  },
  ban: {
    title: 'an active ban',
    words: ({ key }) => `the ban ${key}`,
    ban: null,
    without: 'already in force',
  },
  client: {
    title: 'a client, its network, its X-Forwarded-For',
    words: ({ key }) => `the client ${key}`,
    ban: null,
    without: 'cannot purge by client',
  },
  agent: {
    title: 'a user agent',
    words: ({ key }) => `the agent ${key}`,
    ban: null,
    without: 'cannot purge by user agent',
  },
  method: {
    title: 'a method',
    words: ({ key }) => `the method ${key}`,
    ban: null,
    without: 'cannot purge by method',
  },
  backend: {
    title: 'a backend or director',
    words: ({ key }) => `the backend ${key}`,
    ban: null,
    without: 'cannot purge by backend',
  },
} as const satisfies Record<string, SubjectRow>;
export type SubjectKind = keyof typeof SUBJECTS;

export function subjectRow(subject: Subject): SubjectRow {
  return SUBJECTS[subject.kind];
}

/** The condition that hits the subject; '' without one. */
export function banOf(subject: Subject): string {
  return subjectRow(subject).ban?.(subject) ?? '';
}

/** Objects that carry the tag among others in a header. */
export function tagCondition(header: string, tag: string): string {
  return `obj.http.${header} ~ ${quoteWord(`(^|[\\s,])${escaped(tag)}($|[\\s,])`)}`;
}

/** A condition with its host last, before who gave it: on a narrow screen the beginning should differ. */
export function hostLast(condition: string): string {
  return condition.replace(/^req\.http\.host == (\S+) && (.*?)( \(by .*\))?$/s, '$2 on $1$3');
}

function onHost(host: string, condition: string): string {
  return host === '' ? condition : `req.http.host == ${quoteWord(host)} && ${condition}`;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
