// A statement of the public notes of a release of Varnish, with its tests or the reason for having none.

/** A file below test/, and a text of it that names the test. */
type Place = readonly [file: string, text: string];

export interface NoteRow {
  /** `8.0`: changes-8.0 and changes.rst; `8.0.1`: changes.rst; `9.0`: changes-9.0 and upgrading-9.0; others alike. */
  readonly note: '7.2' | '7.3' | '7.4' | '7.5' | '7.6' | '7.7' | '8.0' | '8.0.1' | '9.0';
  readonly says: string;
  readonly tests: readonly Place[];
  /** The reason for no test. */
  readonly reason?: string;
}

export const tested = (note: NoteRow['note'], says: string, ...tests: Place[]): NoteRow => ({
  note,
  says,
  tests,
});

export const not = (note: NoteRow['note'], says: string, reason: string): NoteRow => ({
  note,
  says,
  tests: [],
  reason,
});

export const NO_C = 'There is no C interface.';
export const NO_VARNISHTEST = 'varnishtest is not part of the daemon; proxytest has tests of its own.';
