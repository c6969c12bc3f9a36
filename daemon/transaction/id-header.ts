// The header of transaction ids (parameter id_header) in the forms that its writers need; made again when its name
// changes, so that a delivery copies what is ready.

/** One name of it. */
export class IdHeader {
  readonly name: string;
  /** The name as fields of a message are found by it. */
  readonly key: string;
  /** The line up to its value. */
  readonly start: string;
  /** Since when it has this name, in epoch seconds; 0 from the beginning. An object from before may have come with a
   * field of the name, which a delivery takes away. */
  readonly since: number;

  constructor(name: string, since: number) {
    this.name = name;
    this.key = name.toLowerCase();
    this.start = `${name}: `;
    this.since = since;
  }
}
