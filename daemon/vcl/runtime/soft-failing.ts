// Helpers that may fail the task (softFail of failure.ts) and still give a value, so that generated code asks after the
// statement whether it is to go on. The others throw, or cannot fail. The compiler reads this without the helpers.

import type { HelperName } from './table.ts';

export const SOFT_FAILING: ReadonlySet<HelperName> = new Set<HelperName>([
  'set_resp_status',
  'set_beresp_status',
  'get_resp_do_esi',
  'set_resp_do_esi',
  'get_beresp_do_esi',
  'set_beresp_do_esi',
  'get_beresp_do_gzip',
  'set_beresp_do_gzip',
  'get_beresp_do_gunzip',
  'set_beresp_do_gunzip',
]);
