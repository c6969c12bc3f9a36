// Every list view: what list-rows.ts makes of its definition, placed.

import { type ReactNode, useContext } from 'react';
import type { Controller } from '../../model/controller.ts';
import { listDefinition } from '../../model/lists/list-definitions.ts';
import type { UiState } from '../../model/ui-state.ts';
import type { ListViewName } from '../../model/views.ts';
import { Rows } from '../components/rows.tsx';
import { ThemeContext } from '../hooks/contexts.ts';
import { Box } from '../ink.ts';
import { listPicture } from './list-rows.ts';

export interface ListScreenProps {
  controller: Controller;
  ui: UiState;
  view: ListViewName;
  width: number;
  height: number;
}

export function ListScreen({ controller, ui, view, width, height }: ListScreenProps): ReactNode {
  const theme = useContext(ThemeContext);
  const { rows, fills, detail } = listPicture(
    controller.session,
    listDefinition(view),
    ui.lists[view],
    ui.options[view] ?? '',
    controller.size,
    controller.banner,
    theme,
  );
  const below = detail.length;
  return (
    <Box flexDirection="column" width={width} height={height}>
      <Rows rows={rows} width={width} height={height - below} fills={fills} />
      {below === 0 ? null : <Rows rows={detail} width={width} height={below} />}
    </Box>
  );
}
