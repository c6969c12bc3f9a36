// The built-in extensions, by name.

import type { Extension, ExtensionLookup } from '../contract/extension.ts';
import { accept } from './accept/accept.ts';
import { blob } from './blob/blob.ts';
import { bodyaccess } from './bodyaccess/bodyaccess.ts';
import { cookie } from './cookie/cookie.ts';
import { digest } from './digest/digest.ts';
import { directors } from './directors/directors.ts';
import { dynamic } from './dynamic/dynamic.ts';
import { edge } from './edge/edge.ts';
import { fleet } from './fleet/fleet.ts';
import { geoip2 } from './geoip2/geoip2.ts';
import { goto } from './goto/goto.ts';
import { h2 } from './h2/h2.ts';
import { header } from './header/header.ts';
import { math } from './math/math.ts';
import { paywall } from './paywall/paywall.ts';
import { proxy } from './proxy/proxy.ts';
import { purge, softpurge } from './purge/purge.ts';
import { querystring } from './querystring/querystring.ts';
import { re2 } from './re2/re2.ts';
import { saintmode } from './saintmode/saintmode.ts';
import { std } from './std/std.ts';
import { str } from './str/str.ts';
import { tcp } from './tcp/tcp.ts';
import { tls } from './tls/tls.ts';
import { unix } from './unix/unix.ts';
import { uuid } from './uuid/uuid.ts';
import { variablesExtension } from './var/var.ts';
import { vsthrottle } from './vsthrottle/vsthrottle.ts';
import { vtc } from './vtc/vtc.ts';
import { hashtwo, xkey } from './xkey/xkey.ts';

const ALL: readonly Extension[] = [
  std,
  cookie,
  header,
  str,
  variablesExtension,
  blob,
  math,
  digest,
  uuid,
  bodyaccess,
  directors,
  proxy,
  tls,
  h2,
  unix,
  vsthrottle,
  purge,
  softpurge,
  xkey,
  hashtwo,
  accept,
  saintmode,
  tcp,
  goto,
  vtc,
  edge,
  paywall,
  querystring,
  re2,
  geoip2,
  dynamic,
  fleet,
];

const BUILT_IN: ReadonlyMap<string, Extension> = new Map(ALL.map((e) => [e.name, e]));

export const findExtension: ExtensionLookup = (name) => BUILT_IN.get(name);

export function builtInExtensions(): readonly Extension[] {
  return ALL;
}

export function extensionNames(): readonly string[] {
  return [...BUILT_IN.keys()];
}
