// @ts-check
// An extension to begin with: copy this folder, rename the files to what programs import, and replace the calls. What
// each member means is in daemon/extensions/README.md of proxyd.

/** How long `slowly` takes, in milliseconds. */
const PAUSE = 10;

/** @type {import('proxyd/extension').Extension} */
export const extension = {
  abi: 1,
  help: 'greetings for headers',

  functions: {
    greet: {
      signature: 'STRING greet(STRING name="world", ENUM {plain, loud} how=plain)',
      help: 'A greeting, in capitals where `how` is loud. Unset where `name` is.',
      call: (_ctx, name, how) => {
        if (name === null) return null;
        return how === 'loud' ? `HELLO ${name.toUpperCase()}` : `hello ${name}`;
      },
    },

    slowly: {
      signature: 'STRING slowly(STRING name)',
      help: 'A greeting that takes its time, while other requests are served. Fails without a name.',
      waits: true,
      timeout: 1,
      call: async (ctx, name) => {
        if (name === null) ctx.fail('nobody to greet');
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
        ctx.log(`greeted ${name}`);
        return `hello ${name}`;
      },
    },
  },

  objects: {
    counter: {
      signature: 'counter(INT first=1)',
      help: 'Counts, for as long as the program is loaded.',
      create: (_ctx, _name, first) => ({ next: first }),
      methods: {
        next: {
          signature: 'INT next()',
          help: 'The next number.',
          call: (_ctx, self) => self.next++,
        },
      },
    },
  },
};
