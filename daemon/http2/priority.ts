export interface Priority {
  readonly urgency: number;
  readonly incremental: boolean;
}
export function parsePriority(_text: string): Priority {
  return { urgency: 3, incremental: false };
}
