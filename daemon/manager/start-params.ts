// What the command line says about parameters: -p, -t, -l and -r.

import { ABSENT_FEATURES, ABSENT_PARAMS } from '../../protocol/tables/params.ts';
import type { Params } from '../params/params.ts';
import { ParamError } from '../params/value.ts';
import { OptionError } from './option-error.ts';
import type { Options } from './options.ts';

/** -p, -t, -l and -r. A foreign parameter without meaning here is told and passed over, so that units and
 * scripts written for another proxy still start this one. */
export function setParams(
  params: Params,
  options: Options,
  log: (level: 'warning', text: string) => void,
): void {
  for (const { name, value } of options.params) {
    if (Object.hasOwn(ABSENT_PARAMS, name)) {
      log('warning', `-p ${name} is ignored: ${ABSENT_PARAMS[name]}`);
      continue;
    }
    const result = params.set(name, name === 'feature' ? knownFeatures(value, log) : value);
    if (result instanceof ParamError) throw new OptionError(`\n${result.text}`, false);
  }
  for (const name of options.readOnly) {
    if (!params.protect(name) && !Object.hasOwn(ABSENT_PARAMS, name)) {
      throw new OptionError(`\nUnknown parameter ${name}`, false);
    }
  }
}

/** A value of -p feature without what is absent here: units of other proxies come with it. */
function knownFeatures(value: string, log: (level: 'warning', text: string) => void): string {
  const kept = value.split(/[,\s]+/).filter((word) => {
    const reason = ABSENT_FEATURES[word.slice(1)];
    if (reason !== undefined) log('warning', `-p feature=${word} is ignored: ${reason}`);
    return reason === undefined;
  });
  return kept.join(',');
}
