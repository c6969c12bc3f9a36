// Editing a program's source in the operator's editor. A file that matches the compiled source is edited in place;
// other texts, such as inline programs or those of a remote daemon, as a copy. The result is checked, loaded under a
// new name, and compared with the active program before use. A text that does not compile can be edited again, at its
// first error.

import { bareName, placeOfName } from '../../model/session/admin-line.ts';
import type { ProgramFile } from '../../model/session/program-files.ts';
import type { Choice } from '../../model/ui/panel.ts';
import type { ViewContext } from '../../model/ui/view.ts';
import { ProgramFlow } from './program-flow.ts';

/** The builtin program, which is appended to each program. */
const BUILTIN = /^<builtin>$|^Builtin$/i;

interface Edited {
  /** The program edited. */
  name: string;
  main: ProgramFile;
  file: ProgramFile;
  path: string;
  /** Is it a temporary copy, to be removed after loading? */
  copy: boolean;
}

/** Asks for the file if there are several. */
export async function editProgram(c: ViewContext, name: string): Promise<void> {
  if (c.ui.state.readonly) return c.ui.notify('warn', 'read-only: an edited program could not be loaded');
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
  c.ui.set({ panel: { kind: 'choices', scroll: 0, title: `Edit which file of ${name}?`, choices } });
}

async function open(c: ViewContext, name: string, main: ProgramFile, file: ProgramFile): Promise<void> {
  const { files } = c;
  const here = isHere(c, file);
  if (!here && file !== main) return c.ui.notify('warn', `${file.name} is not a file on this machine`);
  try {
    const path = here ? file.name : await files.copy(`${bareName(name)}.vcl`, file.text);
    await edit(c, { name, main, file, path, copy: !here });
  } catch (error) {
    c.ui.notify('bad', (error as Error).message);
  }
}

function isHere({ session, files }: ViewContext, { name }: ProgramFile): boolean {
  return session.source.local === true && name.startsWith('/') && files.exists(name);
}

async function edit(c: ViewContext, edited: Edited): Promise<void> {
  const { path, file, copy } = edited;
  c.ui.set({ panel: null, confirm: null, notice: null });
  const ended = await c.host.edit(path);
  if (ended !== 0) {
    const why = typeof ended === 'string' ? ended : `the editor ended with status ${ended}`;
    return c.ui.notify('warn', `${why}; nothing is loaded${copy ? `, the text is at ${path}` : ''}`);
  }
  const text = await c.files.read(path);
  if (text === file.text) {
    if (copy) await c.files.remove(path);
    return c.ui.notify('info', `${path}: unchanged`);
  }
  if (await load(c, edited, text)) {
    if (copy) await c.files.remove(path);
    return;
  }
  const again = `edit again? The file is ${path}`;
  c.ui.set({
    confirm: {
      line: `load the edited ${path}`,
      text: again,
      undoes: 0,
      part: '',
      act: () => void edit(c, edited),
    },
  });
}

/** Returns whether it was loaded. */
async function load(
  c: ViewContext,
  { name, main, file, path, copy }: Edited,
  text: string,
): Promise<boolean> {
  const flow = new ProgramFlow(c);
  const whole = file === main ? { path, text } : { path: main.name, text: main.text };
  const inPlace = !copy && isHere(c, main);
  // A copy would resolve includes from its own folder, so only the daemon can check it.
  if (inPlace && (await flow.showErrors(whole.path))) return false;
  const part = placeOfName(name).replace(/:$/, '');
  const stem = bareName(name).replace(/_\d+$/, '');
  return flow.loadText({ ...whole, file: inPlace, stem, part });
}
