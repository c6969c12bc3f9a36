// The extensions that are built in, by name.

import { cookie } from './cookie/cookie.ts';
import type { Extension, ExtensionLookup } from './extension.ts';
import { header } from './header/header.ts';
import { std } from './std/std.ts';
import { str } from './str/str.ts';
import { variablesExtension } from './var/var.ts';

const ALL: readonly Extension[] = [
  std,
  cookie,
  header,
  str,
  variablesExtension,
];

const BUILT_IN: ReadonlyMap<string, Extension> = new Map(ALL.map((e) => [e.name, e]));

export const findExtension: ExtensionLookup = (name) => BUILT_IN.get(name);

export function extensionNames(): readonly string[] {
  return [...BUILT_IN.keys()];
}
