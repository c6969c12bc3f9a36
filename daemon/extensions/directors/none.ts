// What counts as no backend at all: an unset value, and a backend that the program declared as `none`.

import type { Director } from '../../vcl/context.ts';

export function isNone(director: Director | null | undefined): director is null | undefined {
  // A backend declared `none` is the one kind of director that backend.list leaves out.
  return director === null || director === undefined || director.listed === undefined;
}
