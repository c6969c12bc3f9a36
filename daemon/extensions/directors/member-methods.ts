// The methods of directors whose members have no weight and which choose when the fetch begins.

import type { Director } from '../../contract/context.ts';
import type { ExtensionMethod } from '../../contract/extension.ts';
import type { MemberDirector } from './member-director.ts';

export const removeBackend: ExtensionMethod = {
  signature: 'VOID remove_backend(BACKEND)',
  help: 'Removes a member.',
  call: (_ctx, self: MemberDirector, be: Director | null) => self.remove(be),
};

export const lazyBackend: ExtensionMethod = {
  signature: 'BACKEND backend()',
  help: 'The director, for req.backend_hint or bereq.backend.',
  call: (_ctx, self: MemberDirector) => self,
};

export const memberMethods: Readonly<Record<string, ExtensionMethod>> = {
  add_backend: {
    signature: 'VOID add_backend(BACKEND)',
    help: 'Adds a member.',
    call: (_ctx, self: MemberDirector, be: Director | null) => self.add(be),
  },
  remove_backend: removeBackend,
  backend: lazyBackend,
};
