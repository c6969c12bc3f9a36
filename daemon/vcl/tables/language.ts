// All tables of the language in one object, for the manual; the compiler reads each where it needs it.

import { BACKEND_FIELDS, PROBE_FIELDS } from './field-rows.ts';
import { FUNCTIONS } from './function-rows.ts';
import { LIMITS } from './limit-rows.ts';
import { ARITHMETIC, ASSIGNABLE, COMPARABLE, OPERATORS } from './operator-rows.ts';
import { BYTE_UNIT_ROWS, MEMBERS, TIME_UNIT_ROWS, TYPES } from './type-rows.ts';
import { ACL_FLAGS, DECLARATIONS, INCLUDE_FLAGS, STATEMENTS } from './word-rows.ts';

export const LANGUAGE = {
  declarations: DECLARATIONS,
  statements: STATEMENTS,
  aclFlags: ACL_FLAGS,
  includeFlags: INCLUDE_FLAGS,
  backendFields: BACKEND_FIELDS,
  probeFields: PROBE_FIELDS,
  types: TYPES,
  byteUnits: BYTE_UNIT_ROWS,
  timeUnits: TIME_UNIT_ROWS,
  members: MEMBERS,
  operators: OPERATORS,
  arithmetic: ARITHMETIC,
  comparable: COMPARABLE,
  assignable: ASSIGNABLE,
  functions: FUNCTIONS,
  limits: LIMITS,
};
