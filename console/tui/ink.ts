// What the console takes of Ink, in one place: the build puts Ink and all it needs into the compiled file of this
// module (test/harness/pack-ink.js), because Node spends more time on finding Ink's six hundred modules than on all
// the rest of a start. React stays outside: there must be only one.

export { Box, render, Text } from 'ink';
