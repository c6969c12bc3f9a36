// The log record of a failed include: written by the daemon under the tag Error in the transaction of the including
// page or fragment, parsed by the console. The URL is that of the fragment's request, which contains no blanks.

const LEAD = 'ESI include ';

export interface IncludeFailure {
  url: string;
  reason: string;
}

/** `reason` is a text of the log: the FetchError's, or the outcome of the delivery. */
export function includeFailureText({ url, reason }: IncludeFailure): string {
  return `${LEAD}${url}: ${reason}`;
}

/** Null for other texts. */
export function readIncludeFailure(text: string): IncludeFailure | null {
  const colon = text.indexOf(': ', LEAD.length);
  if (!text.startsWith(LEAD) || colon < 0) return null;
  return { url: text.slice(LEAD.length, colon), reason: text.slice(colon + 2) };
}
