// What the log says of a call from the manager: the command as the field's child process would have read it. The
// manager's signs of life and its own questions are left out.

import type { WorkerCall } from '../link.ts';

/** Text of the CLI record, null for none. */
export function cliText(call: WorkerCall): string | null {
  switch (call.op) {
    case 'cli':
      return call.argv.join(' ');
    case 'vcl.load': {
      const { name, state, warm } = call.load;
      return `vcl.load ${name} ${scriptName(name)} ${warm === false ? 0 : 1}${state}`;
    }
    case 'vcl.use':
    case 'vcl.discard':
      return `${call.op} ${call.name}`;
    case 'vcl.state':
      return `vcl.state ${call.name} ${call.warm ? 1 : 0}${call.state}`;
    case 'vcl.label':
      return `vcl.label ${call.name} ${call.target}`;
    case 'param.set':
      return `param.set ${call.name} ${call.value}`;
    case 'vcl.list':
    case 'vcl.refs':
    case 'stop':
      return null;
  }
}

/** The answer to a program that could be loaded. */
export function loadedText(name: string): string {
  return `Loaded "${scriptName(name)}" as "${name}"`;
}

function scriptName(name: string): string {
  return `vcl_${name}.js`;
}
