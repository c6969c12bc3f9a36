// The standard extension: every function of vmod_std(3) in 7.1 to 9.0.

import type { Extension } from '../../contract/extension.ts';
import { controlFunctions } from './control.ts';
import { conversionFunctions } from './conversions.ts';
import { fileFunctions } from './files.ts';
import { stringFunctions } from './strings.ts';

export const std: Extension = {
  name: 'std',
  help: 'the standard library',
  functions: { ...stringFunctions, ...conversionFunctions, ...fileFunctions, ...controlFunctions },
};
