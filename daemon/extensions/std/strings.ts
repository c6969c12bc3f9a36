// std functions on strings and header fields.

import type { VclContext } from '../../vcl/context.ts';
import { querysort } from '../../vcl/runtime/actions.ts';
import { softFail } from '../../vcl/runtime/failure.ts';
import { fnmatch } from '../../vcl/runtime/fnmatch.ts';
import { type HeaderRef, http_obj, setHeader } from '../../vcl/runtime/headers.ts';
import { lowerCase, upperCase } from '../../vcl/runtime/strings.ts';
import type { ExtensionFunction } from '../extension.ts';
import { strftime } from './strftime.ts';

export const stringFunctions: Record<string, ExtensionFunction> = {
  toupper: {
    signature: 'STRING toupper(STRING s)',
    call: (_c, s: string | null) => upperCase(s),
  },
  tolower: {
    signature: 'STRING tolower(STRING s)',
    call: (_c, s: string | null) => lowerCase(s),
  },
  strstr: {
    signature: 'STRING strstr(STRING s1, STRING s2)',
    call: (_c, a: string | null, b: string | null) => {
      if (a === null || b === null) return null;
      const at = a.indexOf(b);
      return at < 0 ? null : a.slice(at);
    },
  },
  querysort: { signature: 'STRING querysort(STRING)', call: querysort },
  collect: {
    signature: 'VOID collect(HEADER hdr, STRING sep=", ")',
    call: (ctx: VclContext, hdr: HeaderRef, sep: string | null) => {
      if (ctx.req?.obj != null && hdr.http === http_obj(ctx)) {
        softFail(ctx, 'std.collect(): header argument is immutable');
        return;
      }
      const key = hdr.name.toLowerCase();
      const values: string[] = [];
      for (let i = 0; i < hdr.http.n; i++) if (hdr.http.keys[i] === key) values.push(hdr.http.valueAt(i));
      if (values.length > 1) setHeader(hdr.http, hdr.name, values.join(sep ?? ', '));
    },
  },
  fnmatch: {
    signature:
      'BOOL fnmatch(STRING pattern, STRING subject, BOOL pathname=1, BOOL noescape=0, BOOL period=0)',
    call: (
      ctx,
      p: string | null,
      s: string | null,
      pathname: boolean,
      noescape: boolean,
      period: boolean,
    ) => {
      if (p === null || s === null) {
        softFail(ctx, `std.fnmatch(): ${p === null ? 'pattern' : 'subject'} is NULL`);
        return false;
      }
      return fnmatch(p, s, pathname, noescape, period);
    },
  },
  strftime: {
    signature: 'STRING strftime(TIME time, STRING format)',
    call: (_c, t: number, format: string | null) => strftime(t, format ?? ''),
  },
};
