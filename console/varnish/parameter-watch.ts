// Notices parameters that were set, by anybody, from the table of all of them: their changes are nowhere in Varnish's log.

export class ParameterWatch {
  private before: ReadonlyMap<string, string> | null = null;

  /** Takes an answer to `param.show`; returns a line for each that is not as it was. */
  changes(body: string): string[] {
    const now = new Map<string, string>();
    for (const line of body.split('\n')) {
      const [, name, value] = /^(\w+)\s+(.*?)(?:\s+\(default\))?\s*$/.exec(line) ?? [];
      if (name !== undefined && value !== undefined) now.set(name, value);
    }
    const { before } = this;
    if (now.size === 0) return [];
    this.before = now;
    return [...now].flatMap(([name, value]) => {
      const was = before?.get(name);
      return was === undefined || was === value ? [] : [`${name} ${value} (was ${was})`];
    });
  }
}
