// Parameters of the command line: -p, -t, -l and -r.

import { NoEffect } from '../../params/absent.ts';
import type { Params } from '../../params/parameter-set.ts';
import { ParamError } from '../../params/value.ts';
import { OptionError } from './option-error.ts';
import type { Options } from './options.ts';

/** Applies -p, -t, -l and -r. A parameter of Varnish without meaning here causes a warning and has no effect, so
 * that existing units and scripts keep working. */
export function setParams(
  params: Params,
  options: Options,
  log: (level: 'warning', text: string) => void,
): void {
  for (const { name, value } of options.params) {
    const result = params.set(name, value);
    if (result instanceof ParamError) throw new OptionError(`\n${result.text}`, false);
    if (result instanceof NoEffect) log('warning', `-p ${name}=${value}: ${result.text}`);
  }
  for (const name of options.readOnly) {
    const problem = params.protect(name);
    if (problem !== null) throw new OptionError(`\n${problem}`, false);
  }
}
