// What a row of a ranking stands for: itself first, then what is wider. A URL is one of a host: the one that was asked last.

import type { RankingName } from '../../model/rankings.ts';
import type { Subject, SubjectKind } from '../../model/row-subject.ts';

type Stands = (key: string, host: string) => readonly Subject[];

const one =
  (kind: SubjectKind): Stands =>
  (key) => [{ kind, key, of: '' }];

const url: Stands = (key, of) => [
  { kind: 'url', key, of },
  ...(of === '' ? [] : [{ kind: 'url', key, of: '' } as const]),
];

export const STANDS_FOR: Readonly<Record<RankingName, Stands>> = {
  url,
  fragment: url,
  page: (key) => {
    const slash = key.indexOf('/');
    return [{ kind: 'path', key: key.slice(slash), of: key.slice(0, slash) }];
  },
  prefix: one('prefix'),
  host: one('host'),
  status: one('status'),
  client: one('client'),
  network: one('client'),
  forwarded: one('client'),
  agent: one('agent'),
  method: one('method'),
  backend: one('backend'),
};
