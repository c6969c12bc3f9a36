// Checks `import`: built-in extensions by name, others by descriptions from the manager. The compiler runs no foreign
// code and never waits: an import without a description is recorded as a request, and the program is compiled again
// after all requests have been answered.

import type { DescribedModule, Extension, ImportRequest } from '../../contract/extension.ts';
import type { Declaration } from '../ast.ts';
import { nearest, type Reporter, type Span } from '../diagnostics.ts';
import { MESSAGES } from '../error-texts.ts';
import { isReserved } from './language-functions.ts';
import type { ProgramModel } from './program-model.ts';

type Import = Extract<Declaration, { k: 'import' }>;

/** File name under which programs for Varnish import a built-in extension. */
function isFieldsFile(name: string, from: string): boolean {
  return from.slice(from.lastIndexOf('/') + 1) === `libvmod_${name}.so`;
}

/** Declares the extension of an import. Throws CompileStop after reporting. */
export function importExtension(model: ProgramModel, d: Import): void {
  try {
    declareImport(model, d);
  } catch (error) {
    const name = (d.as ?? d.module).text;
    if (!model.symbols.has(name)) model.brokenNames.add(name);
    throw error;
  }
}

function declareImport(model: ProgramModel, d: Import): void {
  const reporter: Reporter = model.reporter;
  const name = (d.as ?? d.module).text;
  const span = (d.as ?? d.module).span;
  if (d.from?.includes('/') === true && !model.unsafePath) {
    reporter.fail(
      MESSAGES.unsafeImport(),
      d.span,
      'The parameter vcc_unsafe_path allows a "/" in the name; without one the file is searched in vmod_path.',
    );
  }
  const before = model.symbols.get(name);
  if (before !== undefined && before.kind !== 'vmod') {
    reporter.fail(MESSAGES.moduleConflict(d.module.text), span, undefined, [
      { message: 'First definition:', span: before.span },
    ]);
  }
  const other = model.declared.get(name);
  if (other !== undefined) {
    reporter.fail(MESSAGES.otherKind(name, other, 'vmod'), span);
  }
  if (isReserved(name)) reporter.fail(MESSAGES.taken(name), span);
  const extension = find(model, d);
  if (before?.kind === 'vmod') {
    if (before.extension.name === extension.name) return;
    reporter.fail(MESSAGES.otherModule(name), d.span, undefined, [
      { message: 'First import:', span: before.span },
    ]);
  }
  if (!model.imports.includes(extension.name)) model.imports.push(extension.name);
  model.symbols.set(name, { kind: 'vmod', name, span, used: false, extension });
}

function find(model: ProgramModel, d: Import): Extension {
  const { reporter } = model;
  const name = d.module.text;
  const builtIn = model.extensions(name);
  const outside = model.modules.find((m) => m.module.name === name);
  if (builtIn !== undefined && outside === undefined && (d.from === null || isFieldsFile(name, d.from))) {
    return builtIn;
  }
  if (d.from === null && outside !== undefined) return outside.extension;
  const found = lookUp(model, { name, from: d.from });
  if (found === undefined) return notFound(model, d.module.span, name);
  if (found.problem !== undefined) {
    if (found.at === 'name') return notFound(model, d.module.span, name);
    return reporter.fail(MESSAGES.importProblem(found.problem), d.span);
  }
  if (outside !== undefined) {
    if (outside.module.digest === found.module.digest) return outside.extension;
    return reporter.fail(MESSAGES.otherModuleFile(name), d.span);
  }
  if (builtIn !== undefined && model.imports.includes(name)) {
    return reporter.fail(MESSAGES.builtInModule(name), d.span);
  }
  model.modules.push(found);
  return found.extension;
}

function lookUp(model: ProgramModel, request: ImportRequest): DescribedModule | undefined {
  if (model.outside === null) return undefined;
  const found = model.outside(request);
  if (found === undefined) model.importRequests.push(request);
  return found;
}

function notFound(model: ProgramModel, span: Span, name: string): never {
  const near = nearest(name, model.extensionNames);
  return model.reporter.fail(
    MESSAGES.noExtension(name),
    span,
    near === null
      ? 'Files are searched in the directories of the parameter vmod_path.'
      : `Did you mean '${near}'?`,
  );
}
