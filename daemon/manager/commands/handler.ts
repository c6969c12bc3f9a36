// The type of a command handler of the manager. A handler operates on the manager's parts, and replies.

import type { CommandReply } from '../../../protocol/messages.ts';
import type { ManagerCommand } from '../../../protocol/tables/commands.ts';
import type { CommandCall } from '../../link.ts';
import type { ManagerCore } from '../manager-core.ts';

export type ManagerHandler = (core: ManagerCore, call: CommandCall) => CommandReply | Promise<CommandReply>;

export type ManagerHandlers = Readonly<Record<ManagerCommand, ManagerHandler>>;
