// The options of automatic certificates: --acme, and those that require it. Pure: the files that they name are read when
// the client is created.

import { isUrl } from '../../acme/acme-messages.ts';
import { OptionError } from './option-error.ts';

/** Settings of automatic certificates on the command line. */
export interface AcmeOptions {
  readonly email: string;
  /** The directory's URL. */
  readonly directory: string;
  readonly eab: ExternalAccountOption | null;
  /** Path of a file. */
  readonly ca: string | null;
}

export type ExternalAccountOption =
  /** Path of a file with kid:key on its first line. */
  { readonly file: string } | ExternalAccountWords;

export interface ExternalAccountWords {
  readonly kid: string;
  /** In base64 or base64url, as authorities give it. */
  readonly key: string;
}

/** The directories of Let's Encrypt. */
const PRODUCTION = 'https://acme-v02.api.letsencrypt.org/directory';
const STAGING = 'https://acme-staging-v02.api.letsencrypt.org/directory';

/** @param given values by option name; null without --acme. Throws OptionError. */
export function parseAcme(given: ReadonlyMap<string, string>): AcmeOptions | null {
  const email = given.get('acme');
  if (email === undefined) {
    const [other] = given.keys();
    if (other === undefined) return null;
    throw new OptionError(`--${other} makes no sense without --acme`);
  }
  // More than one address, or parameters, could stand after a comma or a question mark (RFC 8555 section 7.3).
  if (!/^[^\s@,?]+@[^\s@,?]+$/.test(email)) throw new OptionError(`--acme: "${email}" is not a mail address`);
  return {
    email: email.replace(/^mailto:/i, ''),
    directory: directoryOf(given.get('acme-directory')),
    eab: externalAccountOf(given.get('acme-eab')),
    ca: given.get('acme-ca') ?? null,
  };
}

function directoryOf(text: string | undefined): string {
  if (text === undefined) return PRODUCTION;
  if (text === 'staging') return STAGING;
  if (isUrl(text)) return text;
  throw new OptionError(
    `--acme-directory: "${text}" is neither staging nor a URL with https:// (http:// only on this machine)`,
  );
}

function externalAccountOf(text: string | undefined): ExternalAccountOption | null {
  if (text === undefined) return null;
  if (text.startsWith('@') && text.length > 1) return { file: text.slice(1) };
  // The text is not repeated: it may be the key.
  return externalAccountWords(text, '--acme-eab');
}

/** @param text kid:key @param where for the message. Throws OptionError. */
export function externalAccountWords(text: string, where: string): ExternalAccountWords {
  const at = text.lastIndexOf(':');
  const kid = text.slice(0, Math.max(0, at));
  const key = text.slice(at + 1);
  if (/^[\x21-\x7e]+$/.test(kid) && /^[A-Za-z0-9+/_-]+=*$/.test(key)) return { kid, key };
  throw new OptionError(
    `${where} is not kid:key, with the key in base64url as the authority gives it`,
    false,
  );
}
