// The console's own commands for the palette, one row each: completion, help and documentation read them. An admin
// command of the same name would be hidden, so the names are the console's own.

import { VIEWS } from './views.ts';

export interface PaletteRow {
  name: string;
  syntax: string;
  help: string;
}

const PALETTE = [
  { name: 'ctx', syntax: 'ctx [<name>]', help: 'Change to another instance, or choose one.' },
  { name: 'merge', syntax: 'merge <name> <name>', help: 'Show two instances as one.' },
  { name: 'query', syntax: 'query <query>', help: 'Set the query of the log view.' },
  { name: 'query.save', syntax: 'query.save <name>', help: 'Keep the query of the log view under a name.' },
  { name: 'query.use', syntax: 'query.use <name>', help: 'Use a saved query.' },
  { name: 'query.drop', syntax: 'query.drop <name>', help: 'Forget a saved query.' },
  { name: 'export', syntax: 'export <file>', help: 'Write what the view shows: text, or NDJSON for .json.' },
  { name: 'record', syntax: 'record <file>', help: 'Record this session; once more without a file ends it.' },
  {
    name: 'seek',
    syntax: 'seek <seconds>',
    help: 'In a recording: go to so many seconds from its beginning.',
  },
  { name: 'undo', syntax: 'undo', help: 'Undo the last change that can be undone.' },
  { name: 'q', syntax: 'q', help: 'Leave the console; the daemon runs on.' },
  ...VIEWS.map((v) => ({ name: v.name, syntax: v.name, help: `Show the view ${v.title}.` })),
] as const satisfies readonly PaletteRow[];

export const PALETTE_ROWS: readonly PaletteRow[] = PALETTE;
