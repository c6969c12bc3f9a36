// Detects parameter changes by anybody, from the full table: Varnish does not log them.

export class ParameterWatch {
  private before: ReadonlyMap<string, string> | null = null;

  /** Takes a reply to `param.show`; returns a line for each changed parameter. */
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
