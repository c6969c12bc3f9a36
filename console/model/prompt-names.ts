// The names of the prompts; what they do is in prompts.ts.

export type PromptName = 'parameter' | 'ban' | 'soft-ban' | 'tag' | 'load' | 'lint' | 'export';
