// The helpers of generated code, by name. The code generator binds those a program needs.

import { taskPriv, topPriv } from '../../contract/priv.ts';
import { waiting } from '../../contract/waiting.ts';
import { aclMatch, type PackedAcl, VclAcl } from './acl.ts';
import { backendVariables } from './backend-variables.ts';
import * as actions from './builtin-actions.ts';
import { clientVariables } from './client-variables.ts';
import * as headers from './headers.ts';
import { VclIp } from './ip.ts';
import * as regexes from './regexes.ts';
import * as strings from './string-values.ts';
import { callSub, subValue } from './sub-value.ts';

export const RUNTIME = Object.freeze({
  ...actions,
  ...headers,
  ...regexes,
  ...strings,
  ...clientVariables,
  ...backendVariables,
  aclMatch,
  callSub,
  subValue,
  taskPriv,
  topPriv,
  waiting,
  aclFrom: (name: string, packed: PackedAcl) => new VclAcl(name, packed),
  ipFrom: (text: string, port: number) => new VclIp(text, port),
  sameIp: (a: VclIp, b: VclIp) =>
    a.bytes.length === b.bytes.length && a.bytes.every((x, i) => x === b.bytes[i]),
});

/** Names that generated code may call. */
export type HelperName = keyof typeof RUNTIME;
