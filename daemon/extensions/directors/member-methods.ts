// The methods of directors whose members have no weight and which choose when the fetch begins.

import type { Director } from '../../contract/context.ts';
import { byName, row } from '../extension-rows.ts';
import type { MemberDirector } from './member-director.ts';

export const removeBackend = row(
  'VOID remove_backend(BACKEND)',
  (_ctx, self: MemberDirector, be: Director | null) => self.remove(be),
  'Removes a member.',
);

export const lazyBackend = row(
  'BACKEND backend()',
  (_ctx, self: MemberDirector) => self,
  'The director, for req.backend_hint or bereq.backend.',
);

// biome-ignore format: a row is a line
export const memberMethods = byName(
  row('VOID add_backend(BACKEND)', (_ctx, self: MemberDirector, be: Director | null) => self.add(be), 'Adds a member.'),
  removeBackend,
  lazyBackend,
);
