// The record that a page's log has of an include that failed: written by the daemon under the tag Error in the
// transaction of the page (or of the fragment) that includes it, read by the console. The URL is that of the
// fragment's request, in which no blank can stand.

const LEAD = 'ESI include ';

export interface IncludeFailure {
  url: string;
  reason: string;
}

/** `reason` is a text of the log: that of the FetchError, or what became of the delivery. */
export function includeFailureText({ url, reason }: IncludeFailure): string {
  return `${LEAD}${url}: ${reason}`;
}

/** Null when the record says something else. */
export function readIncludeFailure(text: string): IncludeFailure | null {
  const colon = text.indexOf(': ', LEAD.length);
  if (!text.startsWith(LEAD) || colon < 0) return null;
  return { url: text.slice(LEAD.length, colon), reason: text.slice(colon + 2) };
}
