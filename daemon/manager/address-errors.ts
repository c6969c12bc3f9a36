// What is said when an address of the command line cannot be had: Varnish's words for what the system reports.

import { OptionError } from './option-error.ts';

/** The complaint about a host without an address; null for anything else. */
export function unresolved(flag: string, cause: unknown): OptionError | null {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== 'ENOTFOUND' && code !== 'EAI_AGAIN') return null;
  return new OptionError(`Could not resolve ${flag} argument to address\n\tName or service not known`);
}
