// edge-connector.conf.example: every setting with its help, commented out, generated from the table.

import { CONFIG_PATH, SETTINGS, type SettingRow } from './config-rows.ts';

const HEADINGS: Readonly<Record<SettingRow['section'], string>> = {
  edge: 'The edge network, and the headers that it gets',
  purge: 'Calls of its purge API; without these fields purges stay here',
  rules: 'Bans as rules',
  queue: 'The queue of purges',
  throttle: 'How many calls the network allows',
};

export function exampleConfig(): string {
  const head = `# Settings of the edge connector (${CONFIG_PATH}), read when a program that imports edge is loaded.\n# It holds secrets: chmod 0600.\n`;
  const sections = Object.entries(HEADINGS).map(([section, heading]) => {
    const rows = (SETTINGS as readonly SettingRow[]).filter((row) => row.section === section);
    return `\n## ${heading}\n${rows.map(setting).join('')}`;
  });
  return head + sections.join('');
}

function setting(row: SettingRow): string {
  const choices = row.choices === undefined ? '' : ` One of ${row.choices.join(', ')}.`;
  return `\n# ${row.help}${choices}\n#${row.name} = ${row.default}\n`;
}
