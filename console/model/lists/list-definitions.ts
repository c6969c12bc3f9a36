// The table of the list views.

import type { ListViewName } from '../views.ts';
import { BACKENDS_LIST } from './backends-list.ts';
import { BANS_LIST } from './bans-list.ts';
import type { ListDefinition } from './list-definition.ts';
import { PANICS_LIST } from './panics-list.ts';
import { PARAMETERS_LIST } from './parameters-list.ts';
import { PROGRAMS_LIST } from './programs-list.ts';
import { STORAGE_LIST } from './storage-list.ts';
import { TOP_LIST } from './top-list.ts';

export const LIST_DEFINITIONS: readonly ListDefinition[] = [
  BACKENDS_LIST,
  PROGRAMS_LIST,
  PARAMETERS_LIST,
  BANS_LIST,
  STORAGE_LIST,
  TOP_LIST,
  PANICS_LIST,
];

export function listDefinition(view: ListViewName): ListDefinition {
  return LIST_DEFINITIONS.find((d) => d.view === view) as ListDefinition;
}
