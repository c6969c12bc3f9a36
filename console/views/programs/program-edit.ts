// A program's source in the operator's editor. A file that is there as it was compiled is edited where it is; a text that
// is nowhere on this machine, such as one that came inline or of a daemon elsewhere, as a copy. What was edited is checked,
// loaded under a name of its own, and compared with the active program before it is used. Nothing typed is lost: a text
// that does not compile is offered for editing again, and its place is named.

import type { Controller } from '../../model/controller.ts';
import { bareName, placeOfName } from '../../model/instance-address.ts';
import type { Choice } from '../../model/panel.ts';
import type { ProgramFile } from '../../model/program-files.ts';
import { ProgramFlow } from './program-flow.ts';

/** The builtin program, which is part of each. */
const BUILTIN = /^<builtin>$|^Builtin$/i;

interface Edited {
  /** The program that it began with. */
  name: string;
  main: ProgramFile;
  file: ProgramFile;
  path: string;
  /** Is it a copy, which goes when it has been loaded? */
  copy: boolean;
}

/** Asks which file where there are several. */
export async function editProgram(c: Controller, name: string): Promise<void> {
  if (c.state.readonly) return c.notify('warn', 'read-only: what is edited could not be loaded');
  const program = await new ProgramFlow(c).program(name);
  const files = program?.files.filter((file) => !BUILTIN.test(file.name)) ?? [];
  const [main] = files;
  if (main === undefined) return;
  const choices = files.map(
    (file): Choice => ({
      label: file.name,
      note: file === main ? 'the program' : 'included',
      take: () => void open(c, name, main, file),
    }),
  );
  if (files.length === 1) return open(c, name, main, main);
  c.set({ panel: { kind: 'choices', scroll: 0, title: `Edit which file of ${name}?`, choices } });
}

async function open(c: Controller, name: string, main: ProgramFile, file: ProgramFile): Promise<void> {
  const { files } = c.options;
  const here = isHere(c, file);
  if (!here && file !== main) return c.notify('warn', `${file.name} is no file of this machine`);
  try {
    const path = here ? file.name : await files.copy(`${bareName(name)}.vcl`, file.text);
    await edit(c, { name, main, file, path, copy: !here });
  } catch (error) {
    c.notify('bad', (error as Error).message);
  }
}

function isHere({ session, options }: Controller, { name }: ProgramFile): boolean {
  return session.source.local === true && name.startsWith('/') && options.files.exists(name);
}

async function edit(c: Controller, edited: Edited): Promise<void> {
  const { path, file, copy } = edited;
  c.set({ panel: null, confirm: null, notice: null });
  const ended = await c.options.onEdit(path);
  if (ended !== 0) {
    const why = typeof ended === 'string' ? ended : `the editor ended with status ${ended}`;
    return c.notify('warn', `${why}; nothing is loaded${copy ? `, the text is at ${path}` : ''}`);
  }
  const text = await c.options.files.read(path);
  if (text === file.text) {
    if (copy) await c.options.files.remove(path);
    return c.notify('info', `${path}: as it is loaded`);
  }
  if (await load(c, edited, text)) {
    if (copy) await c.options.files.remove(path);
    return;
  }
  const again = `edit it again? It is at ${path}`;
  c.set({
    confirm: {
      line: `load ${path} as it was edited`,
      text: again,
      undoes: 0,
      part: '',
      act: () => void edit(c, edited),
    },
  });
}

/** Whether it could be loaded. */
async function load(c: Controller, { name, main, file, path, copy }: Edited, text: string): Promise<boolean> {
  const flow = new ProgramFlow(c);
  const whole = file === main ? { path, text } : { path: main.name, text: main.text };
  const inPlace = !copy && isHere(c, main);
  // A copy stands elsewhere, from where it would include other files: its check is that of the daemon.
  if (inPlace && (await flow.showErrors(whole.path))) return false;
  const part = placeOfName(name).replace(/:$/, '');
  const stem = bareName(name).replace(/_\d+$/, '');
  return flow.loadText({ ...whole, file: inPlace, stem, part });
}
