// The extensions that are built in, by name.

import type { Extension, ExtensionLookup } from './extension.ts';
import { std } from './std/std.ts';

const BUILT_IN: ReadonlyMap<string, Extension> = new Map([std].map((e) => [e.name, e]));

export const findExtension: ExtensionLookup = (name) => BUILT_IN.get(name);
