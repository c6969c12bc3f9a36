// The body of proxy-tls(7): the pages on listeners, origins and automatic certificates, with the keys of the file of -A in
// the place that the first one marks.

import { TLS_FILE_KEYS, type TlsKeyPlace } from '../../protocol/tables/tls-file-keys.ts';
import { markdown } from './markdown.ts';
import { heading, item, joined } from './roff.ts';

/** Where the keys stand in the page on listeners. */
const KEYS =
  '<!-- The keys are generated from protocol/tables/tls-file-keys.ts, and follow here in proxy-tls(7). -->';

const WHERE: Readonly<Record<TlsKeyPlace, string>> = {
  top: 'at the top',
  frontend: 'in frontend',
  certificate: 'in pem-file',
};

/** @param pages in Markdown without their titles, that on listeners first */
export function tlsPage([listeners = '', ...others]: readonly string[]): string {
  const [before, after, ...more] = listeners.split(KEYS);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`The page on listeners needs this line once: ${KEYS}`);
  const keys = TLS_FILE_KEYS.map(({ name, argument, places, help }) =>
    item(name, `= ${argument}`, `${help} (${places.map((place) => WHERE[place]).join(', ')})`),
  );
  return joined([
    heading('description'),
    markdown(before),
    keys.join(''),
    markdown(after),
    ...others.map((page) => markdown(page)),
  ]);
}
